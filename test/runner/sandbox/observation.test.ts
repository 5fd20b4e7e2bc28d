import test from 'ava';
import {parseObservation} from '../../../runner/sandbox/observation.ts';

const parts = (mountinfo: string): Buffer[] =>
	[
		'Name:\tbailiff\nPid:\t1\nNoNewPrivs:\t1\nSeccomp:\t2\nCapEff:\t0000000000000000\n',
		mountinfo,
		'cgroup:[1]\nipc:[2]\nmnt:[3]\nnet:[4]\npid:[5]\nuser:[6]\nuts:[7]\n',
		'0::/\n',
		'PWD=/\0LANG=C\0',
		'vsock 97\nlandlock 7\n',
	].map(text => Buffer.from(text));

test('parseObservation() reads status, namespaces, names of the environment and answers', t => {
	const observation = parseObservation(parts('1 2 0:3 / / rw - tmpfs tmpfs rw\n'));
	t.is(observation.status.get('Seccomp'), '2');
	t.is(observation.namespaces.net, 'net:[4]');
	t.deepEqual(observation.environmentNames, ['PWD', 'LANG']);
	t.is(observation.probes.get('vsock'), 97);
});

const rows: ReadonlyArray<readonly [title: string, line: string, path: string, isWritable: boolean, filesystem: string]> = [
	['a plain mount', '36 35 98:0 /mnt1 /mnt2 rw,noatime - ext3 /dev/root rw,errors=continue', '/mnt2', true, 'ext3'],
	['optional fields', '36 35 98:0 / /a ro,nosuid master:1 shared:7 - ext4 /dev/vda rw', '/a', false, 'ext4'],
	['a blank, a line feed and a backslash in the path', String.raw`36 35 98:0 / /a\040b\012c\134d ro - ext4 /dev/vda rw`, '/a b\nc\\d', false, 'ext4'],
	['a path beyond ASCII', '36 35 98:0 / /ünïcode rw - ext4 /dev/vda rw', '/ünïcode', true, 'ext4'],
	['a superblock that is writable below a mount that is not', '36 35 98:0 / /b ro,relatime - ext4 /dev/vda rw', '/b', false, 'ext4'],
];

for (const [title, line, path, isWritable, filesystem] of rows) {
	test(`parseObservation() reads ${title}`, t => {
		t.like(parseObservation(parts(`${line}\n`)).mounts[0], {path, isWritable, filesystem});
	});
}

test('parseObservation() refuses what has too few parts', t => {
	t.throws(() => parseObservation([]), {code: 'RUN_SUPERVISOR_FAILED'});
});
