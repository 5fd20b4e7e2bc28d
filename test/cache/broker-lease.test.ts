import {mkdirSync, renameSync} from 'node:fs';
import test, {type ExecutionContext} from 'ava';
import {BrokerLease} from '../../cache/broker-lease.ts';
import {probeFile} from '../../cache/broker-probe.ts';
import {FileLock} from '../../cache/lock.ts';
import {LockSession} from '../../cache/lock-session.ts';
import type {Clock} from '../../core/clock.ts';
import {brokerGround} from '../helpers/broker-ground.ts';
import {codeOf, refusalLater} from '../helpers/refusal.ts';

class Hands implements Clock {
	ns = 5_000_000_000n;
	readonly wallMs = (): number => 0;
	readonly monotonicNs = (): bigint => this.ns;

	pass(ms: number): void {
		this.ns += BigInt(ms) * 1_000_000n;
	}
}

type Ground = {readonly lease: BrokerLease; readonly clock: Hands; readonly issueLock: string; readonly repositoryLock: string};

async function leased(t: ExecutionContext, ttlSeconds = 10): Promise<Ground> {
	const {paths} = brokerGround(t);
	mkdirSync(paths.locks, {recursive: true});
	const locks = new LockSession(paths);
	const clock = new Hands();
	const lease = new BrokerLease({locks, issue: await locks.issue(paths.issueLock), ttlSeconds, clock});
	t.teardown(() => lease.end());
	return {lease, clock, issueLock: paths.issueLock, repositoryLock: paths.repositoryLock};
}

test('a lease lasts for its time, to the millisecond, and says so', async t => {
	const {lease, clock} = await leased(t);
	t.is(lease.remainingMs(), 10_000);
	t.deepEqual(lease.standing(), {issue: 'held', repository: 'free', expires_in_seconds: 10});
	clock.pass(9999);
	t.is(lease.remainingMs(), 1);
	t.is(lease.standing().expires_in_seconds, 0);
	lease.assertAlive();
	clock.pass(1);
	t.is(lease.remainingMs(), 0);
	t.is(
		codeOf(() => {
			lease.assertAlive();
		}),
		'CACHE_LEASE_EXPIRED',
	);
	t.is(
		codeOf(() => {
			lease.renew(10);
		}),
		'CACHE_LEASE_EXPIRED',
		'what is over is never revived',
	);
	t.is((await refusalLater(() => lease.acquireRepository({})))?.code, 'CACHE_LEASE_EXPIRED');
});

test('renewing counts from now', async t => {
	const {lease, clock} = await leased(t);
	clock.pass(9000);
	lease.renew(20);
	t.is(lease.remainingMs(), 20_000);
	lease.renew(5);
	t.is(lease.remainingMs(), 5000);
});

test('the repository lock has one holder, and waiting for it inside the lease is bounded', async t => {
	const {lease, repositoryLock} = await leased(t);
	const first = await lease.acquireRepository({});
	t.false(probeFile(repositoryLock).free);
	t.is(lease.standing().repository, 'held');
	t.is((await refusalLater(() => lease.acquireRepository({})))?.code, 'CACHE_LOCK_BUSY');
	await lease.releaseRepository(first);
	t.true(probeFile(repositoryLock).free);
	const second = await lease.acquireRepository({});
	await lease.releaseRepository(first);
	t.false(probeFile(repositoryLock).free, 'giving back an earlier lock does not free a later one');
	await lease.releaseRepository();
	t.true(probeFile(repositoryLock).free);
	t.is(
		codeOf(() => {
			second.assertHeld();
		}),
		'CACHE_LOCK_ORDER',
	);
});

test('two who ask at the same moment never both get the repository lock', async t => {
	const {lease, repositoryLock} = await leased(t);
	const other = await FileLock.acquire(repositoryLock);
	const signal = new AbortController();
	const asked = [refusalLater(() => lease.acquireRepository({})), refusalLater(() => lease.acquireRepository({signal: signal.signal}))];
	t.deepEqual(
		(await Promise.all(asked)).map(error => error?.code),
		['CACHE_LOCK_BUSY', 'CACHE_LOCK_BUSY'],
	);
	other.close();
	t.truthy(await lease.acquireRepository({}));
});

test('the end gives both locks back, and nothing can be taken afterwards', async t => {
	const {lease, issueLock, repositoryLock} = await leased(t);
	await lease.acquireRepository({});
	await lease.end();
	await lease.end();
	t.true(probeFile(repositoryLock).free);
	t.true(probeFile(issueLock).free);
	t.deepEqual(lease.standing(), {issue: 'free', repository: 'free', expires_in_seconds: 0});
	t.is((await refusalLater(() => lease.acquireRepository({})))?.code, 'CACHE_LEASE_EXPIRED');
});

test('a lease whose lock file was replaced grants nothing any more', async t => {
	const {lease, issueLock} = await leased(t);
	renameSync(issueLock, `${issueLock}.away`);
	t.is((await refusalLater(() => lease.acquireRepository({})))?.code, 'CACHE_LOCK_REPLACED');
	t.is(
		codeOf(() => {
			lease.renew(10);
		}),
		'CACHE_LOCK_REPLACED',
	);
});
