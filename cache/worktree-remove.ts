import {readdirSync} from 'node:fs';
import {BailiffError} from '../core/errors.ts';
import {type AuthorityState, requireSameRepository} from './authority-state.ts';
import {asSound} from './mirror-check.ts';
import {placeProblem} from './mirror-problem.ts';
import {readRegistrations} from './registrations.ts';
import type {CacheProblem} from './report.ts';
import {statusIfThere} from './trust.ts';
import type {Inspection} from './worktree-inspect.ts';
import {lookAtWorktree, type ReadyLook, requireReady} from './worktree-look.ts';
import {leaveIssueDirectory, removeByGit, removeStateFiles} from './worktree-removal.ts';
import type {WorktreeDraft, WorktreeReport} from './worktree-report.ts';
import {requireOwnRole, standingProblems} from './worktree-standing.ts';
import {
	type InspectedWorktree,
	inspectFor,
	lookFor,
	readMirrorFor,
	requireAuthorityFor,
	takeIssueLock,
	takeRepositoryLock,
	type WorktreeRequest,
	type WorktreeWork,
	workOnWorktree,
} from './worktree-work.ts';

/** How a person says that nothing is lost: the branch that the authority has the head on, or the exact head that may go. */
export type RemoveRequest = WorktreeRequest & {
	readonly deliveredBranch?: string | null;
	readonly discard?: string | null;
	readonly isDroppingIgnored?: boolean;
};

/**
 * Removes the worktree of an issue, by git and never forced: `bailiff worktree remove`. Evidence and runtime of the issue stay.
 *
 * What would be lost is read and shown first. Refuses (in the report): CACHE_WORKTREE_DIRTY, _HIDDEN, _UNFINISHED, _IGNORED, _UNDELIVERED, _ABSENT and what is
 * wrong with worktree, mirror or authority; once something is removed, `partial`. Source: C-RM-2, C-RM-3, C-RM-4, C-DEL-3.
 */
export function removeWorktree(request: RemoveRequest): Promise<WorktreeReport> {
	return workOnWorktree('worktree remove', request, async work => {
		const {draft, paths} = work;
		const issue = await takeIssueLock(work);
		const state = await requireAuthorityFor(work);
		const repository = await takeRepositoryLock(work);
		const {ready, found} = await readRemovable(work, state);
		await readDelivery(work, state, request.deliveredBranch ?? null);
		draft.stopOn(losses(work, ready, found));
		requireWord(work, request);
		await removeByGit(work, {issue, repository});
		removeStateFiles(paths);
		const left = leaveIssueDirectory(paths);
		draft.evidence = {...draft.evidence, kept: left.isKept};
		draft.stopOn(left.problems);
		await proveAbsence(work);
		draft.worktree.state = 'removed';
		draft.worktree.locked = null;
		draft.isComplete = true;
		return 'ok';
	});
}

async function readRemovable(work: WorktreeWork, state: AuthorityState): Promise<{readonly ready: ReadyLook; readonly found: InspectedWorktree}> {
	const {draft, paths} = work;
	const mirror = await readMirrorFor(work, state);
	draft.stopOn(mirror.problems);
	requireSameRepository(asSound(mirror).record, state);
	const look = lookFor(work, mirror);
	draft.stopOn(look.problems);
	const ready = requireReady(paths, look);
	requireOwnRole(ready.stored, state.profile.role);
	return {ready, found: await inspectFor(work, {admin: ready.admin, base: ready.stored.state.base_sha})};
}

/** Reads the branch back from the authority, by both of its readers. Source: C-DEL-3. */
async function readDelivery({draft, request}: WorktreeWork, state: AuthorityState, branch: string | null): Promise<void> {
	const head = draft.worktree.head_sha;
	if (branch === null || head === null) {
		return;
	}

	const [found, witness] = await Promise.all([
		state.authority.branch(request.target, branch),
		state.authority.witnessRef(state.repository, `refs/heads/${branch}`),
	]);
	draft.delivery = {branch, provider_sha: found.sha, local_sha: head, equal: found.sha === head};
	if (draft.delivery.equal) {
		// The mirror may not have been refreshed since: the authority's word is the newer one.
		draft.worktree.undelivered_commits = 0;
	}

	if (witness !== found.sha) {
		throw new BailiffError(
			'CACHE_WITNESS_MISMATCH',
			`the authority has ${branch} at ${found.sha}, the second reader sees ${witness ?? 'no such ref'}: look at the remote`,
			{
				details: {branch, sha: found.sha, witness},
			},
		);
	}
}

