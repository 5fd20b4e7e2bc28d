import {closeSync, fstatSync, lstatSync} from 'node:fs';
import {setTimeout as sleep} from 'node:timers/promises';

import {type Clock, systemClock} from '../core/clock.ts';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {mendOf} from '../evidence/write-failure.ts';
import {loadNative} from '../native/index.ts';
import {holdersText, type LockHolder, lockHolders} from './lock-holders.ts';
import {checkPrivateFile, checkPrivateFileStatus} from './trust.ts';

/** The three locks of a repository (C-LOCK-2), and that of a staging directory, which becomes the repository lock by publication (C-BOOT-3). */
export type LockKind = 'bootstrap' | 'staging' | 'repository' | 'issue';

/** How long to wait, and whom to tell. */
export type LockWait = {
	/** 0, the default: refuse at once when somebody else holds the lock. */
	readonly timeoutMs?: number;
	/** Called once, when waiting begins. */
	readonly onWait?: (busy: {readonly path: string; readonly holders: readonly LockHolder[]; readonly timeoutMs: number}) => void;
	/** Ends the waiting: what it carries as reason is thrown. */
	readonly signal?: AbortSignal;
	readonly clock?: Clock;
};

const firstPauseMs = 5;
const longestPauseMs = 100;
const nsPerMs = 1_000_000n;
/** What flock answers where a filesystem has no locks (NFS without its lock service, and the like). */
const unsupportedErrnos: ReadonlySet<string | null> = new Set(['ENOLCK', 'EBADF', 'EINVAL', 'ENOSYS', 'EOPNOTSUPP']);

/**
 * A kernel lock that is held: an open descriptor, and nothing else. Closing it is the only way to give it back, so every end of the process does
 * (C-LOCK-6). A child that gets the descriptor keeps the lock until it ends (C-HARD-5).
 */
export class FileLock {
	/** For a child's stdio list. Never close it directly. */
	readonly fd: number;
	#path: string;
	#isHeld = true;

	private constructor(path: string, fd: number) {
		this.#path = path;
		this.fd = fd;
	}

	/**
	 * Opens (makes, where it is not there) and takes the lock file at `path`, whose directory must be checked already.
	 *
	 * Refuses: CACHE_LOCK_BUSY when `timeoutMs` is over, naming the lock and, for display, who holds it; CACHE_PATH_UNTRUSTED where the file is not a
	 * regular one of ours with one name and mode 0600; CACHE_LOCK_REPLACED where its name means another file by the time the lock is held;
	 * CACHE_LOCK_UNSUPPORTED; CACHE_LOCK_FAILED. Source: C-LOCK-1, C-LOCK-7, C-TRUST-4.
	 */
	static async acquire(path: string, wait: LockWait = {}): Promise<FileLock> {
		wait.signal?.throwIfAborted();
		const lock = new FileLock(path, openLockFile(path));
		try {
			checkPrivateFileStatus(path, fstatSync(lock.fd));
			await waitForLock(lock, wait);
			lock.assertHeld();
			return lock;
		} catch (error) {
			lock.close();
			throw error;
		}
	}

	/**
	 * Takes over a descriptor of the lock file at `path` that came locked from another process (a broker): it shares that lock. From now on it is closed here.
	 *
	 * Refuses: CACHE_LOCK_BUSY where it does not carry the lock; CACHE_LOCK_REPLACED, CACHE_PATH_UNTRUSTED as `assertHeld`. Source: C-HARD-5.
	 */
	static adopt(path: string, fd: number): FileLock {
		const lock = new FileLock(path, fd);
		try {
			lock.assertHeld();
			if (!tryLock(lock)) {
				throw busy(path, lockHolders(fstatSync(fd, {bigint: true}).ino), 0);
			}

			return lock;
		} catch (error) {
			lock.close();
			throw error;
		}
	}

	/** Where the lock file lies now. */
	get path(): string {
		return this.#path;
	}

	/**
	 * Says that a directory above the lock file was renamed, so that it lies at `path` now; the lock itself went with it.
	 *
	 * Refuses: CACHE_LOCK_REPLACED where another file, or none, lies there. Source: C-BOOT-6.
	 */
	moveTo(path: string): void {
		this.#path = path;
		this.assertHeld();
	}

	get isHeld(): boolean {
		return this.#isHeld;
	}

