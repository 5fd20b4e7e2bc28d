import type {FileLock, LockWait} from './lock.ts';

/** The repository lock as a broker handed it over: the locked descriptor is ours, and the broker has to be told when we are done. */
export type LentLock = {readonly lock: FileLock; readonly giveBack: () => Promise<void>};

/**
 * The locks of a broker's lease, for a session that works under it: the issue lock is held by the broker and never taken here.
 *
 * Source: BR-7, C-LOCK-4.
 */
export type LeaseLocks = {
	/** Where the issue lock lies that the lease holds. */
	readonly issueLock: string;
	/** Returns only while the lease lives. Refuses: CACHE_LEASE_EXPIRED, CACHE_BROKER_STALE. */
	readonly assertAlive: () => void;
	/** Has the broker take the repository lock at `path` and hand it over. Refuses: CACHE_LOCK_ codes, CACHE_LEASE_EXPIRED, CACHE_BROKER_ codes. */
	readonly repository: (path: string, wait: LockWait) => Promise<LentLock>;
};
