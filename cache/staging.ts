import {randomBytes} from 'node:crypto';
import {lstatSync, mkdirSync, readdirSync, renameSync, rmSync} from 'node:fs';
import path from 'node:path';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {loadNative} from '../native/index.ts';
import type {RepositoryPaths} from './layout.ts';
import {lockHolders} from './lock-holders.ts';
import {checkPrivateDirectory, ensurePrivateDirectory, statusIfThere} from './trust.ts';

/** The places of one run's staging directory: laid out like a repository, so that one rename publishes it. */
export type Staging = {
	readonly directory: string;
	readonly mirror: string;
	readonly locks: string;
	readonly lock: string;
	readonly record: string;
	/** What was made: by device and inode, so that nothing else is ever removed (C-BOOT-8). */
	readonly device: number;
	readonly inode: number;
};

/** How a directory or file gets its final name. */
export type Rename = (from: string, to: string) => void;

const prefix = '.staging-';

/**
 * Makes a run-unique staging directory (0700) with its `locks` beside the place where the repository will stand.
 *
 * Refuses: CACHE_TARGET_OCCUPIED where the name is taken, CACHE_WRITE_FAILED, CACHE_PATH_UNTRUSTED, CACHE_CASE_INSENSITIVE. Source: C-BOOT-3.
 */
export function createStaging(paths: RepositoryPaths, runId: string = randomBytes(16).toString('hex')): Staging {
	const directory = path.posix.join(paths.owner, `${prefix}${runId}`);
	checkPrivateDirectory(paths.owner);
	try {
		mkdirSync(directory, {mode: 0o700});
	} catch (error) {
		const errno = errnoOf(error);
		const code = errno === 'EEXIST' ? 'CACHE_TARGET_OCCUPIED' : errno === 'ENOSPC' || errno === 'EDQUOT' ? 'CACHE_DISK_FULL' : 'CACHE_WRITE_FAILED';
		throw new BailiffError(code, `the staging directory ${directory} cannot be made (${errno ?? 'unknown'})`, {cause: error, details: {errno}});
	}

	const {dev: device, ino: inode} = lstatSync(directory);
	const locks = `${directory}/locks`;
	const staging = {directory, mirror: `${directory}/repository.git`, locks, lock: `${locks}/repository.lock`, record: `${locks}/refs.json`, device, inode};
	try {
		checkPrivateDirectory(directory);
		ensurePrivateDirectory(locks);
		requireCase(staging);
		return staging;
	} catch (error) {
		removeStaging(staging);
		throw error;
	}
}

/** Removes exactly the staging directory that this run made. False: it is not (all) gone, or another one stands there. Source: C-BOOT-8. */
export function removeStaging(staging: Staging): boolean {
	const status = statusIfThere(staging.directory);
	if (status === null) {
		return true;
	}

	if (!status.isDirectory() || status.dev !== staging.device || status.ino !== staging.inode) {
		return false;
	}

	try {
		rmSync(staging.directory, {recursive: true});
		return true;
	} catch {
		return false;
	}
}

/**
 * Gives a directory or file of staging its final name; nothing that stands there is replaced. The name is on disk when it returns.
 *
 * Where the filesystem has no such rename: only under the bootstrap lock, in a parent of ours with mode 0700, onto a name that an immediate look finds free.
 * Refuses: CACHE_TARGET_OCCUPIED, CACHE_WRITE_FAILED, CACHE_PATH_UNTRUSTED. Source: C-BOOT-6.
 */
export function publish(from: string, to: string, rename: Rename = (source, target) => loadNative().renameNoReplace(source, target)): void {
	const parent = path.posix.dirname(to);
	try {
		try {
			rename(from, to);
		} catch (error) {
			if (errnoOf(error) !== 'ENOTSUP') {
				throw error;
			}

			renamePlainly(from, to, parent);
		}

		loadNative().syncDirectory(parent);
		loadNative().syncDirectory(path.posix.dirname(from));
	} catch (error) {
		if (error instanceof BailiffError) {
			throw error;
		}

		const errno = errnoOf(error);
		throw new BailiffError(
			errno === 'EEXIST' ? 'CACHE_TARGET_OCCUPIED' : 'CACHE_WRITE_FAILED',
			errno === 'EEXIST' ? `${to} is there already; nothing is ever replaced` : `${to} cannot be published (${errno ?? 'unknown'})`,
			{cause: error, details: {target: to, errno}},
		);
	}
}

/**
 * Staging directories below the owner, and half-written records, that no living process seems to hold. For display: the kernel's list of locks decides
 * nothing (C-LOCK-7).
 */
export function stagingLeftovers(paths: RepositoryPaths): string[] {
	const staged = namesIn(paths.owner)
		.filter(name => name.startsWith(prefix))
		.map(name => `${paths.owner}/${name}`)
		.filter(place => !isHeld(`${place}/locks/repository.lock`));
	// The list of locks costs milliseconds to read: only where there is something to ask about.
	const records = namesIn(paths.locks).filter(name => /^\.[0-9a-f]{16}\.new$/.test(name));
	const left = records.length === 0 || isHeld(paths.repositoryLock) ? [] : records;
	return [...staged, ...left.map(name => `${paths.locks}/${name}`)].toSorted();
}

/** Whether some process shows as holder of the lock file; for display only. */
export function isHeld(lock: string): boolean {
	const status = lstatSync(lock, {bigint: true, throwIfNoEntry: false});
	return status !== undefined && lockHolders(status.ino).length > 0;
}

function renamePlainly(from: string, to: string, parent: string): void {
	checkPrivateDirectory(parent);
	if (lstatSync(from).dev !== lstatSync(parent).dev) {
		throw new BailiffError('CACHE_WRITE_FAILED', `${from} and ${parent} are not on one filesystem`, {details: {target: to}});
	}

	if (statusIfThere(to) !== null) {
		throw new BailiffError('CACHE_TARGET_OCCUPIED', `${to} is there already; nothing is ever replaced`, {details: {target: to}});
	}

	renameSync(from, to);
}

/** Refs that differ only in case would be one file. */
function requireCase(staging: Staging): void {
	if (statusIfThere(`${staging.directory}/LOCKS`) !== null) {
		throw new BailiffError(
			'CACHE_CASE_INSENSITIVE',
			`${path.posix.dirname(staging.directory)} lies on a filesystem that does not tell upper and lower case apart`,
		);
	}
}

function namesIn(place: string): string[] {
	try {
		return readdirSync(place);
	} catch {
		return [];
	}
}
