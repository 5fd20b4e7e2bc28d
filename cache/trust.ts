import {lstatSync, mkdirSync, rmdirSync, type Stats} from 'node:fs';
import path from 'node:path';

import {BailiffError, type ErrorDetails, errnoOf} from '../core/errors.ts';
import {mendOf} from '../evidence/write-failure.ts';
import {loadNative} from '../native/index.ts';
import {groupProblem} from './group-trust.ts';
import {chmodCommand, modeText, shellWord} from './remedy.ts';

/** The modes that an existing `repositories` may have (C-TRUST-2). */
const repositoriesModes: ReadonlySet<number> = new Set([0o700, 0o750, 0o755, 0o770, 0o775]);
const privateDirectoryMode = 0o700;
const privateFileMode = 0o600;

/**
 * lstat of a path that must be there.
 *
 * Refuses: CACHE_PATH_MISSING, CACHE_PATH_UNTRUSTED where it cannot be looked at. Source: C-TRUST-1.
 */
export function statusOf(place: string): Stats {
	const status = statusIfThere(place);
	if (status === null) {
		throw new BailiffError('CACHE_PATH_MISSING', `${place} is not there`, {details: {path: place}});
	}

	return status;
}

/** lstat, or null where nothing is there. Refuses: CACHE_PATH_UNTRUSTED where the path cannot be looked at. */
export function statusIfThere(place: string): Stats | null {
	try {
		return lstatSync(place);
	} catch (error) {
		const errno = errnoOf(error);
		if (errno === 'ENOENT') {
			return null;
		}

		throw new BailiffError('CACHE_PATH_UNTRUSTED', `${place} cannot be looked at (${errno ?? 'unknown'})`, {
			cause: error,
			details: {path: place, errno},
		});
	}
}

/**
 * Checks an existing `repositories` directory: ours, one of the modes 0700, 0750, 0755, 0770, 0775, and where the group may write, nobody else in it.
 *
 * Refuses: CACHE_PATH_MISSING, CACHE_PATH_UNTRUSTED. Changes nothing. Source: C-TRUST-1, C-TRUST-2.
 */
export function checkRepositories(place: string): void {
	const status = checkOwnDirectory(place, 'C-TRUST-1');
	const mode = status.mode & 0o7777;
	if (!repositoriesModes.has(mode)) {
		refuse(place, `has mode ${modeText(mode)}, allowed are 0700, 0750, 0755, 0770 and 0775: a person may run "${chmodCommand(place, mode, 0o700)}"`, {
			rule: 'C-TRUST-1',
			mode: modeText(mode),
		});
	}

	if ((mode & 0o020) !== 0) {
		const problem = loadNative().hasAccessList(place) ? 'an access list (getfacl) may let others write' : groupProblem(status.gid, runningUid());
		if (problem !== null) {
			refuse(place, `is writable by its group and ${problem}: a person may run "chmod g-w ${shellWord(place)}"`, {rule: 'C-TRUST-1', gid: status.gid});
		}
	}
}

/**
 * Checks a directory that must be ours and have mode 0700 exactly.
 *
 * Refuses: CACHE_PATH_MISSING, CACHE_PATH_UNTRUSTED. Source: C-TRUST-3, C-TRUST-5.
 */
export function checkPrivateDirectory(place: string): void {
	const status = checkOwnDirectory(place, 'C-TRUST-3');
	checkMode(place, status, privateDirectoryMode, 'C-TRUST-3');
}

/**
 * Checks a lock file, or a file that holds a token: regular, one name, ours, mode 0600.
 *
 * Refuses: CACHE_PATH_MISSING, CACHE_PATH_UNTRUSTED. Source: C-TRUST-4.
 */
export function checkPrivateFile(place: string): void {
	checkPrivateFileStatus(place, statusOf(place));
}

/** The same over a status already read (lstat, or fstat of the opened file). Refuses: CACHE_PATH_UNTRUSTED. Source: C-TRUST-4. */
export function checkPrivateFileStatus(place: string, status: Pick<Stats, 'mode' | 'nlink' | 'uid' | 'isFile' | 'isSymbolicLink'>): void {
	if (!status.isFile()) {
		refuse(place, `${kindText(status)}, a regular file was expected`, {rule: 'C-TRUST-4'});
	}

	if (status.nlink !== 1) {
		refuse(place, `has ${status.nlink} names (hard links), exactly one is allowed: find the others with "find -samefile"`, {
			rule: 'C-TRUST-4',
			links: status.nlink,
		});
	}

	checkOwner(place, status.uid, 'C-TRUST-4');
	checkMode(place, status, privateFileMode, 'C-TRUST-4');
}

