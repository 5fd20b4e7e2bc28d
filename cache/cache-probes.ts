import {randomBytes} from 'node:crypto';
import {closeSync, mkdirSync, rmdirSync, unlinkSync} from 'node:fs';
import path from 'node:path';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {loadNative} from '../native/index.ts';
import {type Probe, sound, wanting} from '../runner/probe.ts';
import {openGit} from './git-command.ts';
import type {RootPaths} from './layout.ts';
import {openRoot} from './root.ts';
import {checkRepositories, statusIfThere} from './trust.ts';

/** Looks for git and its version. Source: C-HARD-5. */
export async function probeGit(): Promise<Probe> {
	try {
		const git = await openGit();
		return sound('git', `${git.path} ${git.version}`);
	} catch (error) {
		return refusedProbe('git', error, 'install git 2.39.4 or later where /usr/local/bin:/usr/bin:/bin finds it');
	}
}

/**
 * Looks at a root as a run would: form, links, owners, modes, trust, and what its filesystem can do, which is tried in a directory that is removed again.
 *
 * Source: C-ROOT, C-TRUST-1, C-TRUST-2, E-PUB-2, C-LOCK-1.
 */
export function probeRoot(contractPath: string): Probe[] {
	let paths: RootPaths;
	try {
		paths = openRoot(contractPath);
	} catch (error) {
		return [refusedProbe('root', error, 'bailiff init --root DIR lays out a root')];
	}

	const repositories = probeRepositories(paths);
	return [sound('root', paths.root), repositories, ...(repositories.state === 'ok' ? probeFilesystem(paths) : [])];
}

function probeRepositories({repositories}: RootPaths): Probe {
	try {
		if (statusIfThere(repositories) === null) {
			return sound('repositories', 'not there yet: the first run makes it');
		}

		checkRepositories(repositories);
		return sound('repositories', `${repositories} is ours and trusted`);
	} catch (error) {
		return refusedProbe('repositories', error, 'the message names what a person may change');
	}
}

function probeFilesystem(paths: RootPaths): Probe[] {
	const parent = statusIfThere(paths.repositories) === null ? paths.root : paths.repositories;
	const place = path.posix.join(parent, `.doctor-${randomBytes(8).toString('hex')}`);
	try {
		mkdirSync(place, {mode: 0o700});
	} catch (error) {
		const mend = 'the account that runs bailiff must be able to write there, and the disk must have room';
		return [wanting('root-writable', 'fail', {seen: `nothing can be made in ${parent} (${errnoOf(error) ?? 'unknown'})`, mend})];
	}

	try {
		return [sound('root-writable', parent), probeRename(place), probeLock(place), probeFlush(place)];
	} finally {
		rmdirSync(place);
	}
}

function probeRename(place: string): Probe {
	const mend = 'evidence is published by a rename that never replaces: put the root on a filesystem that has it (ext4, xfs, btrfs, tmpfs)';
	const [from, to] = [path.posix.join(place, 'from'), path.posix.join(place, 'to')];
	return tried({id: 'rename-no-replace', mend}, () => {
		mkdirSync(from);
		mkdirSync(to);
		try {
			return renameRefusal(from, to) === 'EEXIST' ? 'refuses to replace' : null;
		} finally {
			rmdirSync(to);
			rmdirSync(from);
		}
	});
}

function renameRefusal(from: string, to: string): string | null {
	try {
		loadNative().renameNoReplace(from, to);
		mkdirSync(from);
		return null;
	} catch (error) {
		return errnoOf(error);
	}
}

function probeLock(place: string): Probe {
	const mend = 'locks are kernel locks (flock): put the root on a local filesystem, or mend the lock service of the network one';
	return tried({id: 'flock', mend}, () => {
		const file = path.posix.join(place, 'lock');
		const native = loadNative();
		const holder = native.openLock(file, true);
		const rival = native.openLock(file, false);
		try {
			return native.tryLock(holder) && !native.tryLock(rival) ? 'one holder at a time' : null;
		} finally {
			closeSync(rival);
			closeSync(holder);
			unlinkSync(file);
		}
	});
}

function probeFlush(place: string): Probe {
	return tried({id: 'syncfs', mend: 'the filesystem cannot promise that evidence survives a power loss: look at its device'}, () => {
		loadNative().syncFilesystem(place);
		return 'flushes';
	});
}

/** `action` says what was seen, or null where the primitive does not do what it must. */
function tried({id, mend}: {readonly id: string; readonly mend: string}, action: () => string | null): Probe {
	try {
		const seen = action();
		return seen === null ? wanting(id, 'fail', {seen: 'it does not do what it must', mend}) : sound(id, seen);
	} catch (error) {
		if (error instanceof BailiffError) {
			return refusedProbe(id, error, mend);
		}

		return wanting(id, 'fail', {seen: errnoOf(error) ?? String(error), mend});
	}
}

/** The probe that a refusal becomes; anything else that was thrown is a bug and goes on. */
export function refusedProbe(id: string, error: unknown, mend: string): Probe {
	if (!(error instanceof BailiffError)) {
		throw error;
	}

	return wanting(id, 'fail', {seen: `${error.code}: ${error.message}`, mend});
}
