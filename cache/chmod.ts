import {chmodSync, closeSync, constants, fstatSync, lstatSync} from 'node:fs';
import path from 'node:path';
import {BailiffError, type ErrorDetails, errnoOf} from '../core/errors.ts';
import {loadNative} from '../native/index.ts';
import {type CanonicalPlace, canonicalPlaceOf} from './canonical-modes.ts';
import {modeText} from './remedy.ts';
import {openRoot} from './root.ts';

/** What changed. Modes as four octal digits. */
export type ModeChange = {readonly path: string; readonly before: string; readonly after: string};

/** Opening by it reads nothing and needs no permission on the file itself. */
const openPath = 0o10000000;

/**
 * Gives a place of the layout its canonical mode, and looks again at once: `bailiff cache chmod`, the only change of a mode that there is.
 *
 * Shape: `mode` is the mode that the place must have. Refuses: CACHE_MODE_NOT_CANONICAL (no place of the layout, or another mode), CACHE_PATH_MISSING,
 * CACHE_PATH_UNTRUSTED (link, kind, owner, several names), CACHE_WRITE_FAILED; CACHE_ROOT_INVALID. Source: C-TRUST-7.
 */
export function giveCanonicalMode(contractPath: string, place: string, mode: number): ModeChange {
	const paths = openRoot(contractPath);
	const wanted = canonicalPlaceOf(paths, place);
	if (wanted === null || wanted.mode !== mode) {
		throw new BailiffError(
			'CACHE_MODE_NOT_CANONICAL',
			wanted === null
				? `${place} is no place below ${paths.repositories} that has an exact mode; in a mirror or checkout take the rights of others away yourself (chmod go-w)`
				: `the mode of ${place} is ${modeText(wanted.mode)}, not ${modeText(mode)}`,
			{details: {path: place, mode: modeText(mode), canonical: wanted === null ? null : modeText(wanted.mode)}},
		);
	}

	return withPlace(place, descriptor => {
		const before = judge(place, descriptor, wanted);
		// The magic link leads to the very inode that was judged, whatever the name means by now.
		chmodSync(`/proc/self/fd/${descriptor}`, mode);
		const after = judge(place, descriptor, wanted);
		const named = lstatSync(place);
		if (after !== mode || named.ino !== fstatSync(descriptor).ino || (named.mode & 0o7777) !== mode) {
			throw untrusted(place, `has mode ${modeText(after)} after it was given ${modeText(mode)}, or was replaced meanwhile`, {mode: modeText(after)});
		}

		return {path: place, before: modeText(before), after: modeText(after)};
	});
}

function withPlace(place: string, use: (descriptor: number) => ModeChange): ModeChange {
	let descriptor: number;
	try {
		descriptor = loadNative().openNoLinks(place, openPath | constants.O_NOFOLLOW);
	} catch (error) {
		throw refusalOf(place, error);
	}

	try {
		return use(descriptor);
	} catch (error) {
		throw error instanceof BailiffError ? error : refusalOf(place, error);
	} finally {
		closeSync(descriptor);
	}
}

/** The mode of what was opened, where it is what the place must be. */
function judge(place: string, descriptor: number, wanted: CanonicalPlace): number {
	const status = fstatSync(descriptor);
	if (!(wanted.kind === 'directory' ? status.isDirectory() : status.isFile())) {
		throw untrusted(place, `is no ${wanted.kind}`, {});
	}

	if (status.uid !== (process.geteuid?.() ?? -1)) {
		throw untrusted(place, `belongs to uid ${status.uid}`, {uid: status.uid});
	}

	if (wanted.kind === 'file' && status.nlink !== 1) {
		throw untrusted(place, `has ${status.nlink} names (hard links)`, {links: status.nlink});
	}

	return status.mode & 0o7777;
}

function refusalOf(place: string, error: unknown): BailiffError {
	const errno = errnoOf(error);
	if (errno === 'ENOENT') {
		return new BailiffError('CACHE_PATH_MISSING', `${place} is not there`, {cause: error, details: {path: place}});
	}

	return errno === 'ELOOP' || errno === 'ENOTDIR'
		? untrusted(place, `is, or passes through (${path.posix.dirname(place)}), a symbolic link`, {errno})
		: new BailiffError('CACHE_WRITE_FAILED', `the mode of ${place} cannot be changed (${errno ?? 'unknown'})`, {cause: error, details: {path: place, errno}});
}

function untrusted(place: string, what: string, details: ErrorDetails): BailiffError {
	return new BailiffError('CACHE_PATH_UNTRUSTED', `${place} ${what}`, {details: {path: place, ...details}});
}
