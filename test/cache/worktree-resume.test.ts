import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {resumeWorktree, syncMirror, worktreePath, worktreeStatus} from '../../cache/index.ts';
import type {ErrorCode} from '../../core/errors.ts';
import {addLocalApproval, writeLocalIssue} from '../../publish/local/index.ts';
import {gitAsWorker, isRefused, type WorktreeGround, workedGround, worktreeGround} from '../helpers/worktree-ground.ts';

const files = {title: 'Count words', login: 'maintainer', state: 'open'} as const;

test('C-REUSE-2: dirty files, untracked files and commits are work, and stay as they are', async t => {
	const ground = await workedGround(t);
	const {paths, work} = ground;
	writeFileSync(path.join(paths.checkout, 'b.txt'), 'b\n');
	work('add', 'b.txt');
	work('commit', '-qm', 'more');
	writeFileSync(path.join(paths.checkout, 'a.txt'), 'changed\n');
	writeFileSync(path.join(paths.checkout, 'loose.txt'), '');
	const before = work('status', '--porcelain');
	const report = await resumeWorktree(ground.request);
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.like(report.worktree, {state: 'ready', reused: true, base_is_ancestor: true, commits_after_base: 1, undelivered_commits: 1});
	t.is(report.worktree.head_sha, work('rev-parse', 'HEAD').trim());
	t.deepEqual(report.worktree.counts, {staged: 0, unstaged: 1, untracked: 1, ignored: 0});
	t.is(work('status', '--porcelain'), before);
	t.true(report.complete);
});

test('C-WT-3: commits on the detached HEAD outlive a sync that prunes, and a repack', async t => {
	const ground = await workedGround(t);
	const {paths, work} = ground;
	writeFileSync(path.join(paths.checkout, 'b.txt'), 'b\n');
	work('add', 'b.txt');
	work('commit', '-qm', 'more');
	const head = work('rev-parse', 'HEAD').trim();
	ground.commit('second');
	t.is((await syncMirror(ground.mirror.request)).status, 'ok');
	gitAsWorker(paths.mirror, ['gc', '-q', '--prune=now']);
	const report = await resumeWorktree(ground.request);
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.is(report.worktree.head_sha, head);
	t.is(work('show', 'HEAD:b.txt'), 'b\n');
});

type Spoil = readonly [title: string, spoil: (ground: WorktreeGround) => unknown, code: ErrorCode];

const spoils: readonly Spoil[] = [
	['a branch is checked out', ({work}) => work('switch', '-qc', 'mine'), 'CACHE_WORKTREE_ATTACHED'],
	[
		'a stash was made',
		({paths, work}) => {
			writeFileSync(path.join(paths.checkout, 'a.txt'), 'changed\n');
			work('stash');
		},
		'CACHE_FOREIGN_REF',
	],
	['a tag was made', ({work}) => work('tag', 'mine'), 'CACHE_FOREIGN_REF'],
	['the history was rewritten', ({work}) => work('commit', '-q', '--amend', '--allow-empty', '-m', 'other'), 'CACHE_HISTORY_REWRITTEN'],
	[
		'a merge was begun',
		({paths, source}) => {
			writeFileSync(`${paths.mirror}/worktrees/checkout/MERGE_HEAD`, `${source.sha}\n`);
		},
		'CACHE_WORKTREE_UNFINISHED',
	],
	[
		'a git was killed',
		({paths}) => {
			writeFileSync(`${paths.mirror}/worktrees/checkout/index.lock`, '');
		},
		'CACHE_STALE_GIT_LOCK',
	],
	['it is not locked', ({work, paths}) => work('worktree', 'unlock', paths.checkout), 'CACHE_WORKTREE_UNLOCKED'],
	['somebody set a name in the mirror', ({work}) => work('config', 'user.name', 'x'), 'CACHE_FOREIGN_CONFIG'],
	['the default branch moved and the mirror was not synced', ({commit}) => commit('second'), 'CACHE_DEFAULT_BRANCH_MISMATCH'],
	['the issue was closed', async ({directory, target}) => writeLocalIssue({directory, target}, {...files, body: 'x', state: 'closed'}), 'CACHE_ISSUE_CLOSED'],
];

