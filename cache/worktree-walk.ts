import {closeSync, constants, openSync, readdirSync} from 'node:fs';
import {setImmediate} from 'node:timers/promises';
import {errnoOf} from '../core/errors.ts';
import {matchCrlfForm} from './checkout-form.ts';
import {gitObjectId} from './git-objects.ts';
import {type Examined, examinePath, type PathState, readRegular, type TrackedPath} from './worktree-file.ts';

/** One path of the checkout that is not as the commit has it. */
export type Difference = {
	/** latin1: one character a byte. */
	readonly path: string;
	readonly state: PathState;
};

/** A tracked path that is as the commit has it, with what the next look compares. */
export type Proven = {readonly tracked: TrackedPath; readonly examined: Examined};

/** What a walk over the working tree found. */
export type Walked = {
	readonly differences: readonly Difference[];
	readonly proven: readonly Proven[];
	/** Only the blob can tell whether these are in the right form: Git LFS files, and CRLF files whose blob mixes line ends. */
	readonly undecided: readonly Proven[];
	/** Directories with tracked files, '' for the top, without a closing slash. */
	readonly directories: readonly string[];
	/** Names beside the tracked ones, files and directories, not entered. */
	readonly strangers: readonly string[];
};

type DirectoryNode = {
	/** '' or ending in a slash. */
	readonly prefix: string;
	readonly files: Map<string, TrackedPath>;
	readonly directories: Map<string, DirectoryNode>;
};

/** Larger text is not converted in memory: it counts as changed. */
export const maxConvertedBytes = 64 * 1024 * 1024;
const yieldEveryFiles = 128;
const yieldEveryBytes = 16 * 1024 * 1024;

/**
 * Compares every tracked path below `root` with the commit, byte for byte, and lists what else lies there.
 *
 * Directories are entered one component at a time through open descriptors, so that a link that replaces one is not followed.
 * Memory is flat in the size of files; the event loop gets its turn every few milliseconds. Source: R-START-3, E-READ-1.
 */
export async function walkWorktree(root: string, tracked: readonly TrackedPath[]): Promise<Walked> {
	const walk = new Walk();
	const descriptor = openSync(root, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
	await walk.enter(toDirectories(tracked), descriptor);
	return walk;
}

/** What a system call takes for a latin1 path: names need not be UTF-8. */
export function toSystemPath(path: string): string | Buffer {
	return /^[\x20-\x7e]*$/.test(path) ? path : Buffer.from(path, 'latin1');
}

class Walk implements Walked {
	readonly differences: Difference[] = [];
	readonly proven: Proven[] = [];
	readonly undecided: Proven[] = [];
	readonly directories: string[] = [];
	readonly strangers: string[] = [];
	#filesSinceYield = 0;
	#bytesSinceYield = 0;

	/** Takes the descriptor over and closes it. */
	async enter(node: DirectoryNode, descriptor: number): Promise<void> {
		try {
			this.directories.push(node.prefix.slice(0, -1));
			this.#listStrangers(node, descriptor);
			for (const [name, tracked] of node.files) {
				this.#examine(reachOf(descriptor, name), tracked);
				await this.#breathe();
			}

			for (const [name, child] of node.directories) {
				await this.#descend(reachOf(descriptor, name), child);
			}
		} finally {
			closeSync(descriptor);
		}
	}

	async #descend(reach: string | Buffer, child: DirectoryNode): Promise<void> {
		let descriptor: number;
		try {
			descriptor = openSync(reach, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
		} catch (error) {
			this.#giveUp(child, stateOfErrno(errnoOf(error)));
			return;
		}

		await this.enter(child, descriptor);
	}

	#listStrangers(node: DirectoryNode, descriptor: number): void {
		for (const name of readdirSync(`/proc/self/fd/${descriptor}`, 'latin1')) {
			const isOwn = node.prefix === '' && name === '.git';
			if (!isOwn && !node.files.has(name) && !node.directories.has(name)) {
				this.strangers.push(node.prefix + name);
			}
		}
	}

	#examine(reach: string | Buffer, tracked: TrackedPath): void {
		const examined = examinePath(reach, tracked);
		this.#filesSinceYield++;
		this.#bytesSinceYield += examined.stamp?.size ?? 0;
		const verdict = examined.fault ?? judge(reach, tracked, examined);
		if (verdict === 'undecided') {
			this.undecided.push({tracked, examined});
		} else if (verdict === null) {
			this.proven.push({tracked, examined});
		} else {
			this.differences.push({path: tracked.path, state: verdict});
		}
	}

	#giveUp(node: DirectoryNode, state: PathState): void {
		for (const {path, mode} of node.files.values()) {
			// A submodule may be absent.
			if (mode !== '160000' || state !== 'deleted') {
				this.differences.push({path, state});
			}
		}

		for (const child of node.directories.values()) {
			this.#giveUp(child, state);
		}
	}

	async #breathe(): Promise<void> {
		if (this.#filesSinceYield >= yieldEveryFiles || this.#bytesSinceYield >= yieldEveryBytes) {
			this.#filesSinceYield = 0;
			this.#bytesSinceYield = 0;
			await setImmediate();
		}
	}
}

function judge(reach: string | Buffer, tracked: TrackedPath, examined: Examined): PathState | 'undecided' | null {
	if (tracked.mode === '160000') {
		return null;
	}

	if (tracked.form === 'crlf' || tracked.form === 'crlf-auto') {
		return judgeCrlf(readRegular(reach, maxConvertedBytes), tracked, tracked.form, examined.rawId);
	}

	if (examined.rawId === tracked.id) {
		return null;
	}

	return tracked.form === 'lfs' ? 'undecided' : 'changed';
}

function judgeCrlf(bytes: Buffer | null, tracked: TrackedPath, form: 'crlf' | 'crlf-auto', rawId: string | null): PathState | 'undecided' | null {
	// The same bytes as were hashed, or the two looks prove nothing together.
	const match = bytes !== null && gitObjectId('blob', bytes) === rawId && matchCrlfForm(bytes, tracked.id, form);
	if (match === 'unknown') {
		return 'undecided';
	}

	return match ? null : 'changed';
}

function toDirectories(tracked: readonly TrackedPath[]): DirectoryNode {
	const top: DirectoryNode = {prefix: '', files: new Map(), directories: new Map()};
	for (const entry of tracked) {
		const components = entry.path.split('/');
		const name = components.pop() ?? '';
		let node = top;
		for (const component of components) {
			let child = node.directories.get(component);
			if (child === undefined) {
				child = {prefix: `${node.prefix}${component}/`, files: new Map(), directories: new Map()};
				node.directories.set(component, child);
			}

			node = child;
		}

		node.files.set(name, entry);
	}

	return top;
}

function reachOf(descriptor: number, name: string): string | Buffer {
	return toSystemPath(`/proc/self/fd/${descriptor}/${name}`);
}

function stateOfErrno(errno: string | null): PathState {
	if (errno === 'ENOENT') {
		return 'deleted';
	}

	return errno === 'ENOTDIR' || errno === 'ELOOP' ? 'type' : 'unreadable';
}
