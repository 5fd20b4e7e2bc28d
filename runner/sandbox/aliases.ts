import {type Dirent, lstatSync, readdirSync} from 'node:fs';
import path from 'node:path';
import {BailiffError} from '../../core/errors.ts';
import type {Place} from './places.ts';

/** What of the writable trees leads out of them. */
export type Aliases = {
	/** Files with a name outside as well: what is written to them is written there. */
	readonly hardLinks: readonly string[];
	/** Pipes with a name: who reads them is not known. */
	readonly fifos: readonly string[];
	/** Sockets with a name, to be hidden. */
	readonly sockets: readonly string[];
	/** Programs that run with another's rights and whose content a command could change: a mapping does not clear the bit. */
	readonly privileged: readonly string[];
};

type Walk = {
	readonly userId: number;
	readonly privileged: string[];
	readonly links: Map<string, {readonly first: string; readonly names: number; count: number}>;
	readonly fifos: string[];
	readonly sockets: string[];
};

/** Looks through the writable places once, before the first command; `except` (.git) is mounted read-only and left out. Links are not followed. */
export function findAliases(places: readonly Place[], {except, userId}: {readonly except: string; readonly userId: number}): Aliases {
	const walk: Walk = {userId, privileged: [], links: new Map(), fifos: [], sockets: []};
	const seen = new Set<string>();
	for (const place of places) {
		if (place.kind === 'directory') {
			walkDirectory(place.path, {except, seen, walk});
		} else {
			noteLinks(place.path, walk);
		}
	}

	const hardLinks = [...walk.links.values()].filter(link => link.count < link.names).map(link => link.first);
	return {hardLinks, fifos: walk.fifos, sockets: walk.sockets, privileged: walk.privileged};
}

/** Refuses: RUN_SANDBOX_ALIAS, naming up to ten. Source: S-PLAN-1. */
export function refuseAliases({hardLinks, fifos, privileged}: Aliases): void {
	if (hardLinks.length > 0) {
		throw aliasError(hardLinks, 'a file that has a second name outside the writable places, where a command would write too: replace it by a copy of its own');
	}

	if (privileged.length > 0) {
		throw aliasError(
			privileged,
			'a file with a set-user-ID or set-group-ID bit whose content a command could change: take the bit away (chmod a-s), or remove it',
		);
	}

	if (fifos.length > 0) {
		throw aliasError(fifos, 'a named pipe, by which a command could reach whoever reads it: remove it');
	}
}

function aliasError(found: readonly string[], what: string): BailiffError {
	const shown = found.slice(0, 10);
	const more = found.length > shown.length ? ` and ${found.length - shown.length} more` : '';
	return new BailiffError('RUN_SANDBOX_ALIAS', `${shown.map(name => JSON.stringify(name)).join(', ')}${more}: ${what}`, {details: {paths: shown}});
}

function walkDirectory(top: string, context: {readonly except: string; readonly seen: Set<string>; readonly walk: Walk}): void {
	const waiting = [top];
	for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
		if (directory === context.except || context.seen.has(directory)) {
			continue;
		}

		context.seen.add(directory);
		for (const entry of entriesOf(directory)) {
			const name = path.join(directory, entry.name);
			if (entry.isDirectory()) {
				waiting.push(name);
			} else {
				noteEntry(entry, name, context.walk);
			}
		}
	}
}

/** A directory that we cannot read is one that commands, as the same user, cannot read either. */
function entriesOf(directory: string): Dirent[] {
	try {
		return readdirSync(directory, {withFileTypes: true});
	} catch {
		return [];
	}
}

function noteEntry(entry: Dirent, name: string, walk: Walk): void {
	if (entry.isFile()) {
		noteLinks(name, walk);
	} else if (entry.isFIFO()) {
		walk.fifos.push(name);
	} else if (entry.isSocket()) {
		walk.sockets.push(name);
	}
}

/** For root a set-group-ID bit counts too, as in the filter. */
function isPrivileged(stats: {readonly mode: bigint; readonly uid: bigint}, userId: number): boolean {
	const isWritable = stats.uid === BigInt(userId) || (stats.mode & 0o022n) !== 0n;
	return isWritable && (stats.mode & (userId === 0 ? 0o6000n : 0o4000n)) !== 0n;
}

function noteLinks(name: string, {links, privileged, userId}: Walk): void {
	const stats = lstatSync(name, {bigint: true, throwIfNoEntry: false});
	if (stats !== undefined && isPrivileged(stats, userId)) {
		privileged.push(name);
	}

	if (stats === undefined || stats.nlink < 2n) {
		return;
	}

	const identity = `${stats.dev}:${stats.ino}`;
	const known = links.get(identity) ?? {first: name, names: Number(stats.nlink), count: 0};
	known.count += 1;
	links.set(identity, known);
}
