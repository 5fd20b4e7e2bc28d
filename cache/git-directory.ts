import {closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync, type Stats} from 'node:fs';
import {basename, dirname, isAbsolute, join, resolve} from 'node:path';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {commitIdPattern} from '../core/ids.ts';

/** Where the parts of a checkout lie; every path absolute and free of links. */
export type CheckoutPlace = {
	readonly checkout: string;
	/** Holds HEAD and the index of this checkout. */
	readonly gitDir: string;
	/** Holds objects, refs and config; the same as gitDir but for a linked worktree. */
	readonly commonDir: string;
};

const maxLinkFileBytes = 8192;
const maxPackedRefsBytes = 64 * 1024 * 1024;
/** Read afresh each time: that costs less than a doubt about the clock's tick. */
const smallPackedRefsBytes = 64 * 1024;
const maxSymbolicDepth = 5;

/**
 * Finds the git directory of a checkout by reading its `.git` ourselves: an ordinary clone, a linked worktree or a `.git` file of a submodule.
 *
 * Nothing is executed, no link below `path` is followed, and a linked worktree must be registered there and back.
 * Refuses: CACHE_CHECKOUT_INVALID (no checkout, a link, a foreign owner, a broken or moved worktree). Source: C-HARD-3, R-START-3.
 */
export function locateCheckout(path: string): CheckoutPlace {
	if (!isAbsolute(path) || resolve(path) !== path) {
		throw invalid(path, `the checkout must be an absolute path without "." and "..", for example ${resolve(path)}`);
	}

	requireOwned(path, lstatOrNull(path), 'directory');
	const checkout = realpathSync(path);
	const dotGit = join(checkout, '.git');
	const stats = lstatOrNull(dotGit);
	if (stats === null) {
		throw invalid(path, `${path} is no git checkout: it has no .git`);
	}

	if (stats.isDirectory()) {
		requireOwned(dotGit, stats, 'directory');
		if (lstatOrNull(join(dotGit, 'commondir')) !== null) {
			throw invalid(path, `${dotGit} has a commondir file, which redirects its objects`);
		}

		return {checkout, gitDir: dotGit, commonDir: dotGit};
	}

	requireOwned(dotGit, stats, 'file');
	return followGitFile(checkout, dotGit);
}

/** The commit that HEAD names now, or null where it names none (unborn branch, broken reference). Reads files only. */
export class HeadReader {
	readonly #place: CheckoutPlace;
	#packed: {readonly stamp: string; readonly lines: string} | null = null;

	constructor(place: CheckoutPlace) {
		this.#place = place;
	}

