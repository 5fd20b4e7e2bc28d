import {spawnSync} from 'node:child_process';
import {constants} from 'node:os';
import test from 'ava';
import {signalForm} from '../../evidence/manifest-schema.ts';
import {readWaitStatus, signalName} from '../../evidence/wait-status.ts';

test('signalName() agrees with the kernel headers that Node was built with for the signals 1 to 31', t => {
	const aliases = new Set(['SIGIOT', 'SIGPOLL', 'SIGUNUSED']);
	for (const [name, number] of Object.entries(constants.signals).filter(([found]) => !aliases.has(found))) {
		t.is(signalName(number), name);
	}
});

const names: ReadonlyArray<readonly [number, string | null]> = [
	[6, 'SIGABRT'],
	[17, 'SIGCHLD'],
	[29, 'SIGIO'],
	[32, 'SIG32'],
	[33, 'SIG33'],
	[34, 'SIGRTMIN'],
	[35, 'SIGRTMIN+1'],
	[64, 'SIGRTMIN+30'],
	[0, null],
	[65, null],
	[-1, null],
	[1.5, null],
];

for (const [number, name] of names) {
	test(`signalName() gives ${name} for ${number}`, t => {
		t.is(signalName(number), name);
	});
}

test('every signal from 1 to 64 has a name of its own that the manifest allows', t => {
	const all = Array.from({length: 64}, (_, index) => signalName(index + 1));
	t.is(new Set(all).size, 64);
	t.true(all.every(name => signalForm.safeParse(name).success));
});

const statuses: ReadonlyArray<{readonly title: string; readonly status: number | null; readonly exitCode: number | null; readonly signal: string | null}> = [
	{title: 'an exit with 0', status: 0, exitCode: 0, signal: null},
	{title: 'an exit with 255', status: 0xff00, exitCode: 255, signal: null},
	{title: 'an exit with 137, which is no death by KILL', status: 137 << 8, exitCode: 137, signal: null},
	{title: 'a death by KILL', status: 9, exitCode: null, signal: 'SIGKILL'},
	{title: 'a death by SEGV with a core dump', status: 11 | 0x80, exitCode: null, signal: 'SIGSEGV'},
	{title: 'a death by a real-time signal', status: 35, exitCode: null, signal: 'SIGRTMIN+1'},
	{title: 'a child that was not reaped', status: null, exitCode: null, signal: null},
	{title: 'a child that is only stopped', status: 0x137f, exitCode: null, signal: null},
	{title: 'a child that goes on', status: 0xffff, exitCode: null, signal: null},
];

for (const {title, status, exitCode, signal} of statuses) {
	test(`readWaitStatus() reads ${title}`, t => {
		t.deepEqual(readWaitStatus(status), {exit_code: exitCode, signal});
	});
}

test('readWaitStatus() agrees with what python sees of real children', t => {
	const script = 'import os,sys\nfor a in sys.argv[1:]:\n p=os.fork()\n if p==0: os.execv("/bin/sh",["sh","-c",a])\n print(os.waitpid(p,0)[1])';
	const answer = spawnSync('python3', ['-c', script, 'exit 7', 'kill -TERM $$', 'kill -40 $$'], {encoding: 'utf8'});
	t.deepEqual(
		answer.stdout
			.trim()
			.split('\n')
			.map(line => readWaitStatus(Number(line))),
		[
			{exit_code: 7, signal: null},
			{exit_code: null, signal: 'SIGTERM'},
			{exit_code: null, signal: 'SIGRTMIN+6'},
		],
	);
});
