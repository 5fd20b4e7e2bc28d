import {createHash, type Hash} from 'node:crypto';
import {closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readlinkSync, readSync, type Stats} from 'node:fs';
import {errnoOf} from '../core/errors.ts';
import type {CheckoutForm} from './checkout-form.ts';
import {gitObjectId, type TreeEntry} from './git-objects.ts';

/** A path of the commit and the form in which the checkout holds it. */
export type TrackedPath = TreeEntry & {readonly form: CheckoutForm};

/** How a path of the checkout differs from the commit. */
export type PathState = 'staged' | 'deleted' | 'changed' | 'mode' | 'type' | 'unreadable' | 'untracked' | 'submodule';

/**
 * What the file system said about a path when it was looked at; equal stamps outside of the racy window mean equal bytes.
 * Times in milliseconds as doubles tell a quarter of a microsecond apart: finer than two writes that the racy window lets through.
 */
export type Stamp = Pick<Stats, 'dev' | 'ino' | 'mode' | 'size' | 'mtimeMs' | 'ctimeMs'>;

/** What was found at a tracked path. */
export type Examined = {
	/** null: type and mode are right and `rawId` tells the content. */
	readonly fault: PathState | null;
	readonly stamp: Stamp | null;
	/** The id that git would give to the bytes as they lie there; null with a fault. */
	readonly rawId: string | null;
	/** Only for the form 'lfs'. */
	readonly sha256: string | null;
};

const chunk = Buffer.allocUnsafeSlow(1024 * 1024);

/**
 * Looks at one tracked path: type, mode, and the bytes, read with flat memory through one descriptor. Follows no link and waits for nothing.
 *
 * Shape: `reach` leads to the path through directories that were proven to be no links.
 */
export function examinePath(reach: string | Buffer, tracked: TrackedPath): Examined {
	try {
		const stats = lstatSync(reach, {throwIfNoEntry: false});
		if (tracked.mode === '160000') {
			return examineSubmodule(reach, stats ?? null);
		}

		if (stats === undefined) {
			return faulty('deleted');
		}

		return tracked.mode === '120000' ? examineLink(reach, stats) : examineRegular(reach, stats, tracked);
	} catch (error) {
		const errno = errnoOf(error);
		if (errno === null) {
			throw error;
		}

		return faulty(errno === 'ENOENT' || errno === 'ENOTDIR' ? 'deleted' : 'unreadable');
	}
}

/** The whole content of a regular file, or null where it is no such file or longer than `maxBytes`. Follows no link. */
export function readRegular(reach: string | Buffer, maxBytes: number): Buffer | null {
	try {
		return withDescriptor(reach, descriptor => {
			const stats = fstatSync(descriptor);
			if (!stats.isFile() || stats.size > maxBytes) {
				return null;
			}

			const bytes = Buffer.alloc(stats.size);
			let at = 0;
			for (let count = -1; count !== 0 && at < bytes.length; at += count) {
				count = readSync(descriptor, bytes, at, bytes.length - at, null);
			}

			return bytes.subarray(0, at);
		});
	} catch (error) {
		if (errnoOf(error) === null) {
			throw error;
		}

		return null;
	}
}

/** Two stamps of one path are equal in everything that a write, a chmod or a replacement would move. */
export function isSameStamp(left: Stamp, right: Stamp): boolean {
	return (
		left.ctimeMs === right.ctimeMs &&
		left.mtimeMs === right.mtimeMs &&
		left.size === right.size &&
		left.ino === right.ino &&
		left.mode === right.mode &&
		left.dev === right.dev
	);
}

/** A submodule is absent or an empty directory (R-START-3). */
function examineSubmodule(reach: string | Buffer, stats: Stats | null): Examined {
	if (stats === null) {
		return {fault: null, stamp: null, rawId: null, sha256: null};
	}

	if (!stats.isDirectory()) {
		return faulty('type');
	}

	return readdirSync(reach).length === 0 ? {fault: null, stamp: toStamp(stats), rawId: null, sha256: null} : faulty('submodule');
}

function examineLink(reach: string | Buffer, stats: Stats): Examined {
	if (!stats.isSymbolicLink()) {
		return faulty('type');
	}

	const target = readlinkSync(reach, 'buffer');
	return {fault: null, stamp: toStamp(stats), rawId: gitObjectId('blob', target), sha256: null};
}

function examineRegular(reach: string | Buffer, stats: Stats, tracked: TrackedPath): Examined {
	if (!stats.isFile()) {
		return faulty('type');
	}

	// git looks at the owner's execute bit alone.
	if (((stats.mode & 0o100) !== 0) !== (tracked.mode === '100755')) {
		return faulty('mode');
	}

	return withDescriptor(reach, descriptor => {
		const git = createHash('sha1').update(`blob ${stats.size}\0`);
		const lfs = tracked.form === 'lfs' ? createHash('sha256') : null;
		const isStill = hashContent(descriptor, git, lfs, stats.size) === stats.size && isSameStamp(stats, fstatSync(descriptor));
		return isStill ? {fault: null, stamp: toStamp(stats), rawId: git.digest('hex'), sha256: lfs?.digest('hex') ?? null} : faulty('changed');
	});
}

function hashContent(descriptor: number, git: Hash, lfs: Hash | null, size: number): number {
	let length = 0;
	while (length < size) {
		const count = readSync(descriptor, chunk, 0, chunk.length, null);
		if (count === 0) {
			return length;
		}

		const bytes = chunk.subarray(0, count);
		git.update(bytes);
		lfs?.update(bytes);
		length += count;
	}

	return length;
}

function withDescriptor<T>(reach: string | Buffer, use: (descriptor: number) => T): T {
	const descriptor = openSync(reach, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY);
	try {
		return use(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

/** Without the dozen other members that Stats holds: there is one stamp for every tracked file. */
function toStamp({dev, ino, mode, size, mtimeMs, ctimeMs}: Stats): Stamp {
	return {dev, ino, mode, size, mtimeMs, ctimeMs};
}

function faulty(fault: PathState): Examined {
	return {fault, stamp: null, rawId: null, sha256: null};
}
