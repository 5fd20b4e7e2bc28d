import {existsSync, lstatSync, readdirSync, readFileSync} from 'node:fs';
import test from 'ava';
import {issueBodySha256} from '../../cache/approval.ts';
import {createWorktree} from '../../cache/index.ts';
import {issueBody} from '../helpers/local-authority.ts';
import {isRefused, workedGround, worktreeGround} from '../helpers/worktree-ground.ts';

test('C-NEW: a worktree is detached at the base, locked, clean, private, and its state names exactly what it rests on', async t => {
	const ground = await worktreeGround(t);
	const {paths, request, work} = ground;
	const report = await createWorktree(request);
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.true(report.complete);
	t.deepEqual(report.locks, ['issue', 'repository']);
	t.deepEqual(report.problems, []);
	t.like(report.worktree, {
		path: paths.checkout,
		state: 'ready',
		reused: false,
		locked: true,
		detached: true,
		base_sha: ground.source.sha,
		base_source: 'default-branch',
		head_sha: ground.source.sha,
		commits_after_base: 0,
		undelivered_commits: 0,
		counts: {staged: 0, unstaged: 0, untracked: 0, ignored: 0},
	});
	const issue = await ground.authority.issue(ground.target, 7);
	t.deepEqual(JSON.parse(readFileSync(paths.state, 'utf8')), {
		schema: 'gitea-agent.worktree/v1',
		owner: 'acme',
		repository: 'widget',
		issue: 7,
		base_sha: ground.source.sha,
		issue_updated_at: issue.updatedAt,
		issue_body_sha256: issueBodySha256({body: issueBody}),
		created_by_role: 'impl-agent',
		mode: 'detached',
	});
	t.deepEqual(readdirSync(paths.issue).toSorted(), ['checkout', 'state.json']);
	for (const [place, mode] of [
		[paths.worktrees, 0o700],
		[paths.issue, 0o700],
		[paths.checkout, 0o700],
		[paths.state, 0o600],
	] as const) {
		t.is(lstatSync(place).mode & 0o7777, mode, place);
	}

	t.is(work('rev-parse', 'HEAD').trim(), ground.source.sha);
	t.throws(() => work('symbolic-ref', '-q', 'HEAD'));
	t.is(work('for-each-ref', '--format=%(refname)').trim(), 'refs/heads/main', 'no local branch is ever made (C-WT-2)');
});

test('C-WT-1: there is one worktree per issue', async t => {
	const ground = await workedGround(t);
	const before = readFileSync(ground.paths.state);
	const report = await createWorktree(ground.request);
	isRefused(t, report, 'CACHE_WORKTREE_EXISTS');
	t.deepEqual(readFileSync(ground.paths.state), before);
	t.true(existsSync(ground.paths.checkout));
});
