import {BailiffError} from '../core/errors.ts';
import {admitBase, readAdmissionFor, requireAgreeingMirror, requireUnchanged} from './admission.ts';
import type {Admission} from './approval.ts';
import type {AuthorityState} from './authority-state.ts';
import type {Base} from './base-choice.ts';
import {descriptorsOf} from './lock-session.ts';
import {commandLine, placeProblem} from './mirror-problem.ts';
import {readRegistrations} from './registrations.ts';
import {type CacheProblem, problemOf} from './report.ts';
import {checkPrivateDirectory, ensurePrivateDirectory} from './trust.ts';
import type {Inspection} from './worktree-inspect.ts';
import {type ReadyLook, requireReady} from './worktree-look.ts';
import {lockReason, mismatch} from './worktree-registration.ts';
import {hasWork, leaveIssueDirectory, takeBackWorktree} from './worktree-removal.ts';
import type {WorktreeReport} from './worktree-report.ts';
import {publishWorktreeState, type WorktreeState} from './worktree-state.ts';
import {
	inspectFor,
	lookFor,
	requireAuthorityFor,
	takeIssueLock,
	takeRepositoryLock,
	type WorktreeLocks,
	type WorktreeRequest,
	type WorktreeWork,
	workOnWorktree,
} from './worktree-work.ts';

/** One worktree to be made; `chosen` is a person's word where default branch and approval differ. */
export type CreateRequest = WorktreeRequest & {readonly chosen?: Base | null};

const addTimeoutMs = 1_800_000;

/**
 * Makes the one worktree of an approved issue, detached at the exact base, and proves it: `bailiff worktree create`.
 *
 * On failure exactly what this run made, and only while it is as it was made, is taken back; anything else stays and is reported as partial.
 * Refuses (in the report): CACHE_ codes of root, mirror, authority, approval and base; CACHE_WORKTREE_EXISTS. Source: C-ADM-1..4, C-NEW-1..3, C-RM-1.
 */
export function createWorktree(request: CreateRequest): Promise<WorktreeReport> {
	return workOnWorktree('worktree create', request, async work => {
		const issue = await takeIssueLock(work);
		const state = await requireAuthorityFor(work);
		const admission = await readAdmissionFor(work, state);
		const repository = await takeRepositoryLock(work);
		const mirror = await requireAgreeingMirror(work, state);
		const base = await admitBase(work, {mirror, admission, chosen: request.chosen ?? null});
		requireAbsent(work, mirror);
		await requireUnchanged(work, state, admission);
		await makeWorktree(work, {state, admission, base, locks: {issue, repository}});
		return 'ok';
	});
}

type Creation = {readonly state: AuthorityState; readonly admission: Admission; readonly base: Base; readonly locks: WorktreeLocks};

/** Source: C-ADM-3. Refuses: CACHE_WORKTREE_EXISTS, CACHE_WORKTREE_PARTIAL, CACHE_WORKTREE_MISMATCH, CACHE_WORKTREE_RELOCATED and others of a look. */
function requireAbsent(work: WorktreeWork, mirror: Parameters<typeof lookFor>[1]): void {
	const {draft, paths} = work;
	const {base_sha: baseSha, base_source: source} = draft.worktree;
	const look = lookFor(work, mirror);
	draft.stopOn(look.problems);
	if (look.word !== 'absent') {
		const {owner, repository, issue} = paths.target;
		const target = `${owner}/${repository}#${issue}`;
		throw new BailiffError('CACHE_WORKTREE_EXISTS', `${target} has its worktree at ${paths.checkout}: "bailiff worktree resume" goes on with it`, {
			details: {remedy: `${commandLine(['bailiff', 'worktree', 'resume', '--root', paths.root, '--target', target])} --profile DIR`},
		});
	}

	draft.worktree.base_sha = baseSha;
	draft.worktree.base_source = source;
}

async function makeWorktree(work: WorktreeWork, creation: Creation): Promise<void> {
	const {request, paths, draft} = work;
	const {locks, base} = creation;
	for (const place of [paths.worktrees, paths.issue]) {
		ensurePrivateDirectory(place);
		checkPrivateDirectory(place);
	}

	requireAbsent(work, {registrations: await readRegistrations(request.git, paths)});
	try {
		request.onStep?.('creating');
		assertBothHeld(locks);
		await addWorktree(work, base.sha, locks);
		assertBothHeld(locks);
		publishWorktreeState(paths, stateOf(creation));
		draft.isChanged = true;
		request.onStep?.('verifying');
		await proveCreation(work, creation);
		draft.worktree.reused = false;
		draft.isComplete = true;
	} catch (error) {
		await takeBack(work, creation, error);
		throw error;
	}
}

