import {existsSync, renameSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {openCanonicalPlace} from '../../cache/canonical-place.ts';
import {FileLock, repositoryPaths} from '../../cache/index.ts';
import type {ErrorCode} from '../../core/errors.ts';
import {refusalLater} from '../helpers/refusal.ts';
import {type WorktreeGround, workedGround, worktreeGround} from '../helpers/worktree-ground.ts';

function open({request, profile, authority, git}: WorktreeGround): ReturnType<typeof openCanonicalPlace> {
	return openCanonicalPlace({contractPath: request.contractPath, target: request.target, git, openAuthority: async () => ({profile, authority})});
}

test('C-SYNC-5, C-LOCK-3: a run takes the issue lock alone, in a worktree that is whole, from a mirror that agrees', async t => {
	const ground = await workedGround(t);
	const {paths, lock, role} = await open(ground);
	t.is(paths.checkout, ground.paths.checkout);
	t.is(role, 'impl-agent');
	t.true(existsSync(paths.verification));
	lock.assertHeld();
	const repository = await FileLock.acquire(repositoryPaths(ground.root, ground.target).repositoryLock);
	repository.close();
	t.is((await refusalLater(async () => open(ground)))?.code, 'CACHE_LOCK_BUSY');
	await lock.release();
	await (await open(ground)).lock.release();
});

type Spoil = readonly [title: string, spoil: (ground: WorktreeGround) => unknown, code: ErrorCode];

const spoils: readonly Spoil[] = [
	['is behind its authority', ({commit}) => commit('second'), 'CACHE_DEFAULT_BRANCH_MISMATCH'],
	['has a foreign ref', ({work}) => work('tag', 'mine'), 'CACHE_FOREIGN_REF'],
	['has a worktree without its state', ({paths, root}) => renameSync(paths.state, path.join(root, 'state')), 'CACHE_WORKTREE_PARTIAL'],
	['is not there', ({paths, root}) => renameSync(paths.mirror, path.join(root, 'mirror')), 'CACHE_ABSENT'],
];

for (const [title, spoil, code] of spoils) {
	test(`C-SYNC-5, C-FC: no run where the mirror ${title}; the lock is free afterwards`, async t => {
		const ground = await workedGround(t);
		await spoil(ground);
		t.is((await refusalLater(async () => open(ground)))?.code, code);
		t.false(existsSync(ground.paths.verification));
		(await FileLock.acquire(ground.paths.issueLock)).close();
	});
}

test('C-REUSE-1: no run without a worktree, or as another role', async t => {
	const bare = await worktreeGround(t);
	t.is((await refusalLater(async () => open(bare)))?.code, 'CACHE_WORKTREE_ABSENT');
	const ground = await workedGround(t);
	const other = {...ground, profile: {...ground.profile, role: 'other'}};
	t.is((await refusalLater(async () => open(other)))?.code, 'CACHE_ROLE_MISMATCH');
});
