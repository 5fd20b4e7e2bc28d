import {createHash} from 'node:crypto';
import {BailiffError} from '../core/errors.ts';
import {commitIdPattern} from '../core/ids.ts';
import type {Git} from './git-command.ts';

/** One object as git stores it. Its id was computed from these very bytes. */
export type GitObject = {readonly type: string; readonly body: Buffer};

/** Modes that a tree of files can hold: file, executable, symbolic link, submodule. */
export type EntryMode = '100644' | '100755' | '120000' | '160000';

/** One path of a commit. */
export type TreeEntry = {
	/** Relative to the top, one character a byte (latin1): names are bytes, not text. */
	readonly path: string;
	readonly mode: EntryMode;
	readonly id: string;
};

const maxBatchBytes = 256 * 1024 * 1024;
const maxEntries = 2_000_000;
const maxPathBytes = 4096;

/** The id that git gives to an object of these bytes. */
export function gitObjectId(type: string, body: Uint8Array): string {
	return createHash('sha1').update(`${type} ${body.length}\0`).update(body).digest('hex');
}

/**
 * Reads objects in one process and computes each id again, so that a forged or damaged store cannot pass.
 *
 * Shape: full ids; at most 256 MiB in all.
 * Refuses: CACHE_OBJECT_INVALID (missing, or its bytes have another id), CACHE_GIT_OUTPUT. Source: E-READ-5, C-HARD-1.
 */
export async function readObjects(git: Git, gitDir: string, ids: readonly string[]): Promise<Map<string, GitObject>> {
	if (ids.length === 0) {
		return new Map();
	}

	const input = Buffer.from(`${ids.join('\n')}\n`, 'latin1');
	const {stdout} = await git.run({command: ['cat-file', '--batch', '--buffer'], gitDir, input, maxOutputBytes: maxBatchBytes});
	const objects = new Map<string, GitObject>();
	let at = 0;
	for (const id of ids) {
		const end = stdout.indexOf(0x0a, at);
		const [name, type = '', size = ''] = stdout.toString('latin1', at, Math.max(at, end)).split(' ');
		const body = stdout.subarray(end + 1, end + 1 + Number(size));
		if (end === -1 || name !== id || !/^\d+$/.test(size)) {
			throw invalidObject(id, 'is missing: fetch the commit again');
		}

		if (gitObjectId(type, body) !== id) {
			throw invalidObject(id, 'does not have the bytes that its id says: the store is damaged or forged, clone again');
		}

		objects.set(id, {type, body});
		at = end + 1 + Number(size) + 1;
	}

	return objects;
}

/** Sizes in bytes of objects; one that is missing has no entry. */
export async function readObjectSizes(git: Git, gitDir: string, ids: readonly string[]): Promise<Map<string, number>> {
	if (ids.length === 0) {
		return new Map();
	}

	const input = Buffer.from(`${ids.join('\n')}\n`, 'latin1');
	const {stdout} = await git.run({command: ['cat-file', '--batch-check'], gitDir, input});
	const lines = stdout.toString('latin1').matchAll(/^([0-9a-f]{40}) [a-z]+ (\d+)$/gm);
	return new Map(Array.from(lines, ([, id = '', size]) => [id, Number(size)]));
}

/**
 * The tree id of a commit and every path in it, in git's order. Commit and trees are proven by their own bytes.
 *
 * Limits: 2,000,000 paths of at most 4,096 bytes.
 * Refuses: CACHE_OBJECT_INVALID (also for a name that no checkout may hold: "..", ".git"), CACHE_GIT_OUTPUT.
 */