/**
 * Checks the top directory of an issue's checkout: ours, not a link, writable by nobody else.
 *
 * Refuses: CACHE_PATH_MISSING, CACHE_PATH_UNTRUSTED. Source: C-TRUST-5.
 */
export function checkCheckoutDirectory(place: string): void {
	const status = checkOwnDirectory(place, 'C-TRUST-5');
	if ((status.mode & 0o022) !== 0) {
		refuse(place, `has mode ${modeText(status.mode)} and others may write in it: a person may run "chmod go-w ${shellWord(place)}"`, {
			rule: 'C-TRUST-5',
			mode: modeText(status.mode),
		});
	}
}

/**
 * Makes `repositories` (0700) where it is not there, and checks it in both cases.
 *
 * Refuses: CACHE_PATH_UNTRUSTED, CACHE_WRITE_FAILED. Nothing that exists is changed. Source: C-TRUST-1, C-TRUST-2.
 */
export function ensureRepositories(place: string): void {
	ensureDirectory(place, checkRepositories);
}

/**
 * Makes a directory (0700) where it is not there, and checks it in both cases. Its parent must be checked already.
 *
 * Refuses: CACHE_PATH_UNTRUSTED, CACHE_WRITE_FAILED. Nothing that exists is changed. Source: C-TRUST-3, C-TRUST-5, C-TRUST-7.
 */
export function ensurePrivateDirectory(place: string): void {
	ensureDirectory(place, checkPrivateDirectory);
}

function ensureDirectory(place: string, check: (place: string) => void): void {
	if (statusIfThere(place) !== null || !makeDirectory(place)) {
		check(place);
		return;
	}

	try {
		checkPrivateDirectory(place);
	} catch (error) {
		removeOwnEmpty(place);
		throw error;
	}
}

/** A umask or an access list took bits away, or the filesystem gave it to somebody else. It was made by this call and is empty: nothing stays behind. */
function removeOwnEmpty(place: string): void {
	try {
		rmdirSync(place);
	} catch {
		// The refusal that follows names the place.
	}
}

/** False: somebody else made it meanwhile. */
function makeDirectory(place: string): boolean {
	const parent = path.posix.dirname(place);
	if ((statusOf(parent).mode & 0o2000) !== 0) {
		refuse(parent, `has the set-group-id bit, so that what is made in it would not get mode 0700: a person may run "chmod g-s ${shellWord(parent)}"`, {
			rule: 'C-TRUST-2',
			mode: modeText(statusOf(parent).mode),
		});
	}

	try {
		mkdirSync(place, {mode: privateDirectoryMode});
		return true;
	} catch (error) {
		const errno = errnoOf(error);
		if (errno === 'EEXIST') {
			return false;
		}

		throw new BailiffError('CACHE_WRITE_FAILED', `the directory ${place} cannot be made (${errno ?? 'unknown'})${mendOf(errno)}`, {
			cause: error,
			details: {path: place, errno},
		});
	}
}

function checkOwnDirectory(place: string, rule: string): Stats {
	const status = statusOf(place);
	if (!status.isDirectory()) {
		refuse(place, `${kindText(status)}, a directory was expected`, {rule});
	}

	checkOwner(place, status.uid, rule);
	return status;
}

function checkOwner(place: string, uid: number, rule: string): void {
	if (uid !== runningUid()) {
		refuse(place, `belongs to uid ${uid}, but bailiff runs as uid ${runningUid()}: run it as its owner`, {rule, uid});
	}
}

function checkMode(place: string, status: Pick<Stats, 'mode'>, mode: number, rule: string): void {
	if ((status.mode & 0o7777) !== mode) {
		refuse(place, `has mode ${modeText(status.mode)}, exactly ${modeText(mode)} is allowed: a person may run "${chmodCommand(place, status.mode, mode)}"`, {
			rule,
			mode: modeText(status.mode),
			expected: modeText(mode),
		});
	}
}

function kindText(status: Pick<Stats, 'isSymbolicLink'>): string {
	return status.isSymbolicLink() ? 'is a symbolic link' : 'is of another kind';
}

/** Files are made with the effective id, so that is who must own them. */
function runningUid(): number {
	return process.geteuid?.() ?? -1;
}

function refuse(place: string, what: string, details: ErrorDetails): never {
	throw new BailiffError('CACHE_PATH_UNTRUSTED', `${place} ${what}`, {details: {path: place, ...details}});
}
