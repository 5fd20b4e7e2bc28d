import {BailiffError} from '../core/errors.ts';
import {readAdmissionFor, requireAgreeingMirror, requireUnchanged} from './admission.ts';
import type {Admission} from './approval.ts';
import type {WorktreeReport} from './worktree-report.ts';
import {requireResumable} from './worktree-resume.ts';
import {judgeDrift} from './worktree-standing.ts';
import {readWorktreeState, renewWorktreeState, type StoredState, type WorktreeState} from './worktree-state.ts';
import {requireAuthorityFor, takeIssueLock, takeRepositoryLock, type WorktreeRequest, type WorktreeWork, workOnWorktree} from './worktree-work.ts';

/** Which state a person has looked at. */
export type RenewRequest = WorktreeRequest & {readonly expectedStateSha256: string};

/**
 * Puts the snapshot of a freshly approved issue in the place of the old one, which is kept: `bailiff worktree renew`. Base, HEAD and files stay.
 *
 * Refuses (in the report): as resume, without the drift; CACHE_NOT_APPROVED; CACHE_STATE_CHANGED where the state is not the one that was looked at;
 * CACHE_BASE_AMBIGUOUS where the new approval names another base. Source: C-REUSE-3, C-ADM-4.
 */
export function renewWorktree(request: RenewRequest): Promise<WorktreeReport> {
	return workOnWorktree('worktree renew', request, async work => {
		const {draft, paths} = work;
		const issue = await takeIssueLock(work);
		const state = await requireAuthorityFor(work);
		const admission = await readAdmissionFor(work, state);
		const repository = await takeRepositoryLock(work);
		const mirror = await requireAgreeingMirror(work, state);
		const {ready} = await requireResumable(work, {state, mirror});
		const {stored} = ready;
		requireExpected(stored, request.expectedStateSha256);
		requireSameBase(stored, admission);
		const next = nextState(stored, admission);
		judgeDrift(draft.issue, stored);
		await requireUnchanged(work, state, admission);
		if (draft.issue.drift !== null) {
			issue.assertHeld();
			repository.assertHeld();
			draft.isChanged = true;
			renewWorktreeState(paths, stored, next);
		}

		await proveRenewal(work, next);
		draft.worktree.reused = true;
		draft.isComplete = true;
		return 'ok';
	});
}

function requireExpected(stored: StoredState, expected: string): void {
	if (stored.sha256 !== expected) {
		throw new BailiffError('CACHE_STATE_CHANGED', `state.json has the digest ${stored.sha256}, not ${expected}: look at it again`, {
			details: {sha256: stored.sha256, expected},
		});
	}
}

/** A worktree stays at the base that it was made at; an approval of another one asks for another worktree. */
function requireSameBase({state}: StoredState, {approvedBase}: Admission): void {
	if (approvedBase !== null && approvedBase !== state.base_sha) {
		throw new BailiffError(
			'CACHE_BASE_AMBIGUOUS',
			`the worktree was made at ${state.base_sha}, the new approval names ${approvedBase}: have it approved for this base, or remove the worktree and make it anew`,
			{details: {base_sha: state.base_sha, approved_base: approvedBase}},
		);
	}
}

function nextState({state}: StoredState, {snapshot}: Admission): WorktreeState {
	return {...state, issue_updated_at: snapshot.updatedAt, issue_body_sha256: snapshot.bodySha256};
}

async function proveRenewal({paths, draft}: WorktreeWork, next: WorktreeState): Promise<void> {
	const now = readWorktreeState(paths);
	if (JSON.stringify(now.state) !== JSON.stringify(next)) {
		throw new BailiffError('CACHE_STATE_CHANGED', 'state.json does not hold what was written just now: somebody else writes there', {
			details: {sha256: now.sha256},
		});
	}

	judgeDrift(draft.issue, now);
}