	/** Source: R-START-3 (HEAD is looked at again after each command). */
	read(): string | null {
		let text = readLinkFile(join(this.#place.gitDir, 'HEAD'));
		for (let depth = 0; depth < maxSymbolicDepth && text !== null; depth++) {
			const line = text.trimEnd();
			if (commitIdPattern.test(line)) {
				return line;
			}

			const name = /^ref: (refs\/\S+)$/.exec(line)?.[1];
			if (name === undefined || !isSafeReference(name)) {
				return null;
			}

			text = this.#reference(name);
		}

		return null;
	}

	#reference(name: string): string | null {
		const home = /^refs\/(?:bisect|rewritten|worktree)\//.test(name) ? this.#place.gitDir : this.#place.commonDir;
		return readLinkFile(join(home, name)) ?? this.#packedReference(name);
	}

	#packedReference(name: string): string | null {
		const path = join(this.#place.commonDir, 'packed-refs');
		const stats = lstatOrNull(path);
		if (stats === null) {
			return null;
		}

		// HEAD is read after every command, and this file can be large. git replaces it by rename, so that an equal stamp means equal content.
		const stamp = [stats.dev, stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(' ');
		if (this.#packed?.stamp !== stamp || stats.size < smallPackedRefsBytes) {
			this.#packed = {stamp, lines: `\n${readLinkFile(path, maxPackedRefsBytes) ?? ''}`};
		}

		const {lines} = this.#packed;
		const end = lines.indexOf(` ${name}\n`);
		return end < 40 || lines[end - 41] !== '\n' ? null : lines.slice(end - 40, end);
	}
}

/** lstat, or null where nothing is there. */
export function lstatOrNull(path: string): Stats | null {
	return lstatSync(path, {throwIfNoEntry: false}) ?? null;
}

/** The text of a small regular file, opened without following a link and without waiting; null where it is absent, other, too long or unreadable. */
export function readLinkFile(path: string, maxBytes: number = maxLinkFileBytes): string | null {
	let descriptor: number;
	try {
		descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
	} catch {
		return null;
	}

	try {
		const stats = fstatSync(descriptor);
		if (!stats.isFile() || stats.size > maxBytes) {
			return null;
		}

		const bytes = Buffer.alloc(stats.size);
		const length = readSync(descriptor, bytes, 0, bytes.length, 0);
		return bytes.toString('utf8', 0, length);
	} finally {
		closeSync(descriptor);
	}
}

function followGitFile(checkout: string, dotGit: string): CheckoutPlace {
	const target = /^gitdir: ([^\0\n]+)\n?$/.exec(readLinkFile(dotGit) ?? '')?.[1];
	if (target === undefined) {
		throw invalid(checkout, `${dotGit} is not "gitdir: PATH"`);
	}

	const gitDir = realDirectory(checkout, resolve(checkout, target));
	const common = readLinkFile(join(gitDir, 'commondir'));
	if (common === null) {
		return {checkout, gitDir, commonDir: gitDir};
	}

	const commonDir = realDirectory(checkout, resolve(gitDir, common.trimEnd()));
	if (dirname(gitDir) !== join(commonDir, 'worktrees')) {
		throw invalid(checkout, `${gitDir} is no worktree of ${commonDir}`);
	}

	const back = readLinkFile(join(gitDir, 'gitdir'))?.trimEnd() ?? '';
	if (!isSamePlace(resolve(gitDir, back), dotGit)) {
		throw invalid(checkout, `the worktree ${basename(gitDir)} is registered at another place than ${dotGit}; where it was moved, run: git worktree repair`);
	}

	return {checkout, gitDir, commonDir};
}

function realDirectory(checkout: string, path: string): string {
	let real: string;
	try {
		real = realpathSync(path);
	} catch (error) {
		throw invalid(checkout, `the git directory ${path} cannot be reached: ${errnoOf(error) ?? 'unknown error'}`, error);
	}

	requireOwned(real, lstatOrNull(real), 'directory');
	return real;
}

function isSamePlace(path: string, expected: string): boolean {
	try {
		return join(realpathSync(dirname(path)), basename(path)) === expected;
	} catch {
		return false;
	}
}

/** Another user who owns the files could change and restore them under a running command, and no look afterwards would show it. */
function requireOwned(path: string, stats: Stats | null, type: 'directory' | 'file'): void {
	if (stats === null) {
		throw invalid(path, `${path} does not exist`);
	}

	if (!(type === 'directory' ? stats.isDirectory() : stats.isFile())) {
		throw invalid(path, `${path} must be a ${type}${stats.isSymbolicLink() ? ', not a symbolic link: name the place that it points to' : ''}`);
	}

	const uid = process.geteuid?.() ?? -1;
	if (stats.uid !== uid && stats.uid !== 0) {
		throw invalid(path, `${path} belongs to user ${stats.uid}, bailiff runs as user ${uid}: run it as that user, or hand the checkout over with chown`);
	}
}

function isSafeReference(name: string): boolean {
	return name.split('/').every(part => part !== '' && !part.startsWith('.') && !part.endsWith('.lock')) && !name.includes('\0');
}

function invalid(path: string, message: string, cause?: unknown): BailiffError {
	return new BailiffError('CACHE_CHECKOUT_INVALID', message, {cause, details: {path}});
}
