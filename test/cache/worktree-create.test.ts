import {chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {issueBodySha256} from '../../cache/approval.ts';
import {type Authority, createWorktree, syncMirror} from '../../cache/index.ts';
import {BailiffError, type ErrorCode} from '../../core/errors.ts';
import {addLocalApproval, writeLocalIssue} from '../../publish/local/index.ts';
import {issueBody} from '../helpers/local-authority.ts';
import {isRefused, type WorktreeGround, workedGround, worktreeGround} from '../helpers/worktree-ground.ts';

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

/** Nothing of a worktree is there: not the directory of the issue, no registration, no branch. */
function isAbsent(t: ExecutionContext, {paths}: WorktreeGround): void {
	t.false(existsSync(paths.issue));
	t.false(existsSync(`${paths.mirror}/worktrees`));
}

/** The authority, whose answer for the issue is another one from the n-th time on. */
function changingIssue({authority}: WorktreeGround, fromCall: number): Authority {
	let calls = 0;
	return {
		...authority,
		issue: async (ref, number) => {
			const issue = await authority.issue(ref, number);
			calls++;
			return calls >= fromCall ? {...issue, updatedAt: '2030-01-01T00:00:00Z'} : issue;
		},
	};
}

for (const [title, fromCall] of [
	['between admission and creation', 2],
	['while the checkout was made', 3],
] as const) {
	test(`C-ADM-4, C-NEW-2: an issue that changes ${title} leaves nothing behind`, async t => {
		const ground = await worktreeGround(t);
		const authority = changingIssue(ground, fromCall);
		const report = await createWorktree({...ground.request, openAuthority: async () => ({profile: ground.profile, authority})});
		isRefused(t, report, 'CACHE_ISSUE_CHANGED');
		t.is(report.worktree.state, 'absent');
		isAbsent(t, ground);
	});
}

type Spoil = readonly [title: string, spoil: (ground: WorktreeGround) => unknown, code: ErrorCode];
const files = {title: 'Count words', login: 'maintainer', state: 'open'} as const;
const approval = {kind: 'implementation', login: 'maintainer', branch: null, headSha: null} as const;

const spoils: readonly Spoil[] = [
	[
		'the body was edited after the approval',
		async ({directory, target}) => writeLocalIssue({directory, target}, {...files, body: 'other'}),
		'CACHE_NOT_APPROVED',
	],
	[
		'the worker approved it',
		async ({directory, target}) => {
			await writeLocalIssue({directory, target}, {...files, body: 'other'});
			await addLocalApproval({directory, target}, {...approval, login: 'impl-agent', base: null});
		},
		'CACHE_NOT_APPROVED',
	],
	['it is closed', async ({directory, target}) => writeLocalIssue({directory, target}, {...files, body: issueBody, state: 'closed'}), 'CACHE_ISSUE_CLOSED'],
	['the mirror is behind the authority', ({commit}) => commit('second'), 'CACHE_DEFAULT_BRANCH_MISMATCH'],
	[
		'the mirror has a setting that is not ours',
		({paths}) => writeFileSync(`${paths.mirror}/config`, '[core]\n\tbare = false\n', {flag: 'a'}),
		'CACHE_FOREIGN_CONFIG',
	],
	['the mirror has a hook', ({paths}) => mkdirSync(`${paths.mirror}/hooks`), 'CACHE_FORBIDDEN_FILE'],
	['a git was killed in the mirror', ({paths}) => writeFileSync(`${paths.mirror}/packed-refs.lock`, ''), 'CACHE_STALE_GIT_LOCK'],
	['the mirror has a local branch', ({paths, source}) => writeFileSync(`${paths.mirror}/refs/heads/mine`, `${source.sha}\n`), 'CACHE_FOREIGN_REF'],
	[
		'replace refs stand in the mirror',
		({paths, source}) => {
			mkdirSync(`${paths.mirror}/refs/replace`, {recursive: true});
			writeFileSync(`${paths.mirror}/refs/replace/${source.sha}`, `${source.sha}\n`);
		},
		'CACHE_REPLACE_REF',
	],
	['worktrees has another mode', ({paths}) => mkdirSync(paths.worktrees, {mode: 0o755}), 'CACHE_PATH_UNTRUSTED'],
	['locks has another mode', ({paths}) => chmodSync(paths.locks, 0o755), 'CACHE_PATH_UNTRUSTED'],
	['there is no mirror', ({paths}) => rmSync(paths.repository, {recursive: true}), 'CACHE_ABSENT'],
	[
		'the repository has another id now',
		({directory}) => {
			const file = path.join(directory, 'acme/widget/repository.json');
			writeFileSync(file, readFileSync(file, 'utf8').replace(/"id": \d+/, '"id": 99'));
		},
		'CACHE_REPOSITORY_REPLACED',
	],
];

for (const [title, spoil, code] of spoils) {
	test(`C-ADM-1, C-FC: no worktree is made where ${title}`, async t => {
		const ground = await worktreeGround(t);
		await spoil(ground);
		isRefused(t, await createWorktree(ground.request), code);
		t.false(existsSync(ground.paths.checkout));
		t.false(existsSync(ground.paths.state));
	});
}

test('C-ADM-2: where default branch and approval differ nobody but a person chooses, and only one of the two', async t => {
	const ground = await worktreeGround(t);
	const {directory, target, source, request, work} = ground;
	const first = source.sha;
	const second = ground.commit('second');
	t.is((await syncMirror(ground.mirror.request)).status, 'ok');
	await addLocalApproval({directory, target}, {...approval, base: first});
	const ambiguous = await createWorktree(request);
	isRefused(t, ambiguous, 'CACHE_BASE_AMBIGUOUS');
	t.like(ambiguous.problems[0]?.details, {
		default_branch_sha: second,
		approved_base: first,
		ancestry: 'approved-is-ancestor',
		only_default: 1,
		only_approved: 0,
	});
	for (const chosen of [
		{sha: first, source: 'default-branch'},
		{sha: second, source: 'discovery'},
		{sha: 'f'.repeat(40), source: 'discovery'},
	] as const) {
		isRefused(t, await createWorktree({...request, chosen}), 'CACHE_BASE_WITHOUT_AUTHORITY');
	}

	isRefused(t, await createWorktree({...request, chosen: {sha: 'main', source: 'discovery'}}), 'CORE_ID_COMMIT');
	const report = await createWorktree({...request, chosen: {sha: first, source: 'discovery'}});
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.like(report.worktree, {base_sha: first, base_source: 'discovery', head_sha: first});
	t.is(work('rev-parse', 'HEAD').trim(), first);
});

test('C-ADM-2, C-HARD-7: an approved base that the mirror does not have is no base', async t => {
	const ground = await worktreeGround(t);
	const {directory, target} = ground;
	await addLocalApproval({directory, target}, {...approval, base: 'f'.repeat(40)});
	const report = await createWorktree({...ground.request, chosen: {sha: 'f'.repeat(40), source: 'discovery'}});
	isRefused(t, report, 'CACHE_OBJECT_INVALID');
});

test('C-RM-1, C-RM-2: where the new checkout is not as it was made, it stays and the report says partial', async t => {
	const ground = await worktreeGround(t);
	const {paths, authority, profile} = ground;
	let calls = 0;
	const dirtying: Authority = {
		...authority,
		issue: async (ref, number) => {
			calls++;
			if (calls === 3) {
				writeFileSync(path.join(paths.checkout, 'somebody-elses.txt'), 'work\n');
			}

			return authority.issue(ref, number);
		},
	};
	const report = await createWorktree({...ground.request, openAuthority: async () => ({profile, authority: dirtying})});
	t.is(report.status, 'partial');
	t.is(report.error?.code, 'CACHE_WORKTREE_MISMATCH');
	t.true(report.problems.some(({code}) => code === 'CACHE_WORKTREE_PARTIAL'));
	t.is(readFileSync(path.join(paths.checkout, 'somebody-elses.txt'), 'utf8'), 'work\n');
	t.true(existsSync(paths.state));
	t.false(report.complete);
});

test('C-LOCK-6: an interrupt while git makes the checkout leaves nothing, and the locks free', async t => {
	const ground = await worktreeGround(t);
	const controller = new AbortController();
	const report = await createWorktree({
		...ground.request,
		signal: controller.signal,
		onStep: step => {
			if (step === 'creating') {
				controller.abort(new BailiffError('CLI_INTERRUPTED', 'SIGINT arrived'));
			}
		},
	});
	isRefused(t, report, 'CLI_INTERRUPTED');
	isAbsent(t, ground);
	const again = await createWorktree(ground.request);
	t.is(again.status, 'ok', JSON.stringify(again.error));
});
