import {BailiffError} from '../core/errors.ts';
import type {RepositoryPaths} from './layout.ts';
import {FileLock, type LockKind, type LockWait} from './lock.ts';
import type {LeaseLocks} from './lock-source.ts';

/** A lock that one workflow holds. */
export type HeldLock = {
	readonly kind: LockKind;
	/** Where its file lies now. */
	readonly path: string;
	/** For a child's stdio list (C-HARD-5). Never close it directly. null for an issue lock that a broker holds for us: see `descriptorsOf`. */
	readonly fd: number | null;
	/** Returns only while this lock and every outer one are held. Refuses: CACHE_LOCK_ORDER, CACHE_LOCK_REPLACED, CACHE_PATH_UNTRUSTED. */
	readonly assertHeld: () => void;
	/** Follows the lock file to where a publication renamed it. Refuses: CACHE_LOCK_REPLACED. */
	readonly moveTo: (path: string) => void;
	/** Gives it back, and whatever was taken inside it before that. Further calls do nothing. */
	readonly release: () => Promise<void>;
};

/** What a session asks of a lock that it holds; a FileLock, or an issue lock that a broker's lease holds. */
type TakenLock = Pick<FileLock, 'path' | 'assertHeld' | 'moveTo' | 'close'> & {readonly fd: number | null};
type Taken = {readonly kind: LockKind; readonly lock: TakenLock; readonly giveBack?: () => Promise<void>};

/** What may be taken while that is the innermost lock. Absent: nothing. */
const inner: {readonly [outer in LockKind | 'none']: readonly LockKind[]} = {
	none: ['bootstrap', 'repository', 'issue'],
	bootstrap: ['staging', 'repository'],
	// C-BOOT-9: the directory that stands there already has a repository lock of its own.
	staging: ['repository'],
	issue: ['repository'],
	repository: [],
};

/** The descriptors of these locks that a mutating git child gets, so that the locks outlive us while it writes. Source: C-HARD-5. */
export function descriptorsOf(...locks: ReadonlyArray<Pick<HeldLock, 'fd'>>): readonly number[] {
	return locks.flatMap(({fd}) => (fd === null ? [] : [fd]));
}

/**
 * The locks of one workflow on one repository, in the only orders there are: bootstrap (then staging) then repository, issue then repository,
 * repository alone.
 *
 * Taking one in any other order, twice, or two at once is refused with CACHE_LOCK_ORDER before any file is opened. The directories of the lock
 * files must be checked already. With a broker's lease no issue lock is taken here, and the repository lock comes from the broker.
 * Source: C-LOCK-2, C-LOCK-3, C-LOCK-6, BR-7.
 */
export class LockSession {
	readonly #paths: RepositoryPaths;
	readonly #lease: LeaseLocks | null;
	readonly #taken: Taken[] = [];
	#isTaking = false;

	constructor(paths: RepositoryPaths, lease?: LeaseLocks) {
		this.#paths = paths;
		this.#lease = lease ?? null;
	}

	/** Takes the lock under which a new mirror is made. Refuses: CACHE_LOCK_ORDER and as `FileLock.acquire`. */
	bootstrap(wait: LockWait = {}): Promise<HeldLock> {
		return this.#take('bootstrap', this.#paths.bootstrapLock, wait);
	}

	/** Takes the lock of a staging directory of this run, inside of bootstrap. Refuses: CACHE_LOCK_ORDER and as `FileLock.acquire`. Source: C-BOOT-3. */
	staging(stagingLock: string): Promise<HeldLock> {
		return this.#take('staging', stagingLock, {});
	}

	/** Takes the lock under which mirror and registrations change. Refuses: CACHE_LOCK_ORDER and as `FileLock.acquire`. */
	repository(wait: LockWait = {}): Promise<HeldLock> {
		return this.#take('repository', this.#paths.repositoryLock, wait);
	}

	/** Takes the lock under which one issue is worked on. Refuses: CACHE_LOCK_ORDER and as `FileLock.acquire`. */
	issue(issueLock: string, wait: LockWait = {}): Promise<HeldLock> {
		return this.#take('issue', issueLock, wait);
	}