for (const [title, spoil, code] of spoils) {
	test(`C-REUSE-1: resume refuses where ${title}`, async t => {
		const ground = await workedGround(t);
		await spoil(ground);
		const report = await resumeWorktree(ground.request);
		isRefused(t, report, code);
		t.not(report.worktree.state, 'absent', 'nobody is told that a worktree is not there because something before it refused');
		t.true(report.locks.includes('issue'));
	});
}

test('C-REUSE-1: another role does not go on with a worktree', async t => {
	const ground = await workedGround(t);
	const {profile, authority} = ground;
	const report = await resumeWorktree({...ground.request, openAuthority: async () => ({profile: {...profile, role: 'other'}, authority})});
	isRefused(t, report, 'CACHE_ROLE_MISMATCH');
});

test('C-REUSE-1: where there is no worktree, or no mirror, nothing is resumed', async t => {
	const ground = await worktreeGround(t);
	isRefused(t, await resumeWorktree(ground.request), 'CACHE_WORKTREE_ABSENT');
	isRefused(t, await worktreePath(ground.request), 'CACHE_WORKTREE_ABSENT');
	const status = await worktreeStatus(ground.request);
	t.like(status, {status: 'ok', complete: true, worktree: {state: 'absent'}});
	const elsewhere = {...ground.request, target: {...ground.target, repository: 'gadget'}};
	isRefused(t, await resumeWorktree(elsewhere), 'CACHE_ABSENT');
	const absent = await worktreeStatus({...elsewhere, openAuthority: async () => Promise.reject(new Error('not asked'))}).catch((error: unknown) => error);
	t.true(absent instanceof Error);
});

test('C-REUSE-2: an issue whose body changed is shown with both snapshots, the new criteria, the commits and the digest to renew', async t => {
	const ground = await workedGround(t);
	const {directory, target, work} = ground;
	work('commit', '-q', '--allow-empty', '-m', 'rests on the old body');
	await writeLocalIssue({directory, target}, {...files, body: 'New\n- [ ] counts words\n- [x] counts lines\n'});
	const unapproved = await resumeWorktree(ground.request);
	isRefused(t, unapproved, 'CACHE_ISSUE_DRIFT');
	const details = unapproved.problems[0]?.details ?? {};
	t.deepEqual(details['acceptance_criteria'], ['- [ ] counts words', '- [x] counts lines']);
	t.regex(JSON.stringify(details['commits']), /rests on the old body/);
	t.like(details, {old: {body_sha256: unapproved.issue.drift?.old.body_sha256}, new: {body_sha256: unapproved.issue.body_sha256}});
	t.regex(unapproved.problems[0]?.remedy ?? '', /worktree renew .*--expect-state-sha256 [0-9a-f]{64}/);
	// A fresh approval alone does not hide the drift.
	await addLocalApproval({directory, target}, {kind: 'implementation', login: 'maintainer', base: null, branch: null, headSha: null});
	isRefused(t, await resumeWorktree(ground.request), 'CACHE_ISSUE_DRIFT');
});

test('C-REUSE-1: a later time alone is shown and is no other task', async t => {
	const ground = await workedGround(t);
	const {directory, target} = ground;
	const {body} = await ground.authority.issue(target, 7);
	await writeLocalIssue({directory, target}, {...files, title: 'Another title', body});
	const report = await resumeWorktree(ground.request);
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.not(report.issue.drift, null);
	t.is(report.issue.drift?.old.body_sha256, report.issue.drift?.new.body_sha256);
});

test('C-DEL-1: status --record writes what it saw, privately and once', async t => {
	const ground = await workedGround(t);
	const record = {runId: 'w-1', label: 'before'};
	const report = await worktreeStatus({...ground.request, record});
	t.is(report.status, 'ok', JSON.stringify(report.error));
	isRefused(t, await worktreeStatus({...ground.request, record}), 'CACHE_RECORD_EXISTS');
	isRefused(t, await worktreeStatus({...ground.request, record: {...record, label: '../x'}}), 'CORE_ID_RUN');
	mkdirSync(path.join(ground.base, 'unused'));
	t.is((await worktreePath(ground.request)).status, 'ok');
});
