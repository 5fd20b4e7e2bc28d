import {BailiffError} from '../core/errors.ts';
import type {Target} from '../core/ids.ts';
import {type AuthoritySession, readAuthorityState} from './authority-state.ts';
import type {Git} from './git-command.ts';
import {issuePaths} from './layout.ts';
import type {LockWait} from './lock.ts';
import {LockSession} from './lock-session.ts';
import type {LeaseLocks} from './lock-source.ts';
import {requireMirrorPlace} from './mirror-check.ts';
import {problemError} from './report.ts';
import {openRoot} from './root.ts';
import type {RunPlace} from './run-place.ts';
import {ensurePrivateDirectory} from './trust.ts';
import {requireVerifiedMirror} from './verified-mirror.ts';
import {lookAtWorktree, requireReady} from './worktree-look.ts';
import {requireOwnRole} from './worktree-standing.ts';

/** Whose canonical worktree a run is to take. */
export type CanonicalPlaceRequest = {
	readonly contractPath: string;
	readonly target: Target;
	readonly git: Git;
	/** Called once, under the issue lock. */
	readonly openAuthority: () => Promise<AuthoritySession>;
	readonly lease?: LeaseLocks;
};

/** A run's place whose checkout is the canonical worktree of the issue, and the role that made it. */
export type CanonicalPlace = RunPlace & {readonly role: string};

/**
 * Takes the issue lock, proves that the mirror is at the authority's state and the issue's worktree whole, and returns the place to run in.
 *
 * The repository lock is held only while mirror and registration are read. Whoever opens it releases the lock. Refuses: as `openRunPlace`; CACHE_ABSENT,
 * CACHE_DEFAULT_BRANCH_MISMATCH and every code of mirror and authority; CACHE_WORKTREE_ codes, CACHE_ROLE_MISMATCH. Source: C-SYNC-5, C-REUSE-1, C-LOCK-3.
 */
export async function openCanonicalPlace(request: CanonicalPlaceRequest, wait: LockWait = {}): Promise<CanonicalPlace> {
	const {git, target} = request;
	const paths = issuePaths(openRoot(request.contractPath).root, target);
	requireMirrorPlace(paths);
	const locks = new LockSession(paths, request.lease);
	const lock = await locks.issue(paths.issueLock, wait);
	try {
		const session = await request.openAuthority();
		const state = await readAuthorityState(session, {owner: target.owner, repository: target.repository});
		const repository = await locks.repository(wait);
		const {registrations} = await requireVerifiedMirror({git, paths, state});
		const look = lookAtWorktree(paths, registrations);
		await repository.release();
		const [problem] = look.problems;
		if (problem !== undefined) {
			throw problemError(problem, look.problems.length - 1);
		}

		requireOwnRole(requireReady(paths, look).stored, session.profile.role);
		ensurePrivateDirectory(paths.verification);
		return {paths, lock, role: session.profile.role};
	} catch (error) {
		await lock.release();
		throw error;
	}
}

/** Says that a command cannot find a worktree by the target alone. Refuses: CACHE_PROFILE_INVALID. */
export function profileNeeded(): BailiffError {
	return new BailiffError(
		'CACHE_PROFILE_INVALID',
		'without --repo-root the worktree of the plan’s target is taken, for which a profile is needed: give --profile DIR',
	);
}
