import {execFileSync, spawnSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import type {ExecutionContext} from 'ava';
import type {Probe} from '../../../runner/probe.ts';
import {assembleFilter} from '../../../runner/sandbox/bpf.ts';
import {mendFor} from '../../../runner/sandbox/mends.ts';
import {auditArchitectures, filterArchitectures, highestSyscall, type SyscallName, syscallNumber} from '../../../runner/sandbox/syscalls.ts';
import {sandboxTest as test} from '../../helpers/sandbox-ability.ts';
import {temporaryDirectory} from '../../helpers/temporary-directory.ts';
import {userIds} from './world.ts';

const probesModule = fileURLToPath(new URL('../../../runner/sandbox/probes.js', import.meta.url));
const script = `import(${JSON.stringify(probesModule)}).then(async m => console.log(JSON.stringify(await m.probeSandbox())))`;

/** Asks in a process of its own, behind `front` (a program that lays something on it first). */
function ask(front: readonly string[], userId = process.getuid?.() ?? 0): Probe[] {
	const [file, ...args] = [...front, process.execPath, '-e', script];
	const ended = spawnSync(file, args, {encoding: 'utf8', uid: userId, gid: userId, cwd: '/'});
	if (ended.status !== 0) {
		throw new Error(ended.stderr);
	}

	return JSON.parse(ended.stdout);
}

for (const userId of userIds) {
	test(`on this machine, user ${userId} can have the default profile, layer by layer`, t => {
		const probes = ask([], userId);
		t.deepEqual(
			probes.filter(({state}) => state === 'fail'),
			[],
		);
		t.deepEqual(
			probes.map(({id}) => id),
			[
				'bubblewrap',
				'sandbox',
				'namespaces',
				'sandbox-fs-write',
				'sandbox-fs-read',
				'sandbox-network',
				'sandbox-pid',
				'sandbox-env',
				'sandbox-syscalls',
				'sandbox-memory',
				'sandbox-processes',
				'sandbox-guards',
				'landlock',
			],
		);
		t.true(probes.filter(({state}) => state === 'warn').every(({mend}) => mend !== null));
	});
}

/** A program that runs another one without the calls of `names`, as the filter of a container does. */
function containerLike(t: ExecutionContext, names: readonly SyscallName[]): readonly string[] {
	const directory = temporaryDirectory(t);
	execFileSync('chmod', ['755', directory]);
	const architecture = filterArchitectures.find(name => name === process.arch) ?? 'x64';
	const rules = names.map(name => ({number: syscallNumber(name, architecture) ?? -1, decision: 1}));
	const namespaces = {argument: 0, mask: 0x7e02_0000, cases: [[0, 'allow']], otherwise: 1} as const;
	const bytes = assembleFilter({
		auditArch: auditArchitectures[architecture],
		highestNumber: highestSyscall,
		rules: [
			...rules,
			{number: syscallNumber('clone', architecture) ?? -1, decision: namespaces},
			{number: syscallNumber('clone3', architecture) ?? -1, decision: 38},
		],
	});
	writeFileSync(path.join(directory, 'container.bpf'), bytes);
	execFileSync('cc', ['-O1', '-o', path.join(directory, 'front'), fileURLToPath(new URL('../../../../test/fixtures/bin/syscall-probe.c', import.meta.url))]);
	return [path.join(directory, 'front'), path.join(directory, 'container.bpf'), '--'];
}

test('where a container forbids namespaces, doctor fails and names the mend', t => {
	const probes = ask(containerLike(t, ['unshare', 'mount', 'umount2', 'pivot_root', 'setns']));
	const sandbox = probes.find(({id}) => id === 'sandbox');
	t.is(sandbox?.state, 'fail');
	t.regex(sandbox?.seen ?? '', /namespace/);
	t.regex(sandbox?.mend ?? '', /seccomp/);
});

const sayings: ReadonlyArray<readonly [said: string, mend: RegExp]> = [
	['bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.', /seccomp=unconfined/],
	['bwrap: Creating new namespace failed: Operation not permitted', /seccomp=unconfined/],
	['bwrap: setting up uid map: Permission denied', /AppArmor/],
	['bwrap: setting up uid map: Operation not permitted', /CAP_SETFCAP/],
	["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", /systempaths=unconfined/],
	['bwrap: Failed to make / slave: Permission denied', /apparmor/],
	['bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted', /"network": "host"/],
	['bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)', /max_user_namespaces/],
	['bwrap: The --size option is not permitted in setuid mode', /chmod u-s/],
	['the sandbox could not be built: bubblewrap ended with status 0', /reinstall/],
	['the control groups cannot be entered', /delegate/],
];

for (const [said, mend] of sayings) {
	test(`the mend for ${JSON.stringify(said.slice(0, 60))} is one that works`, t => {
		t.regex(mendFor(said), mend);
	});
}