/** What no word lifts, and ignored files, which one does. History that was rewritten is no loss where exactly this head is delivered or let go. */
function losses({request, paths}: WorktreeWork & {readonly request: RemoveRequest}, ready: ReadyLook, found: InspectedWorktree): CacheProblem[] {
	const {inspection} = found;
	const place = `worktrees/issue-${paths.target.issue}/checkout`;
	const {staged, unstaged, untracked, ignored} = inspection.counts;
	const faults: ReadonlyArray<readonly [boolean, CacheProblem['code'], string]> = [
		[
			staged + unstaged + untracked > 0,
			'CACHE_WORKTREE_DIRTY',
			`the worktree holds ${staged} staged, ${unstaged} changed and ${untracked} untracked files: commit them, or remove them yourself`,
		],
		[
			hasSubmodules(inspection),
			'CACHE_WORKTREE_DIRTY',
			'the worktree holds submodules, whose content nobody judges here: git refuses to remove it, and it is never forced',
		],
		[
			(inspection.hidden_flags ?? []).length > 0,
			'CACHE_WORKTREE_HIDDEN',
			'files are marked assume-unchanged or skip-worktree, so that changes in them would not show: take the marks away and look again',
		],
		[
			ignored > 0 && request.isDroppingIgnored !== true,
			'CACHE_WORKTREE_IGNORED',
			`the worktree holds ${ignored} ignored files or directories, which git deletes without a word: look at them, then give --drop-ignored`,
		],
		[
			hasPrivateRefs(ready),
			'CACHE_WORKTREE_UNDELIVERED',
			'the worktree has refs of its own (refs/worktree, refs/bisect), which would be lost: delete them there',
		],
	];
	return [
		...faults.filter(([isFault]) => isFault).map(([, code, message]) => placeProblem(code, place, message)),
		...standingProblems(paths, ready, found).filter(({code}) => code !== 'CACHE_HISTORY_REWRITTEN'),
	];
}

/** Source: C-RM-3. Refuses: CACHE_WORKTREE_UNDELIVERED. */
function requireWord({draft}: WorktreeWork, request: RemoveRequest): void {
	const {head_sha: head, commits_after_base: after, undelivered_commits: undelivered} = draft.worktree;
	const isLetGo = typeof request.discard === 'string' && request.discard === head;
	if (draft.delivery?.equal !== true && !isLetGo) {
		throw new BailiffError('CACHE_WORKTREE_UNDELIVERED', undeliveredText(draft, request), {
			details: {head_sha: head, commits_after_base: after, undelivered_commits: undelivered},
		});
	}
}

function undeliveredText({worktree, delivery}: WorktreeDraft, {discard}: RemoveRequest): string {
	const head = worktree.head_sha ?? 'no commit';
	if (delivery !== null) {
		return `${delivery.branch} is at ${delivery.provider_sha ?? 'no commit'} at the authority, HEAD is at ${head}: deliver HEAD first`;
	}

	return typeof discard === 'string'
		? `--discard names ${discard}, HEAD is at ${head}: exactly the head is named, so that nothing unseen is lost`
		: `HEAD ${head} has ${worktree.undelivered_commits ?? 0} commits that the authority does not have: name the branch that has it with --delivered-branch B, or let exactly it go with --discard ${head}`;
}

async function proveAbsence({request, paths}: WorktreeWork): Promise<void> {
	const {word} = lookAtWorktree(paths, await readRegistrations(request.git, paths));
	if (word !== 'absent') {
		throw new BailiffError('CACHE_WORKTREE_MISMATCH', `after the removal the worktree is still ${word}`);
	}
}

function hasSubmodules({gitlinks}: Inspection): boolean {
	return (gitlinks ?? []).length > 0;
}

function hasPrivateRefs({admin}: ReadyLook): boolean {
	const refs = `${admin.path}/refs`;
	return statusIfThere(refs) !== null && readdirSync(refs, {recursive: true, withFileTypes: true}).some(entry => !entry.isDirectory());
}
