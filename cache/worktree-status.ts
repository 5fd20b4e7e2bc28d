import {BailiffError} from '../core/errors.ts';
import {readAdmissionFor} from './admission.ts';
import {type AuthorityState, requireSameRepository} from './authority-state.ts';
import {type MirrorState, requireMirrorPlace} from './mirror-check.ts';
import {type CacheProblem, problemError, problemOf} from './report.ts';
import {isHeld} from './staging.ts';
import {asReady, type ReadyLook, requireReady, type WorktreeLook} from './worktree-look.ts';
import {writeWorktreeRecord} from './worktree-record.ts';
import type {WorktreeReport} from './worktree-report.ts';
import {judgeDrift, requireOwnRole, standingProblems} from './worktree-standing.ts';
import {inspectFor, lookFor, readAuthorityFor, readMirrorFor, type WorktreeRequest, type WorktreeWork, workOnWorktree} from './worktree-work.ts';

/** With `record` what is read is also written into the runtime of a workflow (C-DEL-1). */
export type StatusRequest = WorktreeRequest & {readonly record?: {readonly runId: string; readonly label: string}};

/**
 * Says what stands, without a lock and without a change; with a profile also what the authority says of the issue: `bailiff worktree status`.
 *
 * An absent or damaged worktree is an answer with its problems, no refusal; one whose mirror may not be opened is not looked at, and the report is not complete. Refuses (in the report): what root and authority refuse.
 * Source: authority.md section 6, C-HARD-3.
 */
export function worktreeStatus(request: StatusRequest): Promise<WorktreeReport> {
	return workOnWorktree('worktree status', request, async work => {
		const {draft} = work;
		const state = await readAuthorityFor(work);
		const mirror = await readStandingMirror(work, state);
		const {look, ready} = lookWhereRead(work, mirror);
		if (ready !== null && mirror !== null) {
			const found = await inspectFor(work, {admin: ready.admin, base: ready.stored.state.base_sha});
			draft.problems.push(...standingProblems(work.paths, ready, found).filter(({code}) => !draft.problems.some(known => known.code === code)));
		}

		if (state !== null) {
			await keepProblem(work, async () => readAdmissionFor(work, state));
			judgeAgainst(work, state, ready);
		}

		if (request.record !== undefined) {
			requireRecordable(work, look);
			writeWorktreeRecord(work.paths, draft.worktree, {...request.record, clock: request.clock});
		}

		draft.isComplete = look !== null;
		return 'ok';
	});
}

type Looked = {readonly look: WorktreeLook | null; readonly ready: ReadyLook | null};

/** Refs that were read mean that files and config of the mirror were found right: only then its list of worktrees was read, and git may open what belongs to it. */
function lookWhereRead(work: WorktreeWork, mirror: MirrorState | null): Looked {
	const {draft, paths} = work;
	const isRead = mirror === null ? draft.cache.state === 'absent' : mirror.refs !== null;
	if (!isRead) {
		return {look: null, ready: null};
	}

	const wasHeld = isHeld(paths.issueLock);
	const look = lookFor(work, mirror ?? {registrations: []});
	const isBusy = look.problems.length > 0 && (wasHeld || isHeld(paths.issueLock));
	draft.problems.push(...(isBusy ? look.problems.map(atWork) : look.problems));
	return {look, ready: asReady(look)};
}

/** What a create or remove at work leaves for a moment looks like what a killed one leaves: nobody is handed a command that would take its files away. */
function atWork(problem: CacheProblem): CacheProblem {
	return {
		...problem,
		message: `${problem.message}; the lock of the issue is held, so that this may be work that goes on: look again when it is free`,
		remedy: null,
	};
}

/** A record says what the worktree holds: there must be one that was looked at. */
function requireRecordable({paths, draft}: WorktreeWork, look: WorktreeLook | null): void {
	const [problem] = draft.problems;
	if (look !== null) {
		requireReady(paths, look);
	} else if (problem !== undefined) {
		throw problemError(problem, draft.problems.length - 1);
	}
}

/**
 * Names the checkout of an issue in its report, where it is whole: `bailiff worktree path`. Takes no lock, changes nothing.
 *
 * Refuses (in the report): CACHE_ABSENT, CACHE_WORKTREE_ABSENT and what is wrong with mirror or worktree.
 */
export function worktreePath(request: WorktreeRequest): Promise<WorktreeReport> {
	return workOnWorktree('worktree path', request, async work => {
		const {draft, paths} = work;
		requireMirrorPlace(paths);
		const mirror = await readMirrorFor(work, null);
		draft.stopOn(mirror.problems);
		const look = lookFor(work, mirror);
		draft.stopOn(look.problems);
		requireReady(paths, look);
		draft.isComplete = true;
		return 'ok';
	});
}

async function readStandingMirror(work: WorktreeWork, state: AuthorityState | null): Promise<MirrorState | null> {
	const {draft, paths} = work;
	try {
		requireMirrorPlace(paths);
	} catch (error) {
		if (error instanceof BailiffError && error.code === 'CACHE_ABSENT') {
			draft.cache.state = 'absent';
			return null;
		}

		draft.cache.state = 'unusable';
		addProblem(work, error);
		return null;
	}

	const mirror = await readMirrorFor(work, state);
	draft.problems.push(...mirror.problems);
	const {record} = mirror;
	if (state !== null && record !== null) {
		await keepProblem(work, async () => {
			requireSameRepository(record, state);
		});
	}

	return mirror;
}

function judgeAgainst(work: WorktreeWork, {profile}: AuthorityState, ready: ReadyLook | null): void {
	if (ready === null) {
		return;
	}

	judgeDrift(work.draft.issue, ready.stored);
	try {
		requireOwnRole(ready.stored, profile.role);
	} catch (error) {
		addProblem(work, error);
	}
}

async function keepProblem(work: WorktreeWork, read: () => Promise<unknown>): Promise<void> {
	try {
		await read();
	} catch (error) {
		addProblem(work, error);
	}
}

function addProblem({draft}: WorktreeWork, error: unknown): void {
	if (!(error instanceof BailiffError)) {
		throw error;
	}

	draft.problems.push(problemOf(error));
}
