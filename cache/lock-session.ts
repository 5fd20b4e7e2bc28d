import {BailiffError} from '../core/errors.ts';
import type {RepositoryPaths} from './layout.ts';
import {FileLock, type LockKind, type LockWait} from './lock.ts';

/** A lock that one workflow holds. */
export type HeldLock = {
	readonly kind: LockKind;
	/** Where its file lies now. */
	readonly path: string;
	/** For a child's stdio list (C-HARD-5). Never close it directly. */
	readonly fd: number;
	/** Returns only while this lock and every outer one are held. Refuses: CACHE_LOCK_ORDER, CACHE_LOCK_REPLACED, CACHE_PATH_UNTRUSTED. */
	readonly assertHeld: () => void;
	/** Follows the lock file to where a publication renamed it. Refuses: CACHE_LOCK_REPLACED. */
	readonly moveTo: (path: string) => void;
	/** Gives it back, and whatever was taken inside it before that. Further calls do nothing. */
	readonly release: () => Promise<void>;
};

type Taken = {readonly kind: LockKind; readonly lock: FileLock};

/** What may be taken while that is the innermost lock. Absent: nothing. */
const inner: {readonly [outer in LockKind | 'none']: readonly LockKind[]} = {
	none: ['bootstrap', 'repository', 'issue'],
	bootstrap: ['staging', 'repository'],
	// C-BOOT-9: the directory that stands there already has a repository lock of its own.
	staging: ['repository'],
	issue: ['repository'],
	repository: [],
};

/**
 * The locks of one workflow on one repository, in the only orders there are: bootstrap (then staging) then repository, issue then repository,
 * repository alone.
 *
 * Taking one in any other order, twice, or two at once is refused with CACHE_LOCK_ORDER before any file is opened. The directories of the lock
 * files must be checked already. Source: C-LOCK-2, C-LOCK-3, C-LOCK-6.
 */
export class LockSession {
	readonly #paths: RepositoryPaths;
	readonly #taken: Taken[] = [];
	#isTaking = false;

	constructor(paths: RepositoryPaths) {
		this.#paths = paths;
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
		this.#releaseFrom(0);
	}

	async #take(kind: LockKind, path: string, wait: LockWait): Promise<HeldLock> {
		this.#checkOrder(kind, path);
		this.#isTaking = true;
		const outer = this.#taken.at(-1)?.lock;
		try {
			outer?.assertHeld();
			const lock = await FileLock.acquire(path, wait);
			return this.#keep({kind, lock}, outer);
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
	#keep(taken: Taken, outer: FileLock | undefined): HeldLock {
		try {
			outer?.assertHeld();
		} catch (error) {
			taken.lock.close();
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
				this.#releaseFrom(this.#taken.indexOf(taken));
			},
		};
	}

	#releaseFrom(index: number): void {
		if (index < 0) {
			return;
		}

		for (const taken of this.#taken.splice(index).toReversed()) {
			taken.lock.close();
		}
	}
}
