import {readdirSync} from 'node:fs';
import type {Clock} from '../core/clock.ts';
import {BailiffError} from '../core/errors.ts';
import type {Target} from '../core/ids.ts';
import {type AuthoritySession, type AuthorityState, identityOf, readAuthorityState} from './authority-state.ts';
import type {Git} from './git-command.ts';
import {type IssuePaths, issuePaths} from './layout.ts';
import {type LeaseOpener, underLease} from './leased-work.ts';
import type {LockWait} from './lock.ts';
import {type HeldLock, LockSession} from './lock-session.ts';
import {type MirrorState, readMirrorState, requireMirrorPlace} from './mirror-check.ts';
import {type ReportStatus, reportOn} from './report.ts';
import {openRoot, rootOf} from './root.ts';
import {statusIfThere} from './trust.ts';
import {type BaseStanding, type Inspection, inspectWorktree, readBaseStanding, readDetachedHead} from './worktree-inspect.ts';
import {lookAtWorktree, type WorktreeLook} from './worktree-look.ts';
import type {AdminDirectory} from './worktree-registration.ts';
import {unreadWorktree, WorktreeDraft, type WorktreeReport} from './worktree-report.ts';

/** What a command is doing now, for a progress display. */
export type WorktreeStep = 'authority' | 'waiting' | 'checking' | 'creating' | 'verifying' | 'removing';

/** One call of a command on one worktree. */
export type WorktreeRequest = {
	readonly contractPath: string;
	readonly target: Target;
	readonly git: Git;
	/** Opens role and authority; called once, under the issue lock. Its refusal becomes the report's. */
	readonly openAuthority?: () => Promise<AuthoritySession>;
	readonly wait?: LockWait;
	readonly clock?: Clock;
	readonly signal?: AbortSignal;
	readonly onStep?: (step: WorktreeStep) => void;
	/** Opens a broker's lease on this issue, under which the command then works (BR-7). */
	readonly openLease?: LeaseOpener;
};

/** A request at work: places, locks and report. */
export type WorktreeWork = {
	readonly request: WorktreeRequest;
	readonly paths: IssuePaths;
	readonly locks: LockSession;
	readonly draft: WorktreeDraft;
};

/** Both locks of a change to a worktree (C-LOCK-4). */
export type WorktreeLocks = {readonly issue: HeldLock; readonly repository: HeldLock};

/**
 * Opens the root, does the work, gives every lock back and returns the report whole.
 *
 * Refuses (thrown): CORE_ID_ codes and bugs alone. Source: C-ROOT-1..4, C-LOCK-6, authority.md section 6.
 */
export async function workOnWorktree(command: string, request: WorktreeRequest, work: (work: WorktreeWork) => Promise<ReportStatus>): Promise<WorktreeReport> {
	const paths = issuePaths(rootOf(request.contractPath).root, request.target);
	const draft = new WorktreeDraft(command, request.target, paths);
	return reportOn(draft, async () => {
		openRoot(request.contractPath);
		return underLease(request, async (leased, lease) => {
			const locks = new LockSession(paths, lease);
			try {
				return await work({request: leased, paths, locks, draft});
			} finally {
				await locks.release();
			}
		});
	});
}

/** Takes the issue lock, or works under the lease that holds it. The mirror must stand. Refuses: CACHE_ABSENT, CACHE_PATH_UNTRUSTED, CACHE_LOCK_ codes. Source: C-LOCK-3, C-LOCK-4. */
export async function takeIssueLock(work: WorktreeWork): Promise<HeldLock> {
	const {request, paths, locks, draft} = work;
	draft.cache.state = 'absent';
	requireMirrorPlace(paths);
	draft.cache.state = null;
	const lock = await locks.issue(paths.issueLock, waitOf(request));
	lock.assertHeld();
	draft.locks.push('issue');
	return lock;
}

/** Takes the repository lock inside of the issue lock. Refuses: CACHE_LOCK_ codes. Source: C-LOCK-2, C-LOCK-4. */
export async function takeRepositoryLock({request, locks, draft}: WorktreeWork): Promise<HeldLock> {
	const lock = await locks.repository(waitOf(request));
	draft.locks.push('repository');
	return lock;
}