	/**
	 * Returns only while the lock is held and its name still means the locked file, so that nobody else can hold "the same" lock.
	 *
	 * Refuses: CACHE_LOCK_ORDER after release; CACHE_LOCK_REPLACED; CACHE_PATH_UNTRUSTED. Source: C-LOCK-1, C-LOCK-2.
	 */
	assertHeld(): void {
		if (!this.#isHeld) {
			throw new BailiffError('CACHE_LOCK_ORDER', `${this.path} was released already: nothing may be done under it any more`, {details: {path: this.path}});
		}

		const held = fstatSync(this.fd, {bigint: true});
		const named = lstatSync(this.path, {bigint: true, throwIfNoEntry: false});
		if (named === undefined || named.dev !== held.dev || named.ino !== held.ino) {
			throw new BailiffError(
				'CACHE_LOCK_REPLACED',
				`${this.path} was removed or replaced while it was in use, so that two processes may believe that they hold it: find out who did it; lock files are never removed`,
				{details: {path: this.path}},
			);
		}

		checkPrivateFileStatus(this.path, fstatSync(this.fd));
	}

	/** Closes the descriptor. Only the first call does anything. */
	close(): void {
		if (this.#isHeld) {
			this.#isHeld = false;
			closeSync(this.fd);
		}
	}
}

function openLockFile(path: string): number {
	try {
		const native = loadNative();
		if (lstatSync(path, {throwIfNoEntry: false}) !== undefined) {
			checkPrivateFile(path);
		}

		return native.openLock(path, true);
	} catch (error) {
		throw error instanceof BailiffError ? error : openRefusal(path, error);
	}
}

function openRefusal(path: string, error: unknown): BailiffError {
	const errno = errnoOf(error);
	const options = {cause: error, details: {path, errno}};
	if (errno === 'ELOOP') {
		return new BailiffError('CACHE_PATH_UNTRUSTED', `${path} is a symbolic link or passes through one`, options);
	}

	return errno === 'ESTALE'
		? new BailiffError('CACHE_LOCK_REPLACED', `${path} was replaced while it was opened`, options)
		: new BailiffError('CACHE_LOCK_FAILED', `the lock file ${path} cannot be opened (${errno ?? 'unknown'})${mendOf(errno)}`, options);
}

async function waitForLock(lock: FileLock, wait: LockWait): Promise<void> {
	const clock = wait.clock ?? systemClock;
	const timeoutMs = wait.timeoutMs ?? 0;
	const startedNs = clock.monotonicNs();
	for (let pauseMs = firstPauseMs, isFirst = true; !tryLock(lock); isFirst = false) {
		const leftMs = timeoutMs - Number((clock.monotonicNs() - startedNs) / nsPerMs);
		const holders = isFirst || leftMs <= 0 ? lockHolders(fstatSync(lock.fd, {bigint: true}).ino) : [];
		if (leftMs <= 0) {
			throw busy(lock.path, holders, timeoutMs);
		}

		if (isFirst) {
			wait.onWait?.({path: lock.path, holders, timeoutMs});
		}

		await pause(Math.min(pauseMs, leftMs), wait.signal);
		pauseMs = Math.min(pauseMs * 2, longestPauseMs);
	}
}

async function pause(pauseMs: number, signal: AbortSignal | undefined): Promise<void> {
	try {
		await sleep(pauseMs, undefined, signal === undefined ? {} : {signal});
	} catch {
		signal?.throwIfAborted();
	}
}

function tryLock(lock: FileLock): boolean {
	try {
		return loadNative().tryLock(lock.fd);
	} catch (error) {
		const errno = errnoOf(error);
		const options = {cause: error, details: {path: lock.path, errno}};
		throw unsupportedErrnos.has(errno)
			? new BailiffError('CACHE_LOCK_UNSUPPORTED', `the filesystem of ${lock.path} has no advisory locks (${errno}): put the root on one that has`, options)
			: new BailiffError('CACHE_LOCK_FAILED', `the lock ${lock.path} cannot be taken (${errno ?? 'unknown'})`, options);
	}
}

function busy(path: string, holders: readonly LockHolder[], timeoutMs: number): BailiffError {
	const waited = timeoutMs === 0 ? 'wait for it with --lock-timeout SECONDS' : `waited ${timeoutMs / 1000} s`;
	return new BailiffError('CACHE_LOCK_BUSY', `${path} is ${holdersText(holders)}; ${waited}`, {
		details: {path, holders: holders.map(holder => ({pid: holder.pid, command: holder.command})), timeout_ms: timeoutMs},
	});
}
