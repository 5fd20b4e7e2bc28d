import {createHash} from 'node:crypto';
import {accessSync, type BigIntStats, closeSync, constants, openSync, readSync, statSync} from 'node:fs';
import path from 'node:path';
import {errnoOf} from '../core/errors.ts';

/** Where a command's program is: what is executed, and how the manifest names it (shapes.ts: executable). */
export type Executable = {
	/** Handed to execve: absolute, or relative to the command's cwd when the plan wrote it with a slash. */
	readonly program: string;
	/** Absolute as found on the plan's PATH; relative to the checkout when it lies inside. */
	readonly recordedPath: string;
	/** Null: not readable. */
	readonly sha256: string | null;
};

/** Why no program was found: the errno that execve would have given. */
export type ExecutableFailure = {readonly errno: string; readonly reason: string};

/** One look-up: the name of the plan, where it would start, and the absolute entries of the plan's PATH. */
export type ExecutableQuery = {readonly name: string; readonly checkout: string; readonly cwd: string; readonly searchPath: string};

/** Finds and digests programs for one run; a program that several commands use is read once. */
export type ExecutableFinder = {readonly find: (query: ExecutableQuery) => Executable | ExecutableFailure};

/**
 * Makes the finder of one run.
 *
 * A name without a slash is looked up over the entries of the plan's PATH only, never in the cwd; a name with a slash is taken from the command's cwd.
 * Source: R-START-2.
 */
export function createExecutableFinder(): ExecutableFinder {
	const digests = new Map<string, string | null>();
	return {
		find(query) {
			const located = query.name.includes('/') ? locatePath(query) : locateName(query);
			if ('errno' in located) {
				return located;
			}

			const {file, stats} = located;
			const identity = `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
			let sha256 = digests.get(identity);
			if (sha256 === undefined) {
				sha256 = digestFile(file);
				digests.set(identity, sha256);
			}

			return {program: query.name.includes('/') ? query.name : file, recordedPath: recordedPath(file, query.checkout), sha256};
		},
	};
}

type Located = {readonly file: string; readonly stats: BigIntStats};

function locateName(query: ExecutableQuery): Located | ExecutableFailure {
	let failure: ExecutableFailure = {errno: 'ENOENT', reason: `no ${JSON.stringify(query.name)} in any entry of the plan's path (${query.searchPath})`};
	for (const entry of query.searchPath.split(':')) {
		const found = inspect(path.join(entry, query.name));
		if (!('errno' in found)) {
			return found;
		}

		if (found.errno !== 'ENOENT' && found.errno !== 'ENOTDIR') {
			failure = found;
		}
	}

	return failure;
}

function locatePath(query: ExecutableQuery): Located | ExecutableFailure {
	return inspect(path.resolve(query.checkout, query.cwd, query.name));
}

function inspect(file: string): Located | ExecutableFailure {
	try {
		const stats = statSync(file, {bigint: true});
		if (!stats.isFile()) {
			return {errno: 'EACCES', reason: `${file} is no regular file`};
		}

		accessSync(file, constants.X_OK);
		return {file, stats};
	} catch (error) {
		const errno = errnoOf(error) ?? 'EIO';
		return {errno, reason: errno === 'EACCES' ? `${file} is not executable` : `${file} cannot be used (${errno})`};
	}
}

function digestFile(file: string): string | null {
	let descriptor: number;
	try {
		descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
	} catch {
		return null;
	}

	try {
		const hash = createHash('sha256');
		const buffer = Buffer.allocUnsafe(1_048_576);
		for (;;) {
			const count = readSync(descriptor, buffer);
			if (count === 0) {
				return hash.digest('hex');
			}

			hash.update(buffer.subarray(0, count));
		}
	} catch {
		return null;
	} finally {
		closeSync(descriptor);
	}
}

function recordedPath(file: string, checkout: string): string {
	const relative = path.relative(checkout, file);
	return relative === '..' || relative.startsWith('../') ? file : relative;
}
