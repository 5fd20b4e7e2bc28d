import test from 'ava';
import {probeNode, probePlatform, probeProcMount, probePs, probeRunner, probeSshKeygen} from '../../runner/runner-probes.ts';

for (const [version, state] of [
	['20.19.0', 'ok'],
	['20.20.2', 'ok'],
	['24.0.0', 'ok'],
	['20.18.9', 'fail'],
	['18.20.0', 'fail'],
] as const) {
	test(`doctor says ${state} to Node ${version}`, t => {
		t.is(probeNode(version).state, state);
	});
}

const proc = (options: string, optional = 'shared:12 ') =>
	`22 1 8:1 / / rw - ext4 /dev/sda rw\n25 22 0:23 / /proc rw,nosuid,nodev ${optional}- proc proc ${options}\n`;
for (const [title, mountInfo, state] of [
	['an open /proc', proc('rw'), 'ok'],
	['an open /proc without optional fields', proc('rw', ''), 'ok'],
	['hidepid=0', proc('rw,hidepid=0'), 'ok'],
	['hidepid=2', proc('rw,hidepid=2'), 'fail'],
	['hidepid=invisible', proc('rw,gid=4,hidepid=invisible'), 'fail'],
	['a second /proc that hides over an open one', proc('rw') + proc('rw,hidepid=2'), 'fail'],
	['no /proc', '22 1 8:1 / / rw - ext4 /dev/sda rw\n', 'fail'],
] as const) {
	test(`doctor says ${state} to ${title}`, t => {
		t.is(probeProcMount(mountInfo).state, state);
	});
}

test('a missing ps is a warning with its mend, another system a failure', t => {
	t.is(probePs(null).state, 'warn');
	t.regex(probePs(null).mend ?? '', /procps/);
	t.is(probePs('/usr/bin/ps').state, 'ok');
	t.is(probeSshKeygen(null).state, 'warn');
	t.regex(probeSshKeygen(null).mend ?? '', /openssh-client/);
	t.is(probeSshKeygen('/usr/bin/ssh-keygen').state, 'ok');
	t.is(probePlatform('darwin', 'arm64').state, 'fail');
	t.is(probePlatform('linux', 'arm64').state, 'ok');
});

test('each thing that a run needs is tried here, and each that is wanting has a mend', async t => {
	const probes = await probeRunner();
	const ids = probes.map(({id}) => id);
	t.is(new Set(ids).size, ids.length);
	for (const id of ['node', 'platform', 'native-addon', 'supervisor', 'proc-mount', 'ps']) {
		t.true(ids.includes(id), id);
	}

	for (const {id, state, mend} of probes) {
		t.is(mend === null, state === 'ok', id);
	}
});
