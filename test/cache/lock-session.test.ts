import {mkdirSync, renameSync} from 'node:fs';
import test, {type ExecutionContext} from 'ava';

import {type IssuePaths, issuePaths} from '../../cache/layout.ts';
import {FileLock} from '../../cache/lock.ts';
import {type HeldLock, LockSession} from '../../cache/lock-session.ts';
import {codeOf, refusalLater} from '../helpers/refusal.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

type Step = 'bootstrap' | 'staging' | 'issue' | 'repository';

function place(t: ExecutionContext): IssuePaths {
	const paths = issuePaths(temporaryDirectory(t), {owner: 'acme', repository: 'widget', issue: 7});
	mkdirSync(paths.locks, {recursive: true, mode: 0o700});
	mkdirSync(paths.ownerBootstrapLocks, {recursive: true, mode: 0o700});
	return paths;
}

function session(t: ExecutionContext, paths: IssuePaths): (step: Step) => Promise<HeldLock> {
	const locks = new LockSession(paths);
	t.teardown(() => locks.release());
	const stagingLock = `${paths.owner}/staging.lock`;
	return step => (step === 'issue' ? locks.issue(paths.issueLock) : step === 'staging' ? locks.staging(stagingLock) : locks[step]());
}

for (const steps of [
	['bootstrap', 'repository'],
	['bootstrap', 'staging'],
	['bootstrap', 'staging', 'repository'],
	['issue', 'repository'],
	['repository'],
] as const) {
	test(`${steps.join(' then ')} is allowed`, async t => {
		const take = session(t, place(t));
		for (const step of steps) {
			const lock = await take(step);
			t.is(lock.kind, step);
			lock.assertHeld();
		}
	});
}

for (const [first, second] of [
	['repository', 'issue'],
	['repository', 'bootstrap'],
	['bootstrap', 'issue'],
	['issue', 'bootstrap'],
	['issue', 'issue'],
	['repository', 'repository'],
	['bootstrap', 'bootstrap'],
	['issue', 'staging'],
	['repository', 'staging'],
] as const) {
	test(`${first} then ${second} is refused by the code, and the first lock stays`, async t => {
		const take = session(t, place(t));
		const lock = await take(first);
		t.is((await refusalLater(() => take(second)))?.code, 'CACHE_LOCK_ORDER');
		lock.assertHeld();
	});
}

test('a staging lock is never taken alone', async t => {
	t.is((await refusalLater(() => session(t, place(t))('staging')))?.code, 'CACHE_LOCK_ORDER');
});

test('a lock follows its file to where a publication renamed it, and to no other', async t => {
	const paths = place(t);
	const locks = new LockSession(paths);
	t.teardown(() => locks.release());
	await locks.bootstrap();
	const lock = await locks.staging(`${paths.owner}/staging.lock`);
	renameSync(lock.path, paths.repositoryLock);
	t.is(
		codeOf(() => {
			lock.assertHeld();
		}),
		'CACHE_LOCK_REPLACED',
	);
	lock.moveTo(paths.repositoryLock);
	lock.assertHeld();
	t.is(lock.path, paths.repositoryLock);
	t.is((await refusalLater(() => FileLock.acquire(paths.repositoryLock)))?.code, 'CACHE_LOCK_BUSY');
});

test('another issue of the same repository is refused while one is held', async t => {
	const paths = place(t);
	const locks = new LockSession(paths);
	t.teardown(() => locks.release());
	await locks.issue(paths.issueLock);
	t.is((await refusalLater(() => locks.issue(`${paths.locks}/issue-8.lock`)))?.code, 'CACHE_LOCK_ORDER');
});

test('nothing is taken inside repository, not even after the outer lock was released', async t => {
	const take = session(t, place(t));
	const issue = await take('issue');
	const repository = await take('repository');
	for (const step of ['bootstrap', 'issue', 'repository'] as const) {
		t.is((await refusalLater(() => take(step)))?.code, 'CACHE_LOCK_ORDER');
	}

	await issue.release();
	t.is(
		codeOf(() => {
			repository.assertHeld();
		}),
		'CACHE_LOCK_ORDER',
		'working on after the release of the outer lock',
	);
});

test('releasing the outer lock gives the inner one back first, and twice is as good as once', async t => {
	const paths = place(t);
	const take = session(t, paths);
	const issue = await take('issue');
	await take('repository');
	await issue.release();
	await issue.release();
	for (const file of [paths.issueLock, paths.repositoryLock]) {
		const lock = await FileLock.acquire(file);
		t.true(lock.isHeld);
		lock.close();
	}
});

test('bootstrap may be finished and the issue begun in one session', async t => {
	const take = session(t, place(t));
	const bootstrap = await take('bootstrap');
	const repository = await take('repository');
	await repository.release();
	bootstrap.assertHeld();
	await bootstrap.release();
	const issue = await take('issue');
	issue.assertHeld();
	t.is(issue.kind, 'issue');
});

test('two locks cannot be taken at once by one workflow', async t => {
	const take = session(t, place(t));
	const [first, second] = await Promise.allSettled([take('issue'), take('repository')]);
	t.is(first.status, 'fulfilled');
	t.is(second.status === 'rejected' ? second.reason.code : null, 'CACHE_LOCK_ORDER');
});

test('an inner lock that comes after the outer one was released is not kept', async t => {
	const paths = place(t);
	const locks = new LockSession(paths);
	const other = await FileLock.acquire(paths.repositoryLock);
	const issue = await locks.issue(paths.issueLock);
	const refusal = await refusalLater(() =>
		locks.repository({
			timeoutMs: 60_000,
			onWait: () => {
				void issue.release();
				other.close();
			},
		}),
	);
	t.is(refusal?.code, 'CACHE_LOCK_ORDER');
	const again = await FileLock.acquire(paths.repositoryLock);
	again.close();
});

test('two workflows of one process exclude each other as two processes do', async t => {
	const paths = place(t);
	await session(t, paths)('issue');
	t.is((await refusalLater(() => session(t, paths)('issue')))?.code, 'CACHE_LOCK_BUSY');
	(await session(t, paths)('repository')).assertHeld();
});
