import {BailiffError} from '../core/errors.ts';
import type {Issue} from './authority.ts';
import type {Git} from './git-command.ts';
import type {IssuePaths} from './layout.ts';
import {commandLine, placeProblem} from './mirror-problem.ts';
import type {CacheProblem} from './report.ts';
import type {ReadyLook} from './worktree-look.ts';
import type {ReportIssue} from './worktree-report.ts';
import type {StoredState} from './worktree-state.ts';
import type {InspectedWorktree, WorktreeWork} from './worktree-work.ts';

const maxCommits = 100;
const maxBodyCharacters = 20_000;

/**
 * What keeps a worktree from being gone on with: a branch instead of a detached HEAD, an unfinished operation, leftovers of a killed git, a history from
 * which the base is gone. Changes and commits are no fault.
 *
 * Source: C-REUSE-1, C-REUSE-2, C-WT-2.
 */
export function standingProblems(paths: IssuePaths, {admin}: Pick<ReadyLook, 'admin'>, {inspection, standing}: InspectedWorktree): CacheProblem[] {
	const place = `worktrees/issue-${paths.target.issue}/checkout`;
	const inGit = commandLine(['git', `--git-dir=${admin.path}`, `--work-tree=${paths.checkout}`]);
	const problems: CacheProblem[] = [];
	if (inspection.head_sha === null) {
		problems.push(
			placeProblem('CACHE_WORKTREE_ATTACHED', place, 'HEAD names a branch, a worktree of bailiff is detached', {remedy: `${inGit} switch --detach`}),
		);
	}

	if (inspection.unfinished !== null) {
		problems.push(placeProblem('CACHE_WORKTREE_UNFINISHED', place, `a ${inspection.unfinished} was begun and not finished: finish or abort it there`));
	}

	for (const name of inspection.git_locks ?? []) {
		const file = `${admin.path}/${name}`;
		problems.push(
			placeProblem(
				'CACHE_STALE_GIT_LOCK',
				`repository.git/worktrees/${admin.name}/${name}`,
				'a git that worked in the worktree was killed and left its lock file',
				{
					remedy: commandLine(['rm', '--', file]),
				},
			),
		);
	}

	if (standing?.base_is_ancestor === false) {
		problems.push(
			placeProblem(
				'CACHE_HISTORY_REWRITTEN',
				place,
				`the base is no ancestor of HEAD ${inspection.head_sha ?? ''} any more: the history was rewritten there, and is never rewritten by bailiff`,
			),
		);
	}

	return problems;
}

/** The role that made a worktree goes on with it. Refuses: CACHE_ROLE_MISMATCH. Source: C-REUSE-1, C-FC. */
export function requireOwnRole({state}: StoredState, role: string): void {
	if (state.created_by_role !== role) {
		throw new BailiffError(
			'CACHE_ROLE_MISMATCH',
			`the worktree was made by role ${state.created_by_role}, the profile is for ${role}: use the profile of that role`,
			{
				details: {created_by_role: state.created_by_role, role},
			},
		);
	}
}

/**
 * Compares the issue as it is now with the state's snapshot and says so in the report.
 *
 * True: the body is another one. A later `updated_at` alone (a comment, a label) is shown and is no other task. Source: C-REUSE-1, C-REUSE-2.
 */
export function judgeDrift(issue: ReportIssue, {state}: StoredState): boolean {
	const {updated_at: updatedAt, body_sha256: bodySha256} = issue;
	if (updatedAt === null || bodySha256 === null) {
		return false;
	}

	const isOtherBody = bodySha256 !== state.issue_body_sha256;
	issue.drift =
		isOtherBody || updatedAt !== state.issue_updated_at
			? {old: {updated_at: state.issue_updated_at, body_sha256: state.issue_body_sha256}, new: {updated_at: updatedAt, body_sha256: bodySha256}}
			: null;
	return isOtherBody;
}

/**
 * The refusal that lets a person judge a drift: both snapshots, the new body with its acceptance criteria, and the commits that rest on the old one.
 *
 * The old text itself is known only by its digest: state.json holds no more (C-WT-6). Source: C-REUSE-2, C-REUSE-3.
 */
export async function issueDrift(work: WorktreeWork, stored: StoredState, issue: Issue): Promise<BailiffError> {
	const {paths, draft, request} = work;
	const {drift, number} = draft.issue;
	const {head_sha: head, base_sha: base} = draft.worktree;
	const target = `${paths.name.owner}/${paths.name.repository}#${number}`;
	return new BailiffError(
		'CACHE_ISSUE_DRIFT',
		`the body of issue ${number} is not the one that the worktree was made for: compare both, have the new one approved, then renew the state`,
		{
			details: {
				old: drift === null ? null : {...drift.old},
				new: drift === null ? null : {...drift.new},
				acceptance_criteria: issue.body.split(/\r?\n/).filter(line => /^\s*[-*] \[[ xX]\] /.test(line)),
				body: issue.body.slice(0, maxBodyCharacters),
				commits: head === null || base === null ? [] : await commitsBetween(request.git, paths.mirror, `${base}..${head}`),
				state_sha256: stored.sha256,
				remedy: `${commandLine(['bailiff', 'worktree', 'renew', '--root', paths.root, '--target', target, '--expect-state-sha256', stored.sha256])} --profile DIR`,
			},
		},
	);
}

async function commitsBetween(git: Git, mirror: string, range: string): Promise<string[]> {
	const {stdout} = await git.run({command: ['log', '--format=%H %s', `--max-count=${maxCommits}`, range, '--'], gitDir: mirror});
	return stdout
		.toString('utf8')
		.split('\n')
		.filter(line => line !== '');
}
