import {chmodSync, closeSync, copyFileSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import anyTest, {type ExecutionContext} from 'ava';
import {loadNative} from '../../native/index.ts';
import type {CommandOutcome, CommandRequest, Supervisor} from '../../runner/outcome.ts';
import {startSupervisor} from '../../runner/supervisor.ts';
import {eventually} from '../helpers/eventually.ts';
import {buildFixture} from '../helpers/fixture.ts';
import {makeRequest, markedProcesses, summary, which} from '../helpers/supervised.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

// One at a time: some look at what is the whole process's (subreaper, children), some at deadlines.
const test = anyTest.serial;
const second = 1_000_000_000n;
const fixtures = mkdtempSync(path.join(tmpdir(), 'bailiff-supervisor-'));
const programs = {zombieLeader: '', crowd: ''};

test.before(() => {
	programs.zombieLeader = buildFixture(fixtures, 'zombie-leader');
	programs.crowd = buildFixture(fixtures, 'crowd');
});
test.after.always(() => {
	rmSync(fixtures, {recursive: true, force: true});
});

/** Runs one command through a supervisor of its own and checks that nothing of it lives on. */
async function runOne(t: ExecutionContext, argv: readonly string[], more: Partial<CommandRequest> = {}): Promise<CommandOutcome> {
	return withSupervisor(async supervisor => {
		const {request, mark} = makeRequest(more.checkout ?? temporaryDirectory(t), argv, more);
		const outcome = await supervisor.run(request);
		t.deepEqual(markedProcesses(mark), [], 'a process of the command is alive');
		return outcome;
	});
}

async function withSupervisor<Result>(action: (supervisor: Supervisor) => Promise<Result>): Promise<Result> {
	const supervisor = await startSupervisor();
	try {
		return await action(supervisor);
	} finally {
		await supervisor.close();
	}
}

/** The supervisor that serves a marked process: the parent of the command's leader. */
function supervisorOf(mark: string): number | null {
	const [leader] = markedProcesses(mark);
	const stat = leader === undefined ? '' : readFileSync(`/proc/${leader}/stat`, 'latin1');
	return stat === '' ? null : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

test('split streams are kept apart, each with its own trace', async t => {
	const outcome = await runOne(t, ['sh', '-c', 'echo one; echo two >&2; echo three'], {streams: 'split'});
	t.is(outcome.kind, 'ended');
	if (outcome.kind === 'ended') {
		t.is(outcome.output.bytes.toString(), 'one\nthree\n');
		t.is(outcome.errorOutput?.bytes.toString(), 'two\n');
		t.is(
			outcome.trace.filter(line => line.kind === 'err').reduce((sum, line) => sum + (line.length ?? 0), 0),
			4,
		);
	}
});

test('with split streams the bound holds for both together', async t => {
	const outcome = await runOne(t, ['sh', '-c', 'printf aaaaaa; sleep 0.05; printf bbbbbb >&2; sleep 5'], {streams: 'split', maxOutputBytes: 10});
	t.is(outcome.kind, 'ended');
	if (outcome.kind === 'ended') {
		t.is(outcome.status, 'output_limit');
		t.is(outcome.output.bytes.toString(), 'aaaaaa');
		t.is(outcome.errorOutput?.bytes.toString(), 'bbbb');
		t.is(outcome.errorOutput?.seenBytes, 6);
		t.false(outcome.errorOutput?.isComplete);
	}
});

test('many small writes give at most 4,096 chunk lines that cover every byte', async t => {
	const outcome = await runOne(t, ['python3', '-c', 'import os\nfor i in range(20000): os.write(1, b"x"); os.write(2, b"y")'], {streams: 'split'});
	t.is(outcome.kind, 'ended');
	if (outcome.kind === 'ended') {
		const chunks = outcome.trace.filter(line => line.kind !== 'sample');
		t.true(chunks.length <= 4096);
		t.true(outcome.trace.every((line, index) => line.t_us >= (outcome.trace[index - 1]?.t_us ?? 0)));
		for (const kind of ['out', 'err']) {
			let offset = 0;
			for (const line of chunks.filter(chunk => chunk.kind === kind)) {
				t.is(line.offset, offset);
				offset += line.length ?? 0;
			}

			t.is(offset, 20_000);
		}
	}
});

type StartRow = readonly [
	title: string,
	argv: (directory: string) => readonly string[],
	failure: {stage: string; errno: string},
	more?: Partial<CommandRequest>,
];
const startRows: readonly StartRow[] = [
	['a cwd that is missing', () => ['true'], {stage: 'chdir', errno: 'ENOENT'}, {cwd: 'missing'}],
	['a cwd that is a file', () => ['true'], {stage: 'chdir', errno: 'ENOTDIR'}, {cwd: 'file'}],
	['a cwd that is a link to a directory', () => ['true'], {stage: 'chdir', errno: 'ENOTDIR'}, {cwd: 'link'}],
	['a cwd below a link', () => ['true'], {stage: 'chdir', errno: 'ENOTDIR'}, {cwd: 'link/inner'}],
	['a cwd that climbs', () => ['true'], {stage: 'chdir', errno: 'EINVAL'}, {cwd: 'directory/../directory'}],
	['an absolute cwd', () => ['true'], {stage: 'chdir', errno: 'EINVAL'}, {cwd: '/tmp'}],
	['a program that is missing', d => [`${d}/no-such`], {stage: 'exec', errno: 'ENOENT'}],
	['a program that may not be executed', d => [`${d}/file`], {stage: 'exec', errno: 'EACCES'}],
	['a directory as program', d => [`${d}/directory`], {stage: 'exec', errno: 'EACCES'}],
	['garbage with the head of an ELF', d => [`${d}/garbage`], {stage: 'exec', errno: 'ENOEXEC'}],
	['a script without a first line that names its interpreter', d => [`${d}/plain-script`], {stage: 'exec', errno: 'ENOEXEC'}],
	['a script whose interpreter is missing', d => [`${d}/lost-script`], {stage: 'interpreter', errno: 'ENOENT'}],
	['a script with a carriage return behind its interpreter', d => [`${d}/dos-script`], {stage: 'interpreter', errno: 'ENOENT'}],
	['an argument that is too long', () => ['true', 'x'.repeat(140_000)], {stage: 'exec', errno: 'E2BIG'}],
	['arguments that are too many bytes', () => ['true', ...Array.from({length: 120}, () => 'x'.repeat(100_000))], {stage: 'exec', errno: 'E2BIG'}],
	['a program with a slash, from the cwd', () => ['./no-such'], {stage: 'exec', errno: 'ENOENT'}],
];

function fillCheckout(directory: string): void {
	mkdirSync(path.join(directory, 'directory', 'inner'), {recursive: true});
	symlinkSync('directory', path.join(directory, 'link'));
	writeFileSync(path.join(directory, 'file'), 'x', {mode: 0o644});
	writeFileSync(path.join(directory, 'garbage'), Buffer.from('7f454c4601010100deadbeef', 'hex'));
	writeFileSync(path.join(directory, 'plain-script'), 'echo never\n');
	writeFileSync(path.join(directory, 'lost-script'), '#!/no/such\n');
	writeFileSync(path.join(directory, 'dos-script'), '#!/bin/sh\r\necho never\r\n');
	for (const name of ['garbage', 'plain-script', 'lost-script', 'dos-script']) {
		chmodSync(path.join(directory, name), 0o755);
	}
}

for (const [title, argv, failure, more] of startRows) {
	test(`a start fails and nothing was executed: ${title}`, async t => {
		const checkout = temporaryDirectory(t);
		fillCheckout(checkout);
		t.deepEqual(await runOne(t, argv(checkout), {...more, checkout}), {kind: 'start-failed', ...failure} as CommandOutcome);
	});
}

test('a command runs in its cwd below the checkout, and a program with a slash is found from there', async t => {
	const checkout = temporaryDirectory(t);
	fillCheckout(checkout);
	copyFileSync(which('pwd'), path.join(checkout, 'directory', 'tool'));
	const outcome = await runOne(t, ['./tool'], {checkout, cwd: 'directory'});
	t.is(summary(outcome)['output'], `${checkout}/directory\n`);
});

test('a program that is open for writing fails as ETXTBSY after a bounded retry', async t => {
	const checkout = temporaryDirectory(t);
	const program = path.join(checkout, 'busy');
	copyFileSync(which('true'), program);
	const descriptor = openSync(program, 'r+');
	t.deepEqual(await runOne(t, [program], {checkout}), {kind: 'start-failed', stage: 'exec', errno: 'ETXTBSY'});
	closeSync(descriptor);
	t.is(summary(await runOne(t, [program], {checkout}))['execution_status'], 'completed');
});

test('a program that becomes free within the retry is started', async t => {
	const checkout = temporaryDirectory(t);
	const program = path.join(checkout, 'busy');
	copyFileSync(which('true'), program);
	const descriptor = openSync(program, 'r+');
	const running = runOne(t, [program], {checkout});
	await sleep(60);
	closeSync(descriptor);
	const outcome = summary(await running);
	t.is(outcome['execution_status'], 'completed');
});

test('after a failed start the next command runs', async t => {
	await withSupervisor(async supervisor => {
		const directory = temporaryDirectory(t);
		t.is((await supervisor.run(makeRequest(directory, ['/no/such']).request)).kind, 'start-failed');
		t.is(summary(await supervisor.run(makeRequest(directory, ['true']).request))['execution_status'], 'completed');
	});
});

test('limits are set as asked, and none are raised', async t => {
	const limits = {openFiles: 77, memoryBytes: 1_073_741_824, cpuSeconds: 9, processes: null, fileSizeBytes: 4096};
	const outcome = await runOne(t, ['bash', '-c', 'ulimit -Sn; ulimit -Hn; ulimit -v; ulimit -St; ulimit -f; ulimit -c; umask'], {limits});
	t.is(summary(outcome)['output'], '77\n77\n1048576\n9\n4\n0\n0022\n');
});

test('the environment is exactly what was asked for', async t => {
	const {request} = makeRequest(temporaryDirectory(t), ['env']);
	const outcome = await withSupervisor(supervisor => supervisor.run({...request, env: {ONLY: 'this', EMPTY: ''}}));
	t.is(summary(outcome)['output'], 'ONLY=this\nEMPTY=\n');
});

test('a process whose main thread has ended while another runs is alive, and is ended', async t => {
	const outcome = summary(await runOne(t, [programs.zombieLeader], {timeoutNs: second / 2n}));
	t.like(outcome, {execution_status: 'timeout', term_sent: true, direct_child_reaped: true, group_cleanup_completed: true});
	t.true(Number(outcome['seconds']) < 1.4);
});

test('a worker whose main thread has ended does not pass for a zombie after its parent left', async t => {
	const outcome = summary(await runOne(t, ['sh', '-c', `setsid ${programs.zombieLeader} </dev/null >/dev/null 2>&1 & sleep 0.2`]));
	t.like(outcome, {execution_status: 'descendant_cleanup', exit_code: 0, group_cleanup_completed: true});
	t.true(Number(outcome['escaped']) >= 1);
});

test('a chain of sessions, each below the other, is ended to the last', async t => {
	const script = 'import os,time\nfor i in range(30):\n if os.fork(): time.sleep(60)\n os.setsid()\ntime.sleep(60)';
	const outcome = summary(await runOne(t, ['python3', '-c', script], {timeoutNs: second}));
	t.like(outcome, {execution_status: 'timeout', group_cleanup_completed: true});
	t.true(Number(outcome['escaped']) >= 29, JSON.stringify(outcome));
});

test('a flood from another session is cut although the leader only sleeps', async t => {
	const outcome = summary(await runOne(t, ['sh', '-c', 'setsid yes & sleep 60'], {maxOutputBytes: 1000}));
	t.like(outcome, {execution_status: 'output_limit', output_bytes: 1000, complete: false, group_cleanup_completed: true});
	t.true(Number(outcome['seconds']) < 1.5);
});

test('a group of 2,000 sleeping processes is gone within the budgets', async t => {
	const outcome = summary(await runOne(t, [programs.crowd, '2000'], {timeoutNs: 3n * second}));
	t.like(outcome, {execution_status: 'timeout', group_cleanup_completed: true, output: 'ready\n'});
	t.true(Number(outcome['seconds']) < 3.85, `${Number(outcome['seconds'])} s`);
});

test('a group of 2,000 processes that ignore TERM is gone within the budgets', async t => {
	const outcome = summary(await runOne(t, [programs.crowd, '2000', 'deaf'], {timeoutNs: 3n * second}));
	t.like(outcome, {execution_status: 'timeout', kill_sent: true, group_cleanup_completed: true, output: 'ready\n'});
	t.true(Number(outcome['seconds']) < 3.85, `${Number(outcome['seconds'])} s`);
});

test('resources of all reaped children are counted, and samples are taken', async t => {
	const outcome = await runOne(t, ['sh', '-c', 'python3 -c "x=bytearray(60000000); t=0\nfor i in range(3000000): t+=i"; sleep 0.1']);
	t.is(outcome.kind, 'ended');
	if (outcome.kind === 'ended') {
		t.true((outcome.resources?.user_us ?? 0) > 50_000);
		t.true((outcome.resources?.max_rss_bytes ?? 0) > 60_000_000);
		t.true((outcome.resources?.samples ?? 0) > 0);
		t.true((outcome.resources?.peak_group_rss_bytes ?? 0) > 20_000_000);
		t.is(outcome.trace.filter(line => line.kind === 'sample').length, outcome.resources?.samples ?? -1);
	}
});

test('a command that is over at once has no samples and no peak', async t => {
	const outcome = await runOne(t, ['true']);
	t.is(outcome.kind, 'ended');
	t.like(outcome.kind === 'ended' ? outcome.resources : null, {samples: 0, peak_group_rss_bytes: null});
});

test('an interrupt ends the command by the ladder', async t => {
	const {request, mark} = makeRequest(temporaryDirectory(t), ['sleep', '60']);
	const outcome = await withSupervisor(async supervisor => {
		const running = supervisor.run(request);
		await eventually('the command', () => markedProcesses(mark).length > 0);
		supervisor.interrupt('SIGINT');
		return running;
	});
	t.deepEqual(outcome, {
		kind: 'interrupted',
		signal: 'SIGINT',
		termination: {term_sent: true, kill_sent: false, direct_child_reaped: true, group_cleanup_completed: true},
	});
	t.deepEqual(markedProcesses(mark), []);
});

test('a second interrupt goes straight to KILL', async t => {
	const {request, mark} = makeRequest(temporaryDirectory(t), ['sh', '-c', 'trap "" TERM; echo deaf; while :; do sleep 0.05; done']);
	const outcome = await withSupervisor(async supervisor => {
		const running = supervisor.run(request);
		await eventually('the command', () => markedProcesses(mark).length > 1);
		supervisor.interrupt('SIGTERM');
		supervisor.interrupt('SIGINT');
		return running;
	});
	t.like(outcome, {
		kind: 'interrupted',
		signal: 'SIGTERM',
		termination: {term_sent: true, kill_sent: true, direct_child_reaped: true, group_cleanup_completed: true},
	});
	t.deepEqual(markedProcesses(mark), []);
});

test('an interrupt while the ladder runs leaves the command its status', async t => {
	const {request, mark} = makeRequest(temporaryDirectory(t), ['sh', '-c', 'trap "echo asked" TERM; while :; do sleep 0.02; done'], {timeoutNs: second / 5n});
	const outcome = await withSupervisor(async supervisor => {
		const running = supervisor.run(request);
		await sleep(300);
		supervisor.interrupt('SIGHUP');
		return running;
	});
	t.like(outcome, {kind: 'ended', status: 'timeout', interruptedBy: 'SIGHUP'});
	t.deepEqual(markedProcesses(mark), []);
});

test('a supervisor that is killed leaves nobody: bailiff ends its orphans, and the command is cleanup_failed', async t => {
	for (const delayMs of [0, 3, 10, 40]) {
		const {request, mark} = makeRequest(temporaryDirectory(t), ['sh', '-c', '(trap "" TERM; sleep 60) & setsid sleep 60 & sleep 60']);
		const supervisor = await startSupervisor();
		const running = supervisor.run(request);
		const pid = await eventually('the supervisor', () => supervisorOf(mark));
		await sleep(delayMs);
		process.kill(pid, 'SIGKILL');
		const outcome = await running;
		t.like(outcome, {
			kind: 'ended',
			status: 'cleanup_failed',
			trigger: 'internal',
			termination: {term_sent: false, kill_sent: true, direct_child_reaped: true, group_cleanup_completed: false},
		});
		t.deepEqual(markedProcesses(mark), []);
		t.like(await supervisor.run(request), {kind: 'internal'});
		await supervisor.close();
	}

	t.false(loadNative().isSubreaper());
});

test('a command that kills its supervisor is cleanup_failed', async t => {
	const outcome = summary(await runOne(t, ['sh', '-c', 'kill -9 $PPID; sleep 60']));
	t.like(outcome, {execution_status: 'cleanup_failed', trigger: 'internal', group_cleanup_completed: false, kill_sent: true});
	// It may die before it said who the leader is: then bailiff reaps an orphan that it cannot name.
	t.is(outcome['signal'], outcome['direct_child_reaped'] === true ? 'SIGKILL' : null);
});

test('a command that stops its supervisor is ended all the same, soon after its deadline', async t => {
	const outcome = summary(await runOne(t, ['sh', '-c', 'kill -STOP $PPID; sleep 60'], {timeoutNs: second / 5n}));
	t.like(outcome, {execution_status: 'timeout', group_cleanup_completed: true});
	t.true(Number(outcome['seconds']) < 4);
});

test('a command that hides its end behind a stopped supervisor has not ended in time', async t => {
	const outcome = summary(await runOne(t, ['sh', '-c', 'kill -STOP $PPID'], {timeoutNs: second / 5n}));
	t.like(outcome, {execution_status: 'timeout', exit_code: 0, term_sent: true, group_cleanup_completed: true});
});

test('a command reads nothing of the supervisor and of bailiff through /proc, though it is of the same user', async t => {
	// Root may read everything unless that one capability is gone.
	const drop = process.geteuid?.() === 0 ? 'setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace' : '';
	const script = `bailiff=$(cut -d' ' -f4 /proc/$PPID/stat); for pid in $PPID $bailiff; do ${drop} readlink /proc/$pid/fd/0 && echo read; done; echo done`;
	const outcome = await runOne(t, ['sh', '-c', script]);
	t.is(outcome.kind === 'ended' ? outcome.output.bytes.toString() : outcome.kind, 'done\n');
});

test('a command that stops its supervisor again and again is ended by tree-kill', async t => {
	const script =
		'import os,signal,time\nsignal.signal(15, signal.SIG_IGN)\np=os.getppid()\nif os.fork()==0: os.setsid()\nwhile True:\n os.kill(p,19)\n time.sleep(0.0005)';
	const outcome = summary(await runOne(t, ['python3', '-c', script], {timeoutNs: second / 5n}));
	t.true(['cleanup_failed', 'timeout'].includes(String(outcome['execution_status'])), JSON.stringify(outcome));
	t.true(Number(outcome['seconds']) < 7);
});

test('a program that is no supervisor is refused', async t => {
	await t.throwsAsync(startSupervisor({program: which('false')}), {code: 'RUN_SUPERVISOR_FAILED'});
	await t.throwsAsync(startSupervisor({program: '/no/such'}), {code: 'RUN_SUPERVISOR_FAILED'});
	t.false(loadNative().isSubreaper());
});
