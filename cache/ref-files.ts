import {readdirSync} from 'node:fs';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {commitIdPattern} from '../core/ids.ts';
import {statusIfThere} from './trust.ts';
import {readRegular} from './worktree-file.ts';

/** What one ref is: an id, another ref that it points to, or nothing that can be read. */
export type RefValue = {readonly sha: string} | {readonly target: string} | {readonly broken: string};

const maxLooseBytes = 8192;
const maxPackedBytes = 64 * 1_048_576;

/**
 * Every ref of a bare repository by its files, sorted by the bytes of the name (latin1: one character a byte).
 *
 * Loose refs first, then packed ones, as git does, so that one that is being packed is seen. Refuses: CACHE_MIRROR_CORRUPT where a directory or
 * `packed-refs` cannot be read or is malformed. Source: C-HARD-4.
 */
export function readRefFiles(mirror: string): ReadonlyArray<readonly [name: string, value: RefValue]> {
	const found = new Map<string, RefValue>();
	enter(mirror, 'refs', found);
	for (const [name, value] of packedRefs(mirror)) {
		if (!found.has(name)) {
			found.set(name, value);
		}
	}

	return [...found].toSorted(([left], [right]) => (left < right ? -1 : 1));
}

function enter(mirror: string, directory: string, found: Map<string, RefValue>): void {
	for (const entry of entriesOf(mirror, directory)) {
		const name = `${directory}/${entry.name}`;
		if (entry.isDirectory()) {
			enter(mirror, name, found);
		} else if (!name.endsWith('.lock')) {
			// A lock file is no ref; that it lies there is another finding.
			const value = looseRef(placeOf(mirror, name));
			if (value !== null) {
				found.set(name, value);
			}
		}
	}
}

function entriesOf(mirror: string, directory: string): ReturnType<typeof listing> {
	try {
		return listing(placeOf(mirror, directory));
	} catch (error) {
		// A directory that became empty meanwhile; `refs` itself is always there.
		if (errnoOf(error) === 'ENOENT' && directory !== 'refs') {
			return [];
		}

		throw new BailiffError('CACHE_MIRROR_CORRUPT', `the refs of the mirror cannot be read (${errnoOf(error) ?? 'unknown'})`, {
			cause: error,
			details: {path: `repository.git/${directory}`},
		});
	}
}

function listing(place: Buffer) {
	return readdirSync(place, {withFileTypes: true, encoding: 'latin1'});
}

/** null: it vanished meanwhile. */
function looseRef(place: Buffer): RefValue | null {
	const bytes = readRegular(place, maxLooseBytes);
	if (bytes === null) {
		return statusIfThere(place.toString()) === null ? null : {broken: 'no small regular file'};
	}

	const text = bytes.toString('latin1').trimEnd();
	if (commitIdPattern.test(text)) {
		return {sha: text};
	}

	const target = /^ref: *(\S+)$/.exec(text)?.[1];
	return target === undefined ? {broken: bytes.length === 0 ? 'an empty file' : 'neither an id nor a ref'} : {target};
}

function* packedRefs(mirror: string): Generator<readonly [string, RefValue]> {
	const file = `${mirror}/packed-refs`;
	if (statusIfThere(file) === null) {
		return;
	}

	const bytes = readRegular(file, maxPackedBytes);
	if (bytes === null) {
		throw malformed('is no plain file, or too large');
	}

	for (const line of bytes.toString('latin1').split('\n')) {
		if (line === '' || line.startsWith('#') || line.startsWith('^')) {
			continue;
		}

		const [, sha, name] = /^([0-9a-f]{40}) (refs\/.+)$/.exec(line) ?? [];
		if (sha === undefined || name === undefined) {
			throw malformed('has a line that is no ref');
		}

		yield [name, {sha}];
	}
}

function malformed(what: string): BailiffError {
	return new BailiffError('CACHE_MIRROR_CORRUPT', `packed-refs of the mirror ${what}`, {details: {path: 'repository.git/packed-refs'}});
}

function placeOf(mirror: string, name: string): Buffer {
	return Buffer.concat([Buffer.from(`${mirror}/`), Buffer.from(name, 'latin1')]);
}
