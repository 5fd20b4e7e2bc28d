import type {Target} from '../core/ids.ts';
import {type IssuePaths, issuePaths} from './layout.ts';
import type {LockWait} from './lock.ts';
import {type HeldLock, LockSession} from './lock-session.ts';
import type {LeaseLocks} from './lock-source.ts';
import {openRoot} from './root.ts';
import {checkPrivateDirectory, checkRepositories, ensurePrivateDirectory, ensureRepositories} from './trust.ts';

/** Whose place is meant: the root by its contract file (C-ROOT-1), and the target in it. */
export type RunPlaceRequest = {
	readonly contractPath: string;
	readonly target: Target;
	/** A broker's lease that holds the issue lock; absent: it is taken here (BR-7). */
	readonly lease?: LeaseLocks;
};

/** A place to run in: every directory checked, the issue lock held. Whoever opens it releases the lock. */
export type RunPlace = {readonly paths: IssuePaths; readonly lock: HeldLock};

/**
 * Takes the issue lock of a target and returns its places, with `verification` there.
 *
 * Makes what is missing of repositories/owner/repository/locks before the lock, and of worktrees/issue-n/verification under it, each 0700; checks
 * what is there and changes none of it. Refuses: CACHE_ROOT_INVALID, CORE_ID_ codes, CACHE_PATH_UNTRUSTED, CACHE_WRITE_FAILED, CACHE_LOCK_ codes,
 * RUN_NATIVE_MISSING. Source: C-TRUST-1..5, C-LOCK-3 (a run without a mirror takes the issue lock alone).
 */
export async function openRunPlace(request: RunPlaceRequest, wait: LockWait = {}): Promise<RunPlace> {
	const paths = issuePaths(openRoot(request.contractPath).root, request.target);
	ensureRepositories(paths.repositories);
	for (const place of [paths.owner, paths.repository, paths.locks]) {
		ensurePrivateDirectory(place);
	}

	const lock = await new LockSession(paths, request.lease).issue(paths.issueLock, wait);
	try {
		for (const place of [paths.worktrees, paths.issue, paths.verification]) {
			ensurePrivateDirectory(place);
		}

		return {paths, lock};
	} catch (error) {
		await lock.release();
		throw error;
	}
}

/**
 * The places of a target for a reader: everything down to `verification` is checked, nothing is made, no lock is taken.
 *
 * Refuses: CACHE_ROOT_INVALID, CORE_ID_ codes, CACHE_PATH_MISSING where no run was ever made, CACHE_PATH_UNTRUSTED. Source: C-TRUST-1..5, E-READ-1.
 */
export function readRunPlace(request: RunPlaceRequest): IssuePaths {
	const paths = issuePaths(openRoot(request.contractPath).root, request.target);
	checkRepositories(paths.repositories);
	for (const place of [paths.owner, paths.repository, paths.worktrees, paths.issue, paths.verification]) {
		checkPrivateDirectory(place);
	}

	return paths;
}
