import {randomBytes} from 'node:crypto';
import {closeSync, fsyncSync, linkSync, lstatSync, mkdirSync, openSync, realpathSync, unlinkSync} from 'node:fs';
import path from 'node:path';

import {BailiffError, errnoOf} from '../core/errors.ts';
import {flushDirectory, writeFully} from '../core/files.ts';
import {mendOf} from '../evidence/write-failure.ts';
import {contractText} from './contract-text.ts';
import {contractSuffix, type RootPaths, rootPaths} from './layout.ts';
import {shellWord} from './remedy.ts';

/** What `init` found or made. */
export type InitResult = {readonly paths: RootPaths; readonly outcome: 'created' | 'already-there'};

/** The contract file that `--root DIR` stands for. Refuses: CACHE_ROOT_INVALID where `root` is not absolute and normalised. Source: C-ROOT-1. */
export function contractPathOf(root: string): string {
	checkForm(root);
	return rootPaths(root).contract;
}

/**
 * The places of the root that owns the contract file: a pure function of the path, which nothing around it can change.
 *
 * Refuses: CACHE_ROOT_INVALID where the path is not `<root>/harness/operations/repository-cache.md`, absolute and normalised. Source: C-ROOT-1..3.
 */
export function rootOf(contractPath: string): RootPaths {
	checkForm(contractPath);
	if (!contractPath.endsWith(`/${contractSuffix}`)) {
		refuse(contractPath, `does not have the form <root>/${contractSuffix}`);
	}

	return rootPaths(contractPath.slice(0, -contractSuffix.length - 1) || '/');
}

/**
 * Checks that the root of a contract file can be worked in, and returns its places.
 *
 * The file, `operations`, `harness` and the root are looked at without following links; above the root links are refused too, because every later
 * opening walks the whole path. Who owns the root is not asked (NFS). Refuses: CACHE_ROOT_INVALID. Changes nothing. Source: C-ROOT-1..4.
 */
export function openRoot(contractPath: string): RootPaths {
	const paths = rootOf(contractPath);
	checkNoLinks(paths.root);
	checkRootDirectory(paths.root);
	for (const [place, kind] of [
		[paths.harness, 'directory'],
		[paths.operations, 'directory'],
		[paths.contract, 'file'],
	] as const) {
		checkEntry(place, kind, `lay out the root with "bailiff init --root ${shellWord(paths.root)}"`);
	}

	return paths;
}

/**
 * Lays out a new root: makes what is missing of root, `harness` and `operations` (0755) and writes the contract file (0644), flushed.
 *
 * An existing contract file is never touched: the root is checked as `openRoot` does and said to be there. `repositories` is left to the account
 * that will own it. Refuses: CACHE_ROOT_INVALID (form, link, kind, world-writable), CACHE_WRITE_FAILED. Source: C-ROOT-6.
 */
export function initRoot(root: string): InitResult {
	checkForm(root);
	const paths = rootPaths(root);
	checkNoLinks(path.posix.dirname(root));
	makeDirectory(paths.root);
	checkRootDirectory(paths.root);
	for (const place of [paths.harness, paths.operations]) {
		makeDirectory(place);
		checkEntry(place, 'directory', 'move it away');
	}

	const outcome = writeContract(paths) ? 'created' : 'already-there';
	return {paths: openRoot(paths.contract), outcome};
}

function checkForm(place: string): void {
	if (!path.posix.isAbsolute(place)) {
		refuse(place, `is not absolute: perhaps ${path.resolve(place)}`);
	}

	if (place.includes('\0') || path.posix.normalize(place) !== place || (place.endsWith('/') && place !== '/')) {
		refuse(place, `is not in its plain form: perhaps ${path.posix.normalize(place).replace(/(?<=.)\/$/, '')}`);
	}
}

function checkNoLinks(place: string): void {
	for (let here = place; here !== '/'; here = path.posix.dirname(here)) {
		if (lstatSync(here, {throwIfNoEntry: false})?.isSymbolicLink() === true) {
			refuse(place, `passes through the symbolic link ${here}${realForm(place)}`);
		}
	}
}

function realForm(place: string): string {
	try {
		return `: name the real path, ${realpathSync(place)}`;
	} catch {
		return '';
	}
}

function checkRootDirectory(root: string): void {
	const status = checkEntry(root, 'directory', `make it with "bailiff init --root ${shellWord(root)}"`);
	if ((status.mode & 0o002) !== 0) {
		refuse(root, `may be written by everybody: a person may run "chmod o-w ${shellWord(root)}", or choose another directory`);
	}
}

function checkEntry(place: string, kind: 'directory' | 'file', remedy: string): {readonly mode: number} {
	let status: ReturnType<typeof lstatSync>;
	try {
		status = lstatSync(place);
	} catch (error) {
		const errno = errnoOf(error);
		throw new BailiffError(
			'CACHE_ROOT_INVALID',
			errno === 'ENOENT' ? `${place} is not there: ${remedy}` : `${place} cannot be looked at (${errno ?? 'unknown'})`,
			{
				cause: error,
				details: {path: place, errno},
			},
		);
	}

	if (status.isSymbolicLink()) {
		refuse(place, `is a symbolic link, a ${kind} was expected`);
	}

	if (kind === 'directory' ? !status.isDirectory() : !status.isFile()) {
		refuse(place, `is no ${kind}`);
	}

	return status;
}

function makeDirectory(place: string): void {
	try {
		mkdirSync(place, {mode: 0o755});
	} catch (error) {
		const errno = errnoOf(error);
		if (errno === 'EEXIST') {
			return;
		}

		const remedy = errno === 'ENOENT' ? `: make ${path.posix.dirname(place)} first` : mendOf(errno);
		throw new BailiffError('CACHE_WRITE_FAILED', `the directory ${place} cannot be made (${errno ?? 'unknown'})${remedy}`, {
			cause: error,
			details: {path: place, errno},
		});
	}
}

/** Written whole under another name and given its own by link, which never replaces: two inits at once leave one whole file. False: it was there. */
function writeContract(paths: RootPaths): boolean {
	if (lstatSync(paths.contract, {throwIfNoEntry: false}) !== undefined) {
		return false;
	}

	const fresh = `${paths.operations}/.repository-cache.md.${randomBytes(8).toString('hex')}`;
	try {
		const descriptor = openSync(fresh, 'wx', 0o644);
		try {
			writeFully(descriptor, Buffer.from(contractText), 0);
			fsyncSync(descriptor);
			linkSync(fresh, paths.contract);
		} finally {
			closeSync(descriptor);
			unlinkSync(fresh);
		}

		flushDirectory(paths.operations);
		return true;
	} catch (error) {
		const errno = errnoOf(error);
		if (errno === 'EEXIST') {
			return false;
		}

		throw new BailiffError('CACHE_WRITE_FAILED', `${paths.contract} cannot be written (${errno ?? 'unknown'})${mendOf(errno)}`, {
			cause: error,
			details: {path: paths.contract, errno},
		});
	}
}

function refuse(place: string, what: string): never {
	throw new BailiffError('CACHE_ROOT_INVALID', `${JSON.stringify(place)} ${what}`, {details: {path: place}});
}
