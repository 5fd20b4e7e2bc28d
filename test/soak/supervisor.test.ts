import {readFileSync} from 'node:fs';
import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {startSupervisor} from '../../runner/supervisor.ts';
import {startDriver} from '../helpers/driver.ts';
import {eventually} from '../helpers/eventually.ts';
import {makeRequest, markedProcesses, summary} from '../helpers/supervised.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

// Deaths at random moments, many times. Not part of `make test`.
const script = 'trap "" TERM; (sleep 60 & setsid sleep 60) & setsid sh -c "sleep 60 & sleep 60" & while :; do sleep 0.01; done';
const rounds = 100;

/** The parent of a process, or null when it is gone. */
function parentOf(pid: number): number | null {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
		return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
	} catch {
		return null;
	}
}

test(`a supervisor that is killed at ${rounds} random moments leaves nobody`, async t => {
	t.timeout(300_000);
	const directory = temporaryDirectory(t);
	for (let round = 0; round < rounds; round++) {
		const supervisor = await startSupervisor();
		const {request, mark} = makeRequest(directory, ['sh', '-c', script]);
		const running = supervisor.run(request);
		const pid = await eventually('the supervisor', () => {
			const [leader] = markedProcesses(mark);
			return leader === undefined ? null : parentOf(leader);
		});
		await sleep(Math.random() * 40);
		process.kill(pid, 'SIGKILL');
		const outcome = summary(await running);
		t.like(outcome, {execution_status: 'cleanup_failed', trigger: 'internal', group_cleanup_completed: false});
		t.deepEqual(markedProcesses(mark), []);
		await supervisor.close();
	}
});

test(`bailiff that is killed at ${rounds} random moments leaves nobody`, async t => {
	t.timeout(300_000);
	const directory = temporaryDirectory(t);
	for (let round = 0; round < rounds; round++) {
		const driver = await startDriver();
		const {request, mark} = makeRequest(directory, ['sh', '-c', script]);
		driver.send(request);
		await sleep(Math.random() * 60);
		driver.child.kill('SIGKILL');
		await driver.close();
		await eventually('the end of everybody', () => markedProcesses(mark).length === 0);
	}

	t.pass();
});

test('ends and deadlines that tie are one or the other, 1,000 times', async t => {
	t.timeout(300_000);
	const directory = temporaryDirectory(t);
	const supervisor = await startSupervisor();
	for (let round = 0; round < 1000; round++) {
		const outcome = summary(await supervisor.run(makeRequest(directory, ['sleep', '0.01'], {timeoutNs: 11_000_000n}).request));
		const isTimeout = outcome['execution_status'] === 'timeout';
		t.true(isTimeout || outcome['execution_status'] === 'completed', JSON.stringify(outcome));
		t.is(outcome['term_sent'], isTimeout);
		t.true(outcome['group_cleanup_completed']);
	}

	await supervisor.close();
});

test('300,000 bytes arrive whole, 200 times', async t => {
	t.timeout(300_000);
	const directory = temporaryDirectory(t);
	const supervisor = await startSupervisor();
	for (let round = 0; round < 200; round++) {
		const outcome = await supervisor.run(makeRequest(directory, ['head', '-c', '300000', '/dev/zero'], {maxOutputBytes: 300_000}).request);
		t.like(summary(outcome), {execution_status: 'completed', output_bytes: 300_000, complete: true});
	}

	await supervisor.close();
});