function assertBothHeld({issue, repository}: WorktreeLocks): void {
	issue.assertHeld();
	repository.assertHeld();
}

async function addWorktree({request, paths}: WorktreeWork, sha: string, locks: WorktreeLocks): Promise<void> {
	await request.git.run({
		command: ['worktree', 'add', '--quiet', '--detach', '--lock', '--reason', lockReason(paths), '--', paths.checkout, sha],
		gitDir: paths.mirror,
		// As many as there are processors: on a busy disk a tenth of the time.
		config: [['checkout.workers', '0']],
		descriptors: descriptorsOf(locks.issue, locks.repository),
		isPrivate: true,
		timeoutMs: addTimeoutMs,
		...(request.signal === undefined ? {} : {signal: request.signal}),
	});
}

function stateOf({state, admission, base}: Creation): WorktreeState {
	const {owner, repository} = state.name;
	return {
		schema: 'gitea-agent.worktree/v1',
		owner,
		repository,
		issue: admission.issue.number,
		base_sha: base.sha,
		issue_updated_at: admission.snapshot.updatedAt,
		issue_body_sha256: admission.snapshot.bodySha256,
		created_by_role: state.profile.role,
		mode: 'detached',
	};
}

/** Everything is read again where it stands now; git's exit status proves nothing. Source: C-NEW-2, C-NEW-3. */
async function proveCreation(work: WorktreeWork, {state, admission, base}: Creation): Promise<void> {
	// Settled, not all: whoever takes the worktree back must not meet a look that is still going on.
	const looks = await Promise.allSettled([proveParts(work, base), requireUnchanged(work, state, admission)]);
	const failed = looks.find(look => look.status === 'rejected');
	if (failed !== undefined) {
		throw failed.reason;
	}
}

async function proveParts(work: WorktreeWork, base: Base): Promise<void> {
	const {request, paths, draft} = work;
	const look = lookFor(work, {registrations: await readRegistrations(request.git, paths)});
	draft.stopOn(look.problems);
	const ready = requireReady(paths, look);
	const {inspection} = await inspectFor(work, {admin: ready.admin, base: base.sha});
	draft.stopOn(notAsMade(work, ready, base, inspection));
}

function notAsMade({paths}: WorktreeWork, {registration, stored}: ReadyLook, base: Base, found: Inspection): CacheProblem[] {
	const faults: ReadonlyArray<readonly [boolean, string]> = [
		[found.head_sha !== base.sha || registration.head !== base.sha, `HEAD is at ${found.head_sha ?? 'no commit'}, not at the base ${base.sha}`],
		[stored.state.base_sha !== base.sha, 'state.json names another base'],
		[hasWork(found), 'the new checkout is not clean, or git left an operation or a lock file'],
	];
	return faults.filter(([isFault]) => isFault).map(([, message]) => mismatch(paths, message));
}

/**
 * C-RM-1: what this run made is taken back while it provably is as it was made. Where not, the report says partial and names what stands.
 */
async function takeBack(work: WorktreeWork, {base, locks}: Creation, cause: unknown): Promise<void> {
	const {request, paths, draft} = work;
	if (!(cause instanceof BailiffError)) {
		draft.isChanged = true;
		return;
	}

	try {
		const look = lookFor(work, {registrations: await readRegistrations(request.git, paths)});
		if (look.word !== 'absent') {
			await takeBackWorktree(work, {look, base: base.sha, locks});
		}

		draft.problems.push(...leaveIssueDirectory(paths).problems);
		draft.isChanged = false;
		draft.worktree.state = 'absent';
	} catch (error) {
		draft.isChanged = true;
		draft.problems.push(
			placeProblem(
				'CACHE_WORKTREE_PARTIAL',
				`worktrees/issue-${paths.target.issue}`,
				'the worktree that this run began to make could not be taken back; see docs/recovery.md',
			),
			...(error instanceof BailiffError ? [problemOf(error)] : []),
		);
	}
}
