import test from 'ava';
import {namespaceNames, type Observation, parseNamespaces, parseObservation} from '../../../runner/sandbox/observation.ts';
import {judgeObservation} from '../../../runner/sandbox/observe.ts';

const namespaces = (id: number): string => namespaceNames.map(name => `${name}:[${id}]`).join('\n');
const status = 'Pid:\t1\nNoNewPrivs:\t1\nSeccomp:\t2\nCapInh:\t0\nCapPrm:\t0\nCapEff:\t0\nCapBnd:\t0\nCapAmb:\t0\n';
const probes = 'vsock 97\nio_uring 38\nkeyctl 1\nremount 1\nsysctl 30\n';

function observe(mounts: ReadonlyArray<readonly [path: string, flags: 'ro' | 'rw']>): Observation {
	const lines = mounts.map(([path, flags], index) => `${index + 2} 1 0:1 / ${path} ${flags},relatime - ext4 /dev/x rw\n`).join('');
	return parseObservation([status, lines, namespaces(1), '', '', probes].map(part => Buffer.from(part)));
}

const cases: ReadonlyArray<readonly [title: string, mounts: Parameters<typeof observe>[0], faults: RegExp | null]> = [
	['the writable place itself', [['/w', 'rw']], null],
	[
		'a mount in a writable place',
		[
			['/w', 'rw'],
			['/w/node_modules', 'rw'],
		],
		null,
	],
	[
		'a mount in the read-only .git',
		[
			['/w', 'rw'],
			['/w/.git/objects', 'rw'],
			['/w/.git', 'ro'],
			['/w/.git/refs', 'rw'],
		],
		/\(\/w\/\.git\/refs is writable\)/,
	],
	[
		'a mount beside the writable place',
		[
			['/w', 'rw'],
			['/w2', 'rw'],
		],
		/\(\/w2 is writable\)/,
	],
	[
		'a mount that a later one covers',
		[
			['/closed/mount', 'rw'],
			['/closed', 'ro'],
		],
		null,
	],
	[
		'a mount that a later one covers at its own path',
		[
			['/mount', 'rw'],
			['/mount', 'ro'],
		],
		null,
	],
	[
		'a mount on top of an earlier one',
		[
			['/closed', 'ro'],
			['/closed/mount', 'rw'],
		],
		/\(\/closed\/mount is writable\)/,
	],
];

for (const [title, mounts, faults] of cases) {
	test(`judgeObservation() ${faults === null ? 'lets pass' : 'finds writable'} ${title}`, t => {
		const how = {memory_bytes: 'none', cpu_seconds: 'none', processes: 'none', open_files: 'none', file_size_bytes: 'none', tmp_bytes: 'none'} as const;
		const {problems, record} = judgeObservation(
			observe([['/', 'ro'], ...mounts, ...(mounts.some(([path]) => path === '/w/.git') ? [] : [['/w/.git', 'ro'] as const])]),
			{
				network: 'loopback',
				nested: false,
				userId: 1000,
				writable: ['/w'],
				places: ['/w'],
				gitGuard: '/w/.git',
				require: ['fs_write'],
				asked: {},
				how,
				tmpBytes: 4096,
				filterSha256: '',
				host: {ownNamespaces: parseNamespaces(namespaces(2)), namespaces: parseNamespaces(namespaces(1)), isInGroups: false, swapped: []},
			},
		);
		t.is(record?.layers.fs_write, faults === null ? 'kernel' : 'partial');
		t.is(problems.length, faults === null ? 0 : 1);
		t.regex(problems[0] ?? '', faults ?? /^$/);
	});
}
