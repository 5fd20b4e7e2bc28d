import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {openSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {BrokerClient} from '../../cache/broker-client.ts';
import {probeFile} from '../../cache/broker-probe.ts';
import {openTenancy, requireLeaseRole, type Tenancy} from '../../cache/broker-tenancy.ts';
import {underLease} from '../../cache/leased-work.ts';
import {FileLock} from '../../cache/lock.ts';
import {LockSession} from '../../cache/lock-session.ts';
import {initRoot} from '../../cache/root.ts';
import type {BailiffError} from '../../core/errors.ts';
import {type BrokerGround, brokerGround, brokerProcess, type ServedBroker, servedBroker} from '../helpers/broker-ground.ts';
import {eventually} from '../helpers/eventually.ts';
import {codeOf, refusalLater} from '../helpers/refusal.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const target = {owner: 'acme', repository: 'widget', issue: 7};

type Leased = BrokerGround & ServedBroker & {readonly lease: Tenancy; readonly lost: () => BailiffError | null};

async function leased(t: ExecutionContext, options: {readonly ttlSeconds?: number} = {}): Promise<Leased> {
	const ground = brokerGround(t);
	const broker = await servedBroker(t, ground, options);
	let lost: BailiffError | null = null;
	const lease = await openTenancy({
		contractPath: ground.contractPath,
		handleFile: broker.ready.handle,
		target,
		role: 'impl-agent',
		onLost: error => {
			lost = error;
		},
	});
	t.teardown(() => {
		lease.close();
	});
	return {...ground, ...broker, lease, lost: () => lost};
}

test('a session under a lease takes no issue lock, gets the repository lock from the broker and gives it back (BR-7)', async t => {
	const {lease, paths} = await leased(t);
	const locks = new LockSession(paths, lease);
	const issue = await locks.issue(paths.issueLock);
	t.is(issue.fd, null);
	issue.assertHeld();
	const repository = await locks.repository();
	t.is(typeof repository.fd, 'number');
	repository.assertHeld();
	t.false(probeFile(paths.repositoryLock).free);
	await repository.release();
	t.true(probeFile(paths.repositoryLock).free, 'it is free when release has returned');
	await (await locks.repository({timeoutMs: 1000})).release();
	await locks.release();
	t.false(probeFile(paths.issueLock).free, 'the lease goes on');
	t.is(
		codeOf(() => {
			issue.assertHeld();
		}),
		'CACHE_LOCK_ORDER',
	);
});

test('the order of locks is enforced under a lease, too', async t => {
	const {lease, paths} = await leased(t);
	const locks = new LockSession(paths, lease);
	t.is((await refusalLater(() => locks.bootstrap()))?.code, 'CACHE_LOCK_ORDER');
	t.is((await refusalLater(() => locks.issue(`${paths.locks}/issue-8.lock`)))?.code, 'CACHE_BROKER_DENIED');
	await locks.repository();
	t.is((await refusalLater(() => locks.issue(paths.issueLock)))?.code, 'CACHE_LOCK_ORDER');
	await locks.release();
	const other = await FileLock.acquire(paths.repositoryLock);
	t.is((await refusalLater(() => locks.repository()))?.code, 'CACHE_LOCK_BUSY');
	other.close();
});

test('waiting for the repository lock under a lease can be broken off', async t => {
	const {lease, paths} = await leased(t);
	const other = await FileLock.acquire(paths.repositoryLock);
	t.teardown(() => {
		other.close();
	});
	const signal = new AbortController();
	const reason = new Error('enough');
	let said = 0;
	const waiting = new LockSession(paths, lease).repository({timeoutMs: 60_000, signal: signal.signal, onWait: () => void said++});
	setImmediate(() => {
		signal.abort(reason);
	});
	t.is(await t.throwsAsync(waiting), reason);
	t.is(said, 1);
});

const denied: ReadonlyArray<readonly [what: string, differing: Readonly<Record<string, unknown>>, word: string]> = [
	['issue', {target: {...target, issue: 8}}, 'issue'],
	['repository', {target: {...target, repository: 'gadget'}}, 'repository'],
	['owner', {target: {...target, owner: 'other'}}, 'repository'],
	['role', {role: 'reviewer'}, 'role'],
];
for (const [what, differing, word] of denied) {
	test(`a handle of another ${what} is refused`, async t => {
		const ground = brokerGround(t);
		const {ready} = await servedBroker(t, ground);
		const request = {contractPath: ground.contractPath, handleFile: ready.handle, target, role: 'impl-agent', ...differing};
		const error = await refusalLater(() => openTenancy(request));
		t.is(error?.code, 'CACHE_BROKER_DENIED');
		t.deepEqual(error?.details['differing'], [word]);
	});
}

test('a handle of another root is refused, and a role that is learned later, too', async t => {
	const {ready, lease} = await leased(t);
	const {paths} = initRoot(path.join(temporaryDirectory(t), 'root'));
	const error = await refusalLater(() => openTenancy({contractPath: paths.contract, handleFile: ready.handle, target}));
	t.deepEqual([error?.code, error?.details['differing']], ['CACHE_BROKER_DENIED', ['root']]);
	requireLeaseRole(lease, 'impl-agent');
	t.is(
		codeOf(() => {
			requireLeaseRole(lease, 'reviewer');
		}),
		'CACHE_BROKER_DENIED',
	);
});

test('a short lease is renewed by a command that works under it', async t => {
	const {ready} = await leased(t, {ttlSeconds: 5});
	const client = await BrokerClient.connect(ready.handle);
	const {answer} = await client.ask({op: 'acquire', hold: false});
	client.close();
	t.true(answer.lease.expires_in_seconds > 50);
});

test('a lease that ends under a command is noticed, said once and final', async t => {
	const {lease, signal, end, paths, lost} = await leased(t);
	const locks = new LockSession(paths, lease);
	const issue = await locks.issue(paths.issueLock);
	signal.abort();
	await end;
	const error = await eventually('the loss is said', lost);
	t.is(error.code, 'CACHE_LEASE_EXPIRED');
	t.is(
		codeOf(() => {
			issue.assertHeld();
		}),
		'CACHE_LEASE_EXPIRED',
	);
	t.is((await refusalLater(() => locks.repository()))?.code, 'CACHE_LEASE_EXPIRED');
});

test('work under a lease is ended by its loss, and the connection is closed after it', async t => {
	const ground = brokerGround(t);
	const broker = await servedBroker(t, ground);
	const openLease = async (onLost: (error: BailiffError) => void): Promise<Tenancy> =>
		openTenancy({contractPath: ground.contractPath, handleFile: broker.ready.handle, target, onLost});
	const work = underLease<{readonly openLease: typeof openLease; readonly signal?: AbortSignal}, void>({openLease}, async ({signal}, lease) => {
		t.truthy(lease);
		broker.lifeline.abort();
		await once(signal ?? new AbortController().signal, 'abort');
		signal?.throwIfAborted();
	});
	t.is((await refusalLater(() => work))?.code, 'CACHE_LEASE_EXPIRED');
	t.is(await underLease({}, async (_, lease) => lease), undefined);
});

test('a git child that has the lent descriptor keeps the lock when broker and client are gone (BR-6, C-HARD-5)', async t => {
	const {root, paths} = brokerGround(t);
	const broker = await brokerProcess(t, root);
	const client = await BrokerClient.connect(broker.handle);
	const {descriptor} = await client.ask({op: 'acquire_repository', wait_seconds: 0, pass_descriptor: true});
	const lock = FileLock.adopt(paths.repositoryLock, descriptor ?? -1);
	const git = spawn('git', ['hash-object', '--stdin'], {cwd: '/', stdio: ['pipe', 'ignore', 'inherit', lock.fd]});
	lock.close();
	client.close();
	broker.child.kill('SIGKILL');
	t.is((await broker.ended).signal, 'SIGKILL');
	t.true(probeFile(paths.issueLock).free);
	t.false(probeFile(paths.repositoryLock).free, 'git still writes');
	git.stdin?.end('done');
	await once(git, 'close');
	t.true(probeFile(paths.repositoryLock).free);
	t.is((await refusalLater(() => BrokerClient.connect(broker.handle)))?.code, 'CACHE_BROKER_STALE');
});

test('a descriptor of another file, or one that carries no lock while another does, is not adopted', async t => {
	const {paths, lease} = await leased(t);
	const held = await new LockSession(paths, lease).repository();
	t.is(
		codeOf(() => FileLock.adopt(paths.repositoryLock, openSync(paths.repositoryLock, 'r+'))),
		'CACHE_LOCK_BUSY',
	);
	t.is(
		codeOf(() => FileLock.adopt(paths.issueLock, openSync(paths.repositoryLock, 'r+'))),
		'CACHE_LOCK_REPLACED',
	);
	await held.release();
});
