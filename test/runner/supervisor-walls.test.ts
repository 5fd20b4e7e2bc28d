import {spawnSync} from 'node:child_process';
import {chmodSync, mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import test, {type Implementation} from 'ava';
import {startSupervisor} from '../../runner/supervisor.ts';
import {canTryOrdinaryUser, ordinaryUser, startDriver} from '../helpers/driver.ts';
import {eventually} from '../helpers/eventually.ts';
import {buildFixture} from '../helpers/fixture.ts';
import {makeRequest, markedProcesses} from '../helpers/supervised.ts';

// What would harm this machine or this process: drivers that are killed, and chains that fork for ever behind walls.
const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'bailiff-walls-')));
const programs = {rabbit: '', untouchable: ''};

test.before(() => {
	programs.rabbit = buildFixture(directory, 'rabbit');
	programs.untouchable = buildFixture(directory, 'untouchable');
	chmodSync(programs.untouchable, 0o4755);
	chmodSync(directory, 0o755);
});
test.after.always(() => {
	rmSync(directory, {recursive: true, force: true});
});

/** A namespace of processes of its own in which no more than 1,500 can be; null where this machine gives none. */
function walls(): readonly string[] | null {
	const limit = 'ulimit -u 1500 2>/dev/null; echo 1500 >/proc/sys/kernel/pid_max 2>/dev/null';
	const wrapper = ['unshare', '-Urpf', '--kill-child', '--mount-proc', 'bash', '-c', `${limit}; exec "$@"`, 'bash'];
	const [program = '', ...args] = wrapper;
	const probe = spawnSync(program, [...args, 'bash', '-c', 'cat /proc/sys/kernel/pid_max; ulimit -u'], {encoding: 'utf8'});
	const [pidMax, processes] = probe.stdout.trim().split('\n').map(Number);
	return probe.status === 0 && (pidMax === 1500 || (processes === 1500 && process.geteuid?.() !== 0)) ? wrapper : null;
}

const wrapper = walls();
const whenWalled = wrapper === null ? test.skip : test;

for (const way of ['in one group', 'each in a session of its own'] as const) {
	whenWalled(`a chain that forks and exits for ever, ${way}, is caught within the budgets`, async t => {
		const driver = await startDriver({wrapper: wrapper ?? []});
		for (let round = 0; round < 5; round++) {
			const argv = way === 'in one group' ? [programs.rabbit] : [programs.rabbit, 'setsid'];
			driver.send(makeRequest(directory, argv, {timeoutNs: 300_000_000n}).request);
			const outcome = await driver.next();
			t.like(
				outcome,
				{execution_status: 'timeout', trigger: 'timeout', term_sent: true, group_cleanup_completed: true, direct_child_reaped: true},
				JSON.stringify(outcome),
			);
			t.true(Number(outcome['seconds']) < 1.3, JSON.stringify(outcome));
		}

		await driver.close();
	});
}

// Only root can start a process of another user.
const whenTwoUsers = (title: string, implementation: Implementation<[]>): void => {
	if (canTryOrdinaryUser()) {
		test(title, implementation);
	}
};

whenTwoUsers('a process of another user that may not be signalled is reported as a failed cleanup, within the budgets', async t => {
	const driver = await startDriver(ordinaryUser);
	const {request, mark} = makeRequest(directory, ['sh', '-c', `${programs.untouchable} & sleep 60`], {timeoutNs: 500_000_000n});
	driver.send(request);
	const outcome = await driver.next();
	const survivors = markedProcesses(mark);
	for (const pid of survivors) {
		process.kill(pid, 'SIGKILL');
	}

	t.is(survivors.length, 1);
	t.like(outcome, {execution_status: 'cleanup_failed', trigger: 'timeout', term_sent: true, kill_sent: true, group_cleanup_completed: false});
	t.true(Number(outcome['seconds']) < 1.6, JSON.stringify(outcome));
	await driver.close();
});

test('an interrupt reaches a supervisor that its command stopped', async t => {
	const supervisor = await startSupervisor();
	const {request, mark} = makeRequest(directory, ['sh', '-c', 'kill -STOP $PPID; sleep 60'], {timeoutNs: 60_000_000_000n});
	const running = supervisor.run(request);
	await eventually('the command', () => markedProcesses(mark).length > 1);
	supervisor.interrupt('SIGINT');
	t.like(await running, {kind: 'interrupted', termination: {term_sent: true, group_cleanup_completed: true}});
	await supervisor.close();
});

test('when bailiff is killed at any moment, its supervisor leaves nobody', async t => {
	const script = 'trap "" TERM; (sleep 60 & sleep 60) & setsid sleep 60 & while :; do sleep 0.02; done';
	for (const delayMs of [0, 1, 5, 20, 60]) {
		const driver = await startDriver();
		const {request, mark} = makeRequest(directory, ['sh', '-c', script]);
		driver.send(request);
		await eventually('the command', () => markedProcesses(mark).length > 0);
		await sleep(delayMs);
		driver.child.kill('SIGKILL');
		await t.throwsAsync(driver.next());
		await eventually('the end of everybody', () => markedProcesses(mark).length === 0);
	}

	t.pass();
});

test('a command that stops bailiff sets no deadline back, and bailiff goes on at its end', async t => {
	const driver = await startDriver();
	const script = 'bailiff=$(cut -d" " -f4 /proc/$PPID/stat); kill -STOP $bailiff; sleep 60';
	driver.send(makeRequest(directory, ['sh', '-c', script], {timeoutNs: 400_000_000n}).request);
	t.like(await driver.next(), {execution_status: 'timeout', term_sent: true, kill_sent: false, group_cleanup_completed: true});
	await driver.close();
});

test('a command that stops bailiff and its supervisor together is ended at its deadline all the same', async t => {
	const driver = await startDriver();
	const script = 'bailiff=$(cut -d" " -f4 /proc/$PPID/stat); kill -STOP $bailiff $PPID; sleep 60';
	driver.send(makeRequest(directory, ['sh', '-c', script], {timeoutNs: 400_000_000n}).request);
	const outcome = await driver.next();
	t.like(outcome, {execution_status: 'timeout', term_sent: true, group_cleanup_completed: true});
	t.true(Number(outcome['seconds']) < 2, JSON.stringify(outcome));
	await driver.close();
});

test('a command that kills bailiff ends with it', async t => {
	const driver = await startDriver();
	const script = 'kill -9 $(cut -d" " -f4 /proc/$PPID/stat); sleep 60';
	const {request, mark} = makeRequest(directory, ['sh', '-c', script]);
	driver.send(request);
	await t.throwsAsync(driver.next());
	await eventually('the end of the command', () => markedProcesses(mark).length === 0);
	t.pass();
});
