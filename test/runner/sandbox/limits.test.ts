import test from 'ava';
import type {Limits} from '../../../evidence/index.ts';
import {type LimitContext, planLimits} from '../../../runner/sandbox/limits.ts';

const none = {memory: null, processes: null};
const first = {memory: 'cgroup1', processes: 'cgroup1'} as const;
const user: LimitContext = {mode: 'required', userId: 1000, cgroup: none};
const root: LimitContext = {mode: 'required', userId: 0, cgroup: none};

const rows: ReadonlyArray<readonly [title: string, asked: Limits, context: LimitContext, memory: string, processes: string]> = [
	['as root without a cgroup the defaults of memory and processes bind nowhere', {}, root, 'none', 'none'],
	['as root with cgroups they bind there', {}, {...root, cgroup: first}, 'cgroup1', 'cgroup1'],
	['as an ordinary user processes bind by rlimit', {}, user, 'none', 'rlimit'],
	['memory that is asked for binds by rlimit', {memory_bytes: 1e9}, user, 'rlimit', 'rlimit'],
	['without the sandbox only what is asked for binds', {}, {...user, mode: 'off', cgroup: first}, 'none', 'none'],
	[
		'without the sandbox a cgroup serves as well',
		{memory_bytes: 1e9, processes: 5},
		{...root, mode: 'off', cgroup: {memory: 'cgroup2', processes: 'cgroup2'}},
		'cgroup2',
		'cgroup2',
	],
];

for (const [title, asked, context, memory, processes] of rows) {
	test(title, t => {
		const {how} = planLimits(asked, context);
		t.deepEqual({memory: how.memory_bytes, processes: how.processes}, {memory, processes});
	});
}

for (const [title, asked, context, pattern] of [
	['processes as root without a cgroup', {processes: 20}, root, /processes 20.*ordinary user/],
	['tmp_bytes without the sandbox', {tmp_bytes: 4096}, {...user, mode: 'off'}, /tmp_bytes 4096.*required/],
] as const) {
	test(`a limit that cannot be held is refused with its mend: ${title}`, t => {
		t.throws(() => planLimits(asked, context), {code: 'RUN_SANDBOX_LIMIT', message: pattern});
	});
}

test('values reach the mechanism that holds them and no other', t => {
	const plan = planLimits(
		{memory_bytes: 4096, cpu_seconds: 3, file_size_bytes: 7, open_files: 9, tmp_bytes: 11},
		{...user, cgroup: {memory: 'cgroup1', processes: null}},
	);
	t.deepEqual(plan.resource, {openFiles: 9, memoryBytes: null, cpuSeconds: 3, processes: 512, fileSizeBytes: 7});
	t.deepEqual(plan.cgroup, {memoryBytes: 4096, processes: null});
	t.is(plan.tmpBytes, 11);
});
