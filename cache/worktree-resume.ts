import {BailiffError} from '../core/errors.ts';
import {readAdmissionFor, requireAgreeingMirror, requireUnchanged} from './admission.ts';
import type {Admission} from './approval.ts';
import type {AuthorityState} from './authority-state.ts';
import type {SoundMirror} from './mirror-check.ts';
import {type ReadyLook, requireReady} from './worktree-look.ts';
import type {WorktreeReport} from './worktree-report.ts';
import {issueDrift, judgeDrift, requireOwnRole, standingProblems} from './worktree-standing.ts';
import {
	type InspectedWorktree,
	inspectFor,
	lookFor,
	requireAuthorityFor,
	takeIssueLock,
	takeRepositoryLock,
	type WorktreeRequest,
	type WorktreeWork,
	workOnWorktree,
} from './worktree-work.ts';

/** A worktree that may be gone on with. */
export type Resumable = {readonly ready: ReadyLook; readonly found: InspectedWorktree; readonly mirror: SoundMirror};

/**
 * Proves that the worktree of an issue may be gone on with, as it is: `bailiff worktree resume`. Nothing in it is ever cleaned or moved.
 *
 * Refuses (in the report): CACHE_ codes of root, mirror, authority and approval; CACHE_WORKTREE_ABSENT and what is wrong with the worktree;
 * CACHE_ISSUE_DRIFT where the body of the issue is another one. Source: C-ADM-1..4, C-REUSE-1, C-REUSE-2.
 */
export function resumeWorktree(request: WorktreeRequest): Promise<WorktreeReport> {
	return workOnWorktree('worktree resume', request, async work => {
		const {draft} = work;
		await takeIssueLock(work);
		const state = await requireAuthorityFor(work);
		const admission = await tryAdmission(work, state);
		await takeRepositoryLock(work);
		const mirror = await requireAgreeingMirror(work, state);
		const {ready} = await requireResumable(work, {state, mirror});
		if (judgeDrift(draft.issue, ready.stored)) {
			throw await issueDrift(work, ready.stored, await state.authority.issue(work.request.target, work.request.target.issue));
		}

		if (admission instanceof BailiffError) {
			throw admission;
		}

		await requireUnchanged(work, state, admission);
		draft.worktree.reused = true;
		draft.isComplete = true;
		return 'ok';
	});
}

/**
 * Holds a worktree to everything that going on with it asks for, apart from the issue.
 *
 * Both locks must be held. Refuses: CACHE_WORKTREE_ABSENT, _PARTIAL, _MISMATCH, _RELOCATED, _UNLOCKED, _ATTACHED, _UNFINISHED, CACHE_STALE_GIT_LOCK,
 * CACHE_HISTORY_REWRITTEN, CACHE_ROLE_MISMATCH, CACHE_STATE_INVALID, CACHE_PATH_UNTRUSTED. Source: C-REUSE-1.
 */
export async function requireResumable(
	work: WorktreeWork,
	{state, mirror}: {readonly state: Pick<AuthorityState, 'profile'>; readonly mirror: SoundMirror},
): Promise<Resumable> {
	const {paths, draft} = work;
	const look = lookFor(work, mirror);
	draft.stopOn(look.problems);
	const ready = requireReady(paths, look);
	requireOwnRole(ready.stored, state.profile.role);
	const found = await inspectFor(work, {admin: ready.admin, base: ready.stored.state.base_sha});
	draft.stopOn(standingProblems(paths, ready, found));
	return {ready, found, mirror};
}

/** An issue that was edited has no approval for its new body yet: that it drifted is the better answer, if it did. */
async function tryAdmission(work: WorktreeWork, state: AuthorityState): Promise<Admission | BailiffError> {
	try {
		return await readAdmissionFor(work, state);
	} catch (error) {
		if (error instanceof BailiffError && error.code === 'CACHE_NOT_APPROVED') {
			return error;
		}

		throw error;
	}
}
