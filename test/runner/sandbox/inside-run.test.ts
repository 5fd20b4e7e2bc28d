import {readFileSync} from 'node:fs';
import process from 'node:process';
import type {ExecutionContext} from 'ava';
import {resolvePlan} from '../../../evidence/index.ts';
import {supervisorPath} from '../../../native/index.ts';
import type {CommandOutcome} from '../../../runner/outcome.ts';
import {openRunSandbox} from '../../../runner/sandbox/sandbox.ts';
import {startSupervisor} from '../../../runner/supervisor.ts';
import {tryTo} from '../../helpers/checkout.ts';
import {eventually} from '../../helpers/eventually.ts';
import {serialSandboxTest as test} from '../../helpers/sandbox-ability.ts';
import {markedProcesses} from '../../helpers/supervised.ts';
import {createWorld} from './world.ts';

type Custody = {readonly supervisor: number; readonly bubblewrap: number; readonly first: number};

function children(pid: number): number[] {
	return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

/** The chain of processes that holds the running command, once the command runs. */
async function findCustody(mark: string): Promise<Custody> {
	return eventually('a command that runs inside', () => {
		const supervisor = children(process.pid).find(pid => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('bailiff-supervisor'));
		const [bubblewrap] = supervisor === undefined ? [] : children(supervisor);
		const [first] = bubblewrap === undefined ? [] : children(bubblewrap);
		const isRunning = markedProcesses(mark).length > 1;
		return supervisor === undefined || bubblewrap === undefined || first === undefined || !isRunning ? null : {supervisor, bubblewrap, first};
	});
}

async function runAndHarm(
	t: ExecutionContext,
	harm: (custody: Custody) => void,
): Promise<{readonly outcome: CommandOutcome; readonly seconds: number; readonly mark: string}> {
	const world = createWorld(process.getuid?.() ?? 0);
	t.teardown(world.remove);
	const mark = `${process.pid}-${performance.now()}`;
	const {commands} = resolvePlan({
		schema: 'verification-plan/v3',
		owner: 'owner',
		repository: 'repository',
		issue: 1,
		source_sha: '0'.repeat(40),
		commands: [{id: 'long', argv: ['sh', '-c', 'setsid sleep 60 & sleep 60'], timeout_seconds: 3, max_output_bytes: 0}],
	});
	const [command] = commands;
	const supervisor = await startSupervisor();
	const sandbox = await openRunSandbox({facts: world.facts, commands, supervisor: supervisorPath()});
	try {
		const containment = command === undefined ? null : sandbox.prepare(command);
		if (command === undefined || containment === null) {
			throw new Error('the plan has a command');
		}

		const start = performance.now();
		const running = supervisor.run({
			executable: '/bin/sh',
			argv: command.argv,
			checkout: world.facts.checkout,
			cwd: '.',
			env: {PATH: '/usr/bin:/bin', BAILIFF_TEST_MARK: mark},
			timeoutNs: 3_000_000_000n,
			leakTimeoutNs: null,
			maxOutputBytes: 0,
			streams: 'combined',
			...containment,
		});
		harm(await findCustody(mark));
		return {outcome: await running, seconds: (performance.now() - start) / 1000, mark};
	} finally {
		await sandbox.close();
		await supervisor.close();
	}
}

test('when the supervisor is killed, the inside ends with it, and the command is cleanup_failed', async t => {
	const {outcome, mark} = await runAndHarm(t, ({supervisor}) => process.kill(supervisor, 'SIGKILL'));
	t.like(outcome, {kind: 'ended', status: 'cleanup_failed', trigger: 'internal', waitStatus: null, sandbox: {quiet: false}});
	t.deepEqual(markedProcesses(mark), []);
});

test('when bubblewrap is killed, its child becomes ours and is ended', async t => {
	const {outcome, mark} = await runAndHarm(t, ({bubblewrap}) => process.kill(bubblewrap, 'SIGKILL'));
	t.like(outcome, {kind: 'internal', termination: {group_cleanup_completed: true}});
	t.deepEqual(markedProcesses(mark), []);
});

test('when the first process inside is killed, everything inside is gone, and the end is nobody’s word', async t => {
	const {outcome, mark} = await runAndHarm(t, ({first}) => process.kill(first, 'SIGKILL'));
	t.like(outcome, {kind: 'internal', termination: {direct_child_reaped: false, group_cleanup_completed: true}});
	t.deepEqual(markedProcesses(mark), []);
});

test('a supervisor that is stopped does not move the deadline inside', async t => {
	const {outcome, seconds, mark} = await runAndHarm(t, ({supervisor}) => process.kill(supervisor, 'SIGSTOP'));
	// On a busy machine it may be ended instead of set going again (R-MECH-4).
	t.true(outcome.kind === 'ended' && ['timeout', 'cleanup_failed'].includes(outcome.status), JSON.stringify(outcome.kind));
	t.true(seconds < 15, String(seconds));
	t.deepEqual(markedProcesses(mark), []);
});

test('a first process that is stopped is woken at the deadline by its own timer, and the command is a timeout', async t => {
	const {outcome, seconds, mark} = await runAndHarm(t, ({first}) => process.kill(first, 'SIGSTOP'));
	t.like(outcome, {kind: 'ended', status: 'timeout', termination: {term_sent: true, group_cleanup_completed: true}});
	t.true(seconds < 10, String(seconds));
	t.deepEqual(markedProcesses(mark), []);
});

test('a first process that is stopped again and again is ended after the deadline, by itself or from outside', async t => {
	let stopping: NodeJS.Timeout | undefined;
	t.teardown(() => {
		clearInterval(stopping);
	});
	const {outcome, seconds, mark} = await runAndHarm(t, ({first}) => {
		stopping = setInterval(() => {
			tryTo(() => process.kill(first, 'SIGSTOP'));
		}, 1);
	});
	clearInterval(stopping);
	t.true(outcome.kind === 'internal' || (outcome.kind === 'ended' && outcome.status !== 'completed'), outcome.kind);
	t.true(seconds < 15, String(seconds));
	t.deepEqual(markedProcesses(mark), []);
});