	/** Gives everything back, innermost first. */
	async release(): Promise<void> {
		await this.#releaseFrom(0);
	}

	async #take(kind: LockKind, path: string, wait: LockWait): Promise<HeldLock> {
		this.#checkOrder(kind, path);
		this.#isTaking = true;
		const outer = this.#taken.at(-1)?.lock;
		try {
			outer?.assertHeld();
			return await this.#keep(
				this.#lease === null ? {kind, lock: await FileLock.acquire(path, wait)} : await takeLeased(this.#lease, kind, {path, wait}),
				outer,
			);
		} finally {
			this.#isTaking = false;
		}
	}

	#checkOrder(kind: LockKind, path: string): void {
		const outer = this.#taken.at(-1);
		const held = this.#taken.map(taken => taken.lock.path);
		const details = {path, held};
		if (this.#isTaking) {
			throw new BailiffError('CACHE_LOCK_ORDER', `${path} cannot be taken while another lock of the same workflow is being taken`, {details});
		}

		if (held.includes(path)) {
			throw new BailiffError('CACHE_LOCK_ORDER', `${path} is held by this workflow already`, {details});
		}

		if (!inner[outer?.kind ?? 'none'].includes(kind)) {
			throw new BailiffError(
				'CACHE_LOCK_ORDER',
				`the ${kind} lock cannot be taken while ${held.join(', ')} is held: the order is bootstrap or issue, then repository`,
				{
					details,
				},
			);
		}
	}

	/** The outer lock may have been released while this one was waited for: then it is not kept. */
	async #keep(taken: Taken, outer: TakenLock | undefined): Promise<HeldLock> {
		try {
			outer?.assertHeld();
		} catch (error) {
			taken.lock.close();
			await taken.giveBack?.();
			throw error;
		}

		this.#taken.push(taken);
		const {lock} = taken;
		return {
			kind: taken.kind,
			get path() {
				return lock.path;
			},
			fd: lock.fd,
			moveTo: path => {
				lock.moveTo(path);
			},
			assertHeld: () => {
				outer?.assertHeld();
				lock.assertHeld();
			},
			release: async () => {
				await this.#releaseFrom(this.#taken.indexOf(taken));
			},
		};
	}

	async #releaseFrom(index: number): Promise<void> {
		if (index < 0) {
			return;
		}

		const released = this.#taken.splice(index).toReversed();
		for (const {lock} of released) {
			lock.close();
		}

		for (const {giveBack} of released) {
			await giveBack?.();
		}
	}
}

async function takeLeased(lease: LeaseLocks, kind: LockKind, {path, wait}: {readonly path: string; readonly wait: LockWait}): Promise<Taken> {
	switch (kind) {
		case 'issue':
			return {kind, lock: leasedIssue(lease, path)};
		case 'repository':
			lease.assertAlive();
			return {kind, ...(await lease.repository(path, wait))};
		case 'bootstrap':
		case 'staging':
			throw new BailiffError('CACHE_LOCK_ORDER', `a mirror is made before the issue lock is taken, so never under a broker's lease (${path})`, {
				details: {path, held: [lease.issueLock]},
			});
		default:
			return kind satisfies never;
	}
}

function leasedIssue(lease: LeaseLocks, path: string): TakenLock {
	if (path !== lease.issueLock) {
		throw new BailiffError('CACHE_BROKER_DENIED', `the lease holds ${lease.issueLock}, not ${path}: give the handle of this issue`, {
			details: {path, held: [lease.issueLock]},
		});
	}

	lease.assertAlive();
	let isHeld = true;
	return {
		path,
		fd: null,
		assertHeld() {
			if (!isHeld) {
				throw new BailiffError('CACHE_LOCK_ORDER', `${path} was given back already: nothing may be done under it any more`, {details: {path}});
			}

			lease.assertAlive();
		},
		moveTo() {
			throw new BailiffError('CACHE_LOCK_REPLACED', `${path} is held by a broker and never moves`, {details: {path}});
		},
		close() {
			isHeld = false;
		},
	};
}
