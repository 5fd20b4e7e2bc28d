import {chmodSync} from 'node:fs';
import test, {type ExecutionContext} from 'ava';
import type {Supervisor} from '../../runner/outcome.ts';
import {startSupervisor} from '../../runner/supervisor.ts';
import {canTryOrdinaryUser, type Driver, ordinaryUser, startDriver} from '../helpers/driver.ts';
import {caseRequest, differences, type HostileCase, hostileCases, markedProcesses, summary} from '../helpers/supervised.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

// Every hostile command of the contract, by the user who runs the tests and, where that is root, by an ordinary user too. Four at a time.
const cases = hostileCases();
const workers = 4;
const hasOrdinaryUser = canTryOrdinaryUser();

const supervisors: Supervisor[] = [];
const drivers: Driver[] = [];
/** What each worker does at the moment: a case waits for the one before it. */
const queues = new Map<object, Promise<unknown>>();

test.before(async () => {
	for (let index = 0; index < workers; index++) {
		supervisors.push(await startSupervisor());
		if (hasOrdinaryUser) {
			drivers.push(await startDriver(ordinaryUser));
		}
	}
});

test.after.always(async () => {
	await Promise.all([...supervisors, ...drivers].map(worker => worker.close()));
});

async function inTurn<Result>(worker: object, action: () => Promise<Result>): Promise<Result> {
	const before = queues.get(worker) ?? Promise.resolve();
	const turn = before.then(action, action);
	queues.set(worker, turn);
	return turn;
}

function pick<Worker>(list: readonly Worker[], index: number): Worker {
	const worker = list[index % workers];
	if (worker === undefined) {
		throw new Error('no worker was started');
	}

	return worker;
}

function judge(t: ExecutionContext, hostile: HostileCase, facts: {readonly found: Record<string, unknown>; readonly mark: string}): void {
	const found: Record<string, unknown> = {
		...facts.found,
		passed: facts.found['execution_status'] === 'completed' && facts.found['exit_code'] === hostile.expected_exit_code,
	};
	t.deepEqual(differences(hostile, found), [], JSON.stringify(found));
	t.deepEqual(markedProcesses(facts.mark), [], 'a process of the case is alive');
}

for (const [index, hostile] of cases.entries()) {
	test(`${hostile.id}: ${hostile.why}`, async t => {
		const supervisor = pick(supervisors, index);
		const {request, mark} = caseRequest(temporaryDirectory(t), hostile);
		const outcome = await inTurn(supervisor, () => supervisor.run(request));
		judge(t, hostile, {found: summary(outcome), mark});
	});

	if (hasOrdinaryUser) {
		test(`${hostile.id}, run by an ordinary user: ${hostile.why}`, async t => {
			const driver = pick(drivers, index);
			const directory = temporaryDirectory(t);
			chmodSync(directory, 0o777);
			const {request, mark} = caseRequest(directory, hostile);
			const found = await inTurn(driver, () => {
				driver.send(request);
				return driver.next();
			});
			judge(t, hostile, {found, mark});
		});
	}
}
