import {chmodSync, closeSync, constants, fstatSync, lstatSync, mkdirSync, mkdtempSync, openSync, readdirSync, renameSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {Clock} from '../core/clock.ts';
import {BailiffError, errnoOf} from '../core/errors.ts';
import type {NativeParts} from '../native/index.ts';

/** The private HOME and TMPDIR of one run (R-START-1). */
export type PrivateHome = {readonly home: string; readonly tmp: string; readonly remove: () => boolean};

const prefix = 'bailiff-run-';
/** The names that mkdtemp makes of it. */
const ownName = /^bailiff-run-[A-Za-z0-9]{6}$/;
/** All that a run ever makes in it (containment.ts makes the empty one). */
const ownEntries: ReadonlySet<string> = new Set(['home', 'tmp', 'empty']);
/** A directory this young may be between its making and its lock. */
const settleMs = 60_000;

/**
 * Makes an empty pair of directories (0700) outside the checkout and outside the evidence, and clears away what killed runs of this user left.
 * `remove` deletes both and says whether nothing was left; what a command made unreadable is opened up first, links are never followed.
 *
 * A run holds a lock on its directory: only one whose lock is free, so that its bailiff is gone, is a leftover; and only one that looks exactly like
 * ours, since a directory of somebody may have such a name, too.
 * Refuses: RUN_HOME_FAILED where the temporary directory of this machine cannot be written. Source: R-START-1.
 */
export function createPrivateHome(native: Pick<NativeParts, 'tryLock'>, clock: Clock): PrivateHome {
	sweepLeftovers(native, clock);
	const base = making(() => mkdtempSync(path.resolve(tmpdir(), prefix)));
	const home = path.join(base, 'home');
	const tmp = path.join(base, 'tmp');
	const descriptor = making(() => {
		try {
			mkdirSync(home, 0o700);
			mkdirSync(tmp, 0o700);
			const opened = openDirectory(base);
			native.tryLock(opened);
			return opened;
		} catch (error) {
			removeTree(base);
			throw error;
		}
	});
	return {
		home,
		tmp,
		remove() {
			closeSync(descriptor);
			return removeTree(base);
		},
	};
}

function making<Made>(make: () => Made): Made {
	try {
		return make();
	} catch (error) {
		const errno = errnoOf(error);
		throw new BailiffError(
			'RUN_HOME_FAILED',
			`the private directories of the run cannot be made in ${JSON.stringify(tmpdir())} (${errno ?? 'no errno'}): make room there, or name another directory in TMPDIR`,
			{cause: error, details: {directory: tmpdir(), errno}},
		);
	}
}

function openDirectory(directory: string): number {
	return openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}

function sweepLeftovers(native: Pick<NativeParts, 'tryLock'>, clock: Clock): void {
	for (const name of listTemporary().filter(one => ownName.test(one))) {
		try {
			sweepLeftover(path.join(tmpdir(), name), native, clock);
		} catch {
			// Not ours, or another run is clearing it away at this moment.
		}
	}
}

/** What cannot be listed is not swept; whether it can be written shows at once. */
function listTemporary(): string[] {
	try {
		return readdirSync(tmpdir());
	} catch {
		return [];
	}
}

function sweepLeftover(directory: string, native: Pick<NativeParts, 'tryLock'>, clock: Clock): void {
	const descriptor = openDirectory(directory);
	try {
		const {uid, mode, mtimeMs} = fstatSync(descriptor);
		const isOld = clock.wallMs() - mtimeMs > settleMs;
		const isOurs = uid === process.geteuid?.() && (mode & 0o7777) === 0o700 && readdirSync(`/proc/self/fd/${descriptor}`).every(name => ownEntries.has(name));
		if (isOld && isOurs && native.tryLock(descriptor)) {
			removeTree(directory);
		}
	} finally {
		closeSync(descriptor);
	}
}

function removeTree(base: string): boolean {
	try {
		rmSync(base, {recursive: true, force: true});
		return true;
	} catch {
		openUp(base);
	}

	try {
		rmSync(base, {recursive: true, force: true, maxRetries: 2});
		return true;
	} catch {
		return false;
	}
}

/** Well below the 4096 bytes of PATH_MAX, with room for one more name. */
const longPathBytes = 3072;

/**
 * Makes a tree such that it can be deleted: a command may have taken its own directories' permissions away, which stops an ordinary user, or have
 * nested them deeper than a path can say, which stops everyone; what lies that deep is moved up.
 */
function openUp(base: string): void {
	const waiting: Buffer[] = [Buffer.from(base)];
	for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
		for (const child of openDirectories(directory)) {
			waiting.push(child.length > longPathBytes ? moveUp(child, base) : child);
		}
	}
}

/** The directories in `directory`, which is opened to us first. Names are bytes: a command chooses them. What cannot be opened up is left to the second removal to report. */
function openDirectories(directory: Buffer): Buffer[] {
	try {
		chmodSync(directory, 0o700);
		const children = readdirSync(directory, {encoding: 'buffer'}).map(name => Buffer.concat([directory, Buffer.from('/'), name]));
		return children.filter(child => lstatSync(child, {throwIfNoEntry: false})?.isDirectory() === true);
	} catch {
		return [];
	}
}

function moveUp(directory: Buffer, base: string): Buffer {
	const place = mkdtempSync(path.join(base, 'deep-'));
	try {
		// A directory that changes its parent must itself be writable.
		chmodSync(directory, 0o700);
		renameSync(directory, place);
	} catch {
		// Then the second removal reports it.
	}

	return Buffer.from(place);
}
