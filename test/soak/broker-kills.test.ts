import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {BrokerClient} from '../../cache/broker-client.ts';
import {probeFile} from '../../cache/broker-probe.ts';
import {FileLock} from '../../cache/lock.ts';
import {BailiffError} from '../../core/errors.ts';
import {brokerGround, brokerProcess} from '../helpers/broker-ground.ts';
import {eventually} from '../helpers/eventually.ts';

// SIGKILL of a broker at a random moment while clients take and give back the repository lock (BR-4, BR-6).
const rounds = Number(process.env['BAILIFF_SOAK_ROUNDS'] ?? 30);
const expected: ReadonlySet<string> = new Set(['CACHE_LEASE_EXPIRED', 'CACHE_BROKER_STALE', 'CACHE_LOCK_BUSY']);

test.serial(`${rounds} brokers killed at random moments: never two holders, every client learns it, every lock is free afterwards`, async t => {
	t.timeout(30 * 60_000);
	const {root, paths} = brokerGround(t);
	let granted = 0;
	let holders = 0;
	for (let round = 0; round < rounds; round++) {
		const broker = await brokerProcess(t, root, '--run-id', `w-${round}`);
		const work = async (): Promise<string> => {
			try {
				const client = await BrokerClient.connect(broker.handle);
				for (;;) {
					const {descriptor} = await client.ask({op: 'acquire_repository', wait_seconds: 10, pass_descriptor: true});
					const lock = FileLock.adopt(paths.repositoryLock, descriptor ?? -1);
					t.is(++holders, 1, `round ${round}`);
					granted++;
					await sleep(1);
					lock.assertHeld();
					holders--;
					lock.close();
					await client.ask({op: 'release_repository'});
				}
			} catch (error) {
				return error instanceof BailiffError ? error.code : String(error);
			}
		};
		const clients = [work(), work(), work(), work()];
		await sleep(Math.random() * 300);
		broker.child.kill('SIGKILL');
		for (const code of await Promise.all(clients)) {
			t.true(expected.has(code), `round ${round}: ${code}`);
		}

		await broker.ended;
		t.true(probeFile(paths.issueLock).free, `round ${round}`);
		await eventually('the repository lock is free', () => probeFile(paths.repositoryLock).free);
	}

	t.log(`${granted} grants`);
	t.true(granted > rounds, 'the brokers were killed before they granted anything');
});