export async function readCommitEntries(git: Git, gitDir: string, commit: string): Promise<{readonly tree: string; readonly entries: readonly TreeEntry[]}> {
	// Only a hint which trees will be needed, for one batch instead of one a level; what it leaves out is read afterwards.
	const hint = await git.run({command: ['ls-tree', '-r', '-t', '-d', '-z', '--full-tree', commit], gitDir, acceptedExitCodes: [0, 128]});
	const hinted = hint.stdout.toString('latin1').matchAll(/(?:^|\0)040000 tree ([0-9a-f]{40})\t/g);
	const objects = await readObjects(git, gitDir, [...new Set([commit, ...Array.from(hinted, ([, id = '']) => id)])]);
	const header = objects.get(commit);
	const tree = /^tree ([0-9a-f]{40})\n/.exec(header?.body.toString('latin1', 0, 46) ?? '')?.[1];
	if (header?.type !== 'commit' || tree === undefined) {
		throw invalidObject(commit, `is no commit but a ${header?.type ?? 'missing object'}`);
	}

	for (;;) {
		const walk = new TreeWalk(objects);
		walk.enter(tree, '');
		if (walk.missing.size === 0) {
			return {tree, entries: walk.entries};
		}

		for (const [id, object] of await readObjects(git, gitDir, [...walk.missing])) {
			objects.set(id, object);
		}
	}
}

class TreeWalk {
	readonly entries: TreeEntry[] = [];
	readonly missing = new Set<string>();
	readonly #objects: ReadonlyMap<string, GitObject>;
	#steps = 0;

	constructor(objects: ReadonlyMap<string, GitObject>) {
		this.#objects = objects;
	}

	enter(id: string, prefix: string): void {
		const object = this.#objects.get(id);
		if (object === undefined) {
			this.missing.add(id);
			return;
		}

		if (object.type !== 'tree') {
			throw invalidObject(id, `is no tree but a ${object.type}`);
		}

		const names = new Set<string>();
		for (const {mode, name, child} of treeLines(id, object.body)) {
			if (names.has(name) || !isSafeName(name) || prefix.length + name.length > maxPathBytes) {
				throw invalidObject(id, `holds a name that no checkout may have: ${JSON.stringify(name)}`);
			}

			names.add(name);
			this.#count(id);
			if (mode === '40000') {
				this.enter(child, `${prefix}${name}/`);
			} else {
				this.entries.push({path: prefix + name, mode: entryMode(id, mode), id: child});
			}
		}
	}

	/** A few small trees that name each other many times unfold to more paths than any machine holds. */
	#count(id: string): void {
		this.#steps++;
		if (this.#steps > maxEntries) {
			throw invalidObject(id, `is part of more than ${maxEntries} paths, which is the limit`);
		}
	}
}

function* treeLines(id: string, body: Buffer): Generator<{mode: string; name: string; child: string}> {
	for (let at = 0; at < body.length; ) {
		const blank = body.indexOf(0x20, at);
		const nul = body.indexOf(0, blank);
		const child = body.toString('hex', nul + 1, nul + 21);
		if (blank === -1 || nul === -1 || !commitIdPattern.test(child)) {
			throw invalidObject(id, 'is a damaged tree');
		}

		yield {mode: body.toString('latin1', at, blank), name: body.toString('latin1', blank + 1, nul), child};
		at = nul + 21;
	}
}

function entryMode(id: string, mode: string): EntryMode {
	if (mode === '120000' || mode === '160000') {
		return mode;
	}

	// Old trees hold 100664 and the like; git takes the owner's execute bit alone.
	if (/^100[0-7]{3}$/.test(mode)) {
		return (Number.parseInt(mode, 8) & 0o100) === 0 ? '100644' : '100755';
	}

	throw invalidObject(id, `holds an entry of the unknown mode ${JSON.stringify(mode)}`);
}

function isSafeName(name: string): boolean {
	return name !== '' && name !== '.' && name !== '..' && !name.includes('/') && name.toLowerCase() !== '.git';
}

function invalidObject(id: string, problem: string): BailiffError {
	return new BailiffError('CACHE_OBJECT_INVALID', `git object ${id} ${problem}`, {details: {id}});
}
