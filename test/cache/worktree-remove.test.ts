import {existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {createWorktree, type RemoveRequest, removeWorktree, resumeWorktree} from '../../cache/index.ts';
import type {ErrorCode} from '../../core/errors.ts';
import {isRefused, type WorktreeGround, workedGround, worktreeGround} from '../helpers/worktree-ground.ts';

/** A commit in the worktree; its id. */
function commitMore({work}: WorktreeGround): string {
	work('commit', '-q', '--allow-empty', '-m', 'more');
	return work('rev-parse', 'HEAD').trim();
}

function deliver({work, gitDir}: WorktreeGround, branch: string): void {
	work('push', '-q', `file://${gitDir}`, `HEAD:refs/heads/${branch}`);
}

test('C-RM-3, C-RM-4: what the authority has may go; evidence stays; the place is free again', async t => {
	const ground = await workedGround(t);
	const {paths, request} = ground;
	const head = commitMore(ground);
	mkdirSync(`${paths.verification}/r1`, {recursive: true});
	deliver(ground, 'issue-7');
	const report = await removeWorktree({...request, deliveredBranch: 'issue-7'});
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.true(report.complete);
	t.deepEqual(report.delivery, {branch: 'issue-7', provider_sha: head, local_sha: head, equal: true});
	t.like(report.worktree, {state: 'removed', head_sha: head, commits_after_base: 1, undelivered_commits: 0, locked: null});
	t.deepEqual(report.evidence, {runs: 1, runtime: 0, kept: true});
	t.deepEqual(readdirSync(paths.issue), ['verification']);
	t.deepEqual(
		readdirSync(paths.mirror).filter(name => name === 'worktrees'),
		[],
	);
	isRefused(t, await removeWorktree({...request, deliveredBranch: 'issue-7'}), 'CACHE_WORKTREE_ABSENT');
	t.is((await createWorktree(request)).status, 'ok');
});

test('C-RM-3: exactly the head that is named may go, and nothing else than undelivered commits', async t => {
	const ground = await workedGround(t);
	const {paths, request} = ground;
	const head = commitMore(ground);
	for (const discard of [ground.source.sha, head.slice(0, 12), 'HEAD', head.toUpperCase()]) {
		isRefused(t, await removeWorktree({...request, discard}), 'CACHE_WORKTREE_UNDELIVERED');
	}

	writeFileSync(path.join(paths.checkout, 'loose.txt'), '');
	isRefused(t, await removeWorktree({...request, discard: head}), 'CACHE_WORKTREE_DIRTY');
	rmSync(path.join(paths.checkout, 'loose.txt'));
	const report = await removeWorktree({...request, discard: head});
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.false(existsSync(paths.issue));
	t.is(report.evidence.kept, false);
	t.is((await createWorktree(request)).status, 'ok');
});

type Spoil = readonly [title: string, spoil: (ground: WorktreeGround) => unknown, code: ErrorCode, more?: Partial<RemoveRequest>];

const spoils: readonly Spoil[] = [
	['is not delivered', commitMore, 'CACHE_WORKTREE_UNDELIVERED'],
	['is delivered and nobody says so', ground => deliver(ground, 'issue-7'), 'CACHE_WORKTREE_UNDELIVERED'],
	['is delivered at another commit', commitMore, 'CACHE_WORKTREE_UNDELIVERED', {deliveredBranch: 'main'}],
	['is said to be on a branch that is not there', commitMore, 'CACHE_AUTHORITY_NOT_FOUND', {deliveredBranch: 'nowhere'}],
	[
		'has staged files',
		({paths, work}) => {
			writeFileSync(path.join(paths.checkout, 'b.txt'), '');
			work('add', 'b.txt');
		},
		'CACHE_WORKTREE_DIRTY',
		{deliveredBranch: 'main'},
	],
	['has changed files', ({paths}) => writeFileSync(path.join(paths.checkout, 'a.txt'), 'x'), 'CACHE_WORKTREE_DIRTY', {deliveredBranch: 'main'}],
	[
		'has untracked files',
		({paths}) => writeFileSync(path.join(paths.checkout, 'b.txt'), ''),
		'CACHE_WORKTREE_DIRTY',
		{deliveredBranch: 'main', isDroppingIgnored: true},
	],
	['has hidden changes', ({work}) => work('update-index', '--assume-unchanged', 'a.txt'), 'CACHE_WORKTREE_HIDDEN', {deliveredBranch: 'main'}],
	[
		'is in the middle of a rebase',
		({paths}) => mkdirSync(`${paths.mirror}/worktrees/checkout/rebase-merge`),
		'CACHE_WORKTREE_UNFINISHED',
		{deliveredBranch: 'main'},
	],
	[
		'was left by a killed git',
		({paths}) => writeFileSync(`${paths.mirror}/worktrees/checkout/index.lock`, ''),
		'CACHE_STALE_GIT_LOCK',
		{deliveredBranch: 'main'},
	],
	[
		'holds a submodule',
		ground => {
			ground.work('update-index', '--add', '--cacheinfo', `160000,${ground.source.sha},sub`);
			ground.work('commit', '-qm', 'sub');
			mkdirSync(path.join(ground.paths.checkout, 'sub'));
			deliver(ground, 'issue-7');
		},
		'CACHE_WORKTREE_DIRTY',
		{deliveredBranch: 'issue-7'},
	],
	['has refs of its own', ({work}) => work('update-ref', 'refs/worktree/mine', 'HEAD'), 'CACHE_WORKTREE_UNDELIVERED', {deliveredBranch: 'main'}],
	['has no state', ({paths, root}) => renameSync(paths.state, path.join(root, 'state')), 'CACHE_WORKTREE_PARTIAL', {deliveredBranch: 'main'}],
	[
		'was exchanged for a link',
		({paths, root}) => renameSync(paths.checkout, path.join(root, 'checkout')),
		'CACHE_WORKTREE_MISMATCH',
		{deliveredBranch: 'main'},
	],
];

for (const [title, spoil, code, more = {}] of spoils) {
	test(`C-RM-2, C-RM-3: a worktree that ${title} is kept`, async t => {
		const ground = await workedGround(t);
		await spoil(ground);
		const {paths} = ground;
		const before = existsSync(paths.checkout) ? readdirSync(paths.checkout) : [];
		isRefused(t, await removeWorktree({...ground.request, ...more}), code);
		t.deepEqual(existsSync(paths.checkout) ? readdirSync(paths.checkout) : [], before);
		t.true(existsSync(`${paths.mirror}/worktrees/checkout/locked`), 'still registered and locked');
	});
}

test('C-RM-3: ignored files go only where a person says so', async t => {
	const ground = await workedGround(t);
	const {paths, request, work} = ground;
	writeFileSync(path.join(paths.checkout, '.gitignore'), 'out/\n');
	work('add', '.gitignore');
	work('commit', '-qm', 'ignore');
	mkdirSync(path.join(paths.checkout, 'out'));
	writeFileSync(path.join(paths.checkout, 'out/precious.txt'), '');
	deliver(ground, 'issue-7');
	const refused = await removeWorktree({...request, deliveredBranch: 'issue-7'});
	isRefused(t, refused, 'CACHE_WORKTREE_IGNORED');
	t.deepEqual(refused.worktree.ignored, ['out/']);
	t.true(existsSync(path.join(paths.checkout, 'out/precious.txt')));
	t.is((await removeWorktree({...request, deliveredBranch: 'issue-7', isDroppingIgnored: true})).status, 'ok');
});

test('C-RM-4: something foreign that appears in the issue’s directory stops the removal as partial, and stays', async t => {
	const ground = await workedGround(t);
	const {paths} = ground;
	const report = await removeWorktree({
		...ground.request,
		deliveredBranch: 'main',
		onStep: step => {
			if (step === 'removing') {
				writeFileSync(`${paths.issue}/notes.txt`, 'mine');
			}
		},
	});
	t.is(report.status, 'partial');
	t.is(report.error?.code, 'CACHE_WORKTREE_MISMATCH');
	t.deepEqual(readdirSync(paths.issue), ['notes.txt']);
	t.false(report.complete);
});

test('C-RM-4: where git refuses, the worktree is locked again and whole', async t => {
	const ground = await workedGround(t);
	const {paths} = ground;
	const report = await removeWorktree({
		...ground.request,
		deliveredBranch: 'main',
		onStep: step => {
			if (step === 'removing') {
				writeFileSync(path.join(paths.checkout, 'at-the-last-moment.txt'), 'mine');
			}
		},
	});
	t.is(report.error?.code, 'CACHE_GIT_FAILED');
	t.true(existsSync(path.join(paths.checkout, 'at-the-last-moment.txt')));
	t.is((await resumeWorktree(ground.request)).status, 'ok');
});

test('nothing is removed where nothing is', async t => {
	const ground = await worktreeGround(t);
	isRefused(t, await removeWorktree({...ground.request, deliveredBranch: 'main'}), 'CACHE_WORKTREE_ABSENT');
});
