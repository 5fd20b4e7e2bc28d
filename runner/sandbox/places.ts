import {lstatSync, realpathSync, statSync} from 'node:fs';
import path from 'node:path';

/** A path as it was found: resolved, with the identity that the mounted one must have (a swapped path is seen before the command starts). */
export type Place = {readonly path: string; readonly kind: 'directory' | 'file'; readonly device: bigint; readonly inode: bigint};

/** Why a path is no place. */
export type PlaceFault = {readonly path: string; readonly reason: string};

/** Resolves `candidate` (absolute) through every link and looks at what is there. Only directories and regular files are places. */
export function findPlace(candidate: string): Place | PlaceFault {
	try {
		const real = realpathSync.native(candidate);
		const stats = statSync(real, {bigint: true});
		if (!stats.isDirectory() && !stats.isFile()) {
			return {path: candidate, reason: 'is neither a directory nor a regular file'};
		}

		return {path: real, kind: stats.isDirectory() ? 'directory' : 'file', device: stats.dev, inode: stats.ino};
	} catch {
		return {path: candidate, reason: 'does not exist or cannot be reached'};
	}
}

/** A link that is met on the way to a place: its own path without links, and where it leads in the end. */
export type PlaceLink = {readonly path: string; readonly target: string};

/** Every link on the way to `candidate` (absolute, reachable), in order: where its surroundings are hidden it must be made anew. */
export function linksTo(candidate: string): PlaceLink[] {
	const links: PlaceLink[] = [];
	let current = '/';
	for (const component of path.normalize(candidate).split('/').filter(Boolean)) {
		const next = path.join(current, component);
		if (lstatSync(next).isSymbolicLink()) {
			current = realpathSync.native(next);
			links.push({path: next, target: current});
		} else {
			current = next;
		}
	}

	return links;
}

/** The place at `candidate`, or null where nothing of use is there. */
export function placeOrNull(candidate: string): Place | null {
	const found = findPlace(candidate);
	return 'reason' in found ? null : found;
}

/** True when `inner` is `outer` or lies below it. Both absolute and normalized. */
export function isWithin(inner: string, outer: string): boolean {
	return inner === outer || inner.startsWith(outer === '/' ? '/' : `${outer}/`);
}

/** The absolute form of a path of a profile: "~/" is `home`, everything relative is below `checkout`. */
export function absolutePath(written: string, from: {readonly home: string; readonly checkout: string}): string {
	if (written === '~' || written.startsWith('~/')) {
		return path.join(from.home, written.slice(1));
	}

	return path.resolve(from.checkout, written);
}