/** Reads role and repository at the authority and says so in the report; null without a profile. Refuses: as `readAuthorityState`. */
export async function readAuthorityFor({request, draft}: WorktreeWork): Promise<AuthorityState | null> {
	if (request.openAuthority === undefined) {
		return null;
	}

	request.onStep?.('authority');
	const session = await request.openAuthority();
	const {owner, repository} = request.target;
	const state = await readAuthorityState(session, {owner, repository});
	draft.identity = identityOf(state);
	draft.repository = {...draft.repository, id: state.repository.id};
	return state;
}

/** The same for a command that cannot do without. Refuses: also CACHE_PROFILE_INVALID where no profile was given. */
export async function requireAuthorityFor(work: WorktreeWork): Promise<AuthorityState> {
	const state = await readAuthorityFor(work);
	if (state === null) {
		throw new BailiffError('CACHE_PROFILE_INVALID', 'this command needs a profile: give --profile DIR');
	}

	return state;
}

/** Reads the mirror; what is wrong with it is in the state and not yet in the report. */
export async function readMirrorFor({request, paths, draft}: WorktreeWork, state: AuthorityState | null): Promise<MirrorState> {
	const found = await readMirrorState({git: request.git, paths, authority: state?.authority ?? null, refs: 'exact'});
	draft.cache.state = found.problems.length === 0 ? 'usable' : 'unusable';
	return found;
}

/** Looks at the worktree and says in the report what it is. The problems are not taken over. */
export function lookFor({paths, draft}: WorktreeWork, mirror: Pick<MirrorState, 'registrations'>): WorktreeLook {
	const look = lookAtWorktree(paths, mirror.registrations);
	const {worktree} = draft;
	Object.assign(worktree, unreadWorktree(paths.checkout), {reused: worktree.reused, base_source: worktree.base_source});
	worktree.state = look.word;
	worktree.locked = look.registration === null ? null : look.registration.locked !== null;
	worktree.detached = look.registration === null ? null : look.registration.branch === null;
	worktree.base_sha = look.stored?.state.base_sha ?? null;
	worktree.head_sha = look.registration?.head ?? null;
	draft.evidence = {...countEvidence(paths), kept: draft.evidence.kept};
	return look;
}

/** What was read of a ready worktree. */
export type InspectedWorktree = {readonly inspection: Inspection; readonly standing: BaseStanding | null};

/** Reads what a ready worktree holds into the report. Refuses: CACHE_GIT_ codes. */
export async function inspectFor(
	{request, paths, draft}: WorktreeWork,
	{admin, base}: {readonly admin: AdminDirectory; readonly base: string},
): Promise<InspectedWorktree> {
	const {git} = request;
	const head = readDetachedHead(admin);
	const [inspection, standing] = await Promise.all([
		inspectWorktree(git, {paths, admin}),
		head === null ? null : readBaseStanding(git, paths.mirror, {base, head}),
	]);
	Object.assign(draft.worktree, inspection, standing ?? {});
	return {inspection, standing};
}

/** How many runs and runtimes of the issue there are. */
export function countEvidence(paths: IssuePaths): {readonly runs: number; readonly runtime: number} {
	return {runs: directoriesIn(paths.verification), runtime: directoriesIn(paths.runtime)};
}

function directoriesIn(place: string): number {
	const isThere = statusIfThere(place)?.isDirectory() === true;
	return isThere ? readdirSync(place, {withFileTypes: true}).filter(entry => entry.isDirectory() && !entry.name.startsWith('.')).length : 0;
}

/** How to wait for a lock: as asked, and said as a step. */
function waitOf({wait = {}, signal, onStep}: WorktreeRequest): LockWait {
	return {
		...wait,
		...(signal === undefined ? {} : {signal}),
		onWait: busy => {
			onStep?.('waiting');
			wait.onWait?.(busy);
		},
	};
}
