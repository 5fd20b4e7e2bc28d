import {accessSync, constants, readdirSync, readFileSync, realpathSync, statSync} from 'node:fs';
import path from 'node:path';
import {privateDirectories} from '../../runner/sandbox/profile.ts';
import type {ProjectFiles} from './project-files.ts';

/** Where tools are looked for: the caller's own PATH, since it is theirs that work. */
export type ToolSearch = {
	readonly searchPath: string;
	/** Nothing in it counts: a plan must not depend on what the checkout brings onto PATH. */
	readonly checkout: string;
	/** For the versions that a project pins (`.python-version`, `rust-toolchain`). */
	readonly files: ProjectFiles;
};

/** A tool where it really is: absolute, existing, and no front of a version manager (which needs the home directory that a run does not have). */
export type FoundTool = {readonly name: string; readonly directory: string};

/**
 * Finds a program on the caller's PATH and goes behind the fronts of nvm, rustup, pyenv, rbenv, nodenv and goenv to the version that they would start.
 *
 * Null where it is not there, or where its front is of a manager that is not known here. Nothing is executed. Source: R-PLAN-7.
 */
export function findTool(name: string, search: ToolSearch): FoundTool | null {
	for (const entry of search.searchPath.split(':')) {
		if (!path.isAbsolute(entry) || isInside(entry, search.checkout) || !isProgram(path.join(entry, name))) {
			continue;
		}

		const directory = versionManagerDirectory(name, entry, search.files) ?? (isFront(name, entry) ? null : realpathSync(entry));
		if (directory !== null && path.isAbsolute(directory) && isProgram(path.join(directory, name))) {
			return {name, directory};
		}
	}

	return null;
}

/** The directory to read so that a toolchain in `directory` works: its prefix where it is a `bin` and the prefix is its own, else the directory itself. */
export function toolchainRoot(directory: string, home: string | null): string {
	const prefix = path.dirname(directory);
	const isShared = prefix === '/' || privateDirectories.some(shared => shared === prefix);
	const isTooWide = isShared || prefix === home || (home !== null && path.dirname(prefix) === home && path.basename(prefix) === '.local');
	return path.basename(directory) === 'bin' && !isTooWide ? prefix : directory;
}

/** True where `place` is `parent` or lies below it; both absolute. */
export function isInside(place: string, parent: string): boolean {
	const relative = path.relative(parent, place);
	return relative === '' || (!relative.startsWith('../') && relative !== '..' && !path.isAbsolute(relative));
}

function versionManagerDirectory(name: string, entry: string, files: ProjectFiles): string | null {
	if (isRustupFront(name, entry)) {
		return rustupDirectory(name, entry, files);
	}

	return path.basename(entry) === 'shims' ? shimDirectory(name, path.dirname(entry), files) : null;
}

/** A program that only looks for the version to start: a rustup proxy, a shim, or Volta's link. */
function isFront(name: string, entry: string): boolean {
	return isRustupFront(name, entry) || path.basename(entry) === 'shims' || path.basename(realOrSame(path.join(entry, name))) === 'volta-shim';
}

function isRustupFront(name: string, entry: string): boolean {
	return name !== 'rustup' && ['cargo', 'rustc'].includes(name) && isProgram(path.join(entry, 'rustup')) && path.basename(path.dirname(entry)) === '.cargo';
}

function rustupDirectory(name: string, entry: string, files: ProjectFiles): string | null {
	const home = path.join(path.dirname(path.dirname(entry)), '.rustup');
	const toolchains = path.join(home, 'toolchains');
	const pinned = files.read('rust-toolchain.toml') ?? files.read('rust-toolchain');
	const channel = pinned === null ? null : (/channel\s*=\s*["']([^"']+)["']/.exec(pinned)?.[1] ?? pinned.trim());
	const fallback = /default_toolchain\s*=\s*"([^"]+)"/.exec(readText(path.join(home, 'settings.toml')))?.[1] ?? null;
	const installed = listDirectory(toolchains);
	const chosen = installed.find(found => channel !== null && (found === channel || found.startsWith(`${channel}-`))) ?? (channel === null ? fallback : null);
	const directory = chosen === null ? null : path.join(toolchains, path.basename(chosen), 'bin');
	return directory !== null && isProgram(path.join(directory, name)) ? realpathSync(directory) : null;
}

/** pyenv and its relatives: shims beside `versions`, the version in the project's file or in theirs. */
function shimDirectory(name: string, managerRoot: string, files: ProjectFiles): string | null {
	const pinned = ['.python-version', '.ruby-version', '.node-version', '.go-version'].map(file => files.read(file)).find(text => text !== null);
	const asked = (pinned ?? readText(path.join(managerRoot, 'version'))).trim().split(/\s+/);
	const installed = listDirectory(path.join(managerRoot, 'versions'));
	for (const version of asked) {
		const found = installed.find(candidate => candidate === version || candidate.startsWith(`${version}.`));
		const directory = found === undefined ? null : path.join(managerRoot, 'versions', found, 'bin');
		if (directory !== null && isProgram(path.join(directory, name))) {
			return realpathSync(directory);
		}
	}

	return null;
}

function isProgram(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return statSync(file).isFile();
	} catch {
		return false;
	}
}

function realOrSame(file: string): string {
	try {
		return realpathSync(file);
	} catch {
		return file;
	}
}

function listDirectory(directory: string): string[] {
	try {
		return readdirSync(directory).toSorted((left, right) => right.localeCompare(left, 'en', {numeric: true}));
	} catch {
		return [];
	}
}

function readText(file: string): string {
	try {
		return readFileSync(file, 'utf8');
	} catch {
		return '';
	}
}
