import {lstatSync, statfsSync} from 'node:fs';
import type {Clock} from '../core/clock.ts';
import {examinePath, isSameStamp, type Stamp, type TrackedPath} from './worktree-file.ts';
import {type Proven, toSystemPath} from './worktree-walk.ts';

type TrackedRecord = {
	readonly tracked: TrackedPath;
	readonly systemPath: string | Buffer;
	readonly rawId: string | null;
	stamp: Stamp | null;
	/** A write in the same clock tick as the last look would leave the stamp as it is: the bytes decide next time too. */
	isRacy: boolean;
};

/** ext, xfs, btrfs, tmpfs, overlay, zfs, f2fs: their times come from this kernel's clock, whose tick is at most 10 ms. */
const localFilesystems: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010]);
const localWindowMs = 20;
/** Elsewhere a time may be coarse or another machine's. */
const remoteWindowMs = 2000;

/**
 * What the tracked files looked like when they were proven, for a cheap second look: an lstat each, and the bytes only where something moved.
 *
 * Source: R-START-3, R-PERF-1.
 */
export class TrackedSnapshot {
	readonly #clock: Clock;
	readonly #root: string;
	readonly #rootStamp: Pick<Stamp, 'dev' | 'ino'>;
	readonly #directories: ReadonlyMap<string, string | Buffer>;
	readonly #records: readonly TrackedRecord[];
	readonly #windowMs: number;

	/** `lookedAtMs`: wall clock before the first of the files was looked at. */
	constructor(root: string, proven: readonly Proven[], options: {readonly directories: readonly string[]; readonly clock: Clock; readonly lookedAtMs: number}) {
		this.#clock = options.clock;
		this.#root = root;
		this.#rootStamp = lstatSync(root);
		this.#windowMs = localFilesystems.has(statfsSync(root).type) ? localWindowMs : remoteWindowMs;
		// latin1, as all paths here: the root's own characters become bytes first.
		const prefix = `${Buffer.from(root).toString('latin1')}/`;
		this.#directories = new Map(options.directories.filter(path => path !== '').map(path => [path, toSystemPath(prefix + path)]));
		this.#records = proven.map(({tracked, examined}) => ({
			tracked,
			systemPath: toSystemPath(prefix + tracked.path),
			rawId: examined.rawId,
			stamp: examined.stamp,
			isRacy: this.#isRacy(examined.stamp, options.lookedAtMs),
		}));
	}

	/** How many tracked paths are not as they were proven: deleted, changed, another mode or type, or below a directory that was replaced. Never throws. */
	countChanges(): number {
		if (!this.#isRootInPlace()) {
			return this.#records.length;
		}

		const lookedAtMs = this.#clock.wallMs();
		const lost = [...this.#directories].filter(([, systemPath]) => !isDirectory(systemPath)).map(([path]) => `${path}/`);
		let changes = 0;
		for (const record of this.#records) {
			const isBelowLost = lost.some(prefix => record.tracked.path.startsWith(prefix));
			if (isBelowLost ? record.stamp !== null : this.#hasChanged(record, lookedAtMs)) {
				changes++;
			}
		}

		return changes;
	}

	#hasChanged(record: TrackedRecord, lookedAtMs: number): boolean {
		if (!record.isRacy && record.stamp !== null && isUntouched(record.systemPath, record.stamp)) {
			return false;
		}

		const examined = examinePath(record.systemPath, record.tracked);
		if (examined.fault !== null || examined.rawId !== record.rawId) {
			return true;
		}

		record.stamp = examined.stamp;
		record.isRacy = this.#isRacy(examined.stamp, lookedAtMs);
		return false;
	}

	/** A submodule has no bytes that could be missed. */
	#isRacy(stamp: Stamp | null, lookedAtMs: number): boolean {
		return stamp !== null && stamp.ctimeMs >= lookedAtMs - this.#windowMs;
	}

	#isRootInPlace(): boolean {
		try {
			const stats = lstatSync(this.#root, {throwIfNoEntry: false});
			return stats?.isDirectory() === true && stats.ino === this.#rootStamp.ino && stats.dev === this.#rootStamp.dev;
		} catch {
			return false;
		}
	}
}

function isUntouched(systemPath: string | Buffer, stamp: Stamp): boolean {
	try {
		const stats = lstatSync(systemPath, {throwIfNoEntry: false});
		return stats !== undefined && isSameStamp(stats, stamp);
	} catch {
		return false;
	}
}

function isDirectory(systemPath: string | Buffer): boolean {
	try {
		return lstatSync(systemPath, {throwIfNoEntry: false})?.isDirectory() === true;
	} catch {
		return false;
	}
}
