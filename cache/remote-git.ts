import {lstatSync, statfsSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {BailiffError, type ErrorCode} from '../core/errors.ts';
import type {GitAccess} from './authority.ts';
import {type AuthorityGitRequest, runAuthorityGit} from './credential-channel.ts';
import type {Git} from './git-command.ts';

/** One git call that speaks to the remote. */
export type RemoteCall = {
	readonly git: Git;
	readonly access: GitAccess;
	readonly command: readonly string[];
	readonly gitDir: string | null;
	/** Those of the locks that are held: git keeps them while it works, even when we are killed (C-HARD-5). */
	readonly locks: readonly number[];
	/** A directory of the filesystem that git writes to. */
	readonly place: string;
	readonly timeoutMs?: number;
	readonly signal?: AbortSignal;
};

/** Old histories are full of these; none of them changes what a commit means. */
const harmless = ['badTimezone', 'missingSpaceBeforeDate', 'zeroPaddedFilemode'].map(name => [`fetch.fsck.${name}`, 'ignore'] as const);
const leastFreeBytes = 16 * 1_048_576;
const remoteTimeoutMs = 3_600_000;

const knownFailures: ReadonlyArray<readonly [pattern: RegExp, code: ErrorCode, message: string]> = [
	[/no space left on device|disk quota exceeded/i, 'CACHE_DISK_FULL', 'the disk of the root is full: make room, then try again'],
	[/mismatched algorithms/i, 'CACHE_OBJECT_FORMAT', 'the remote uses another kind of ids than the mirror'],
	[/cannot lock ref|cannot update ref|refs? .*exists; cannot create/i, 'CACHE_REF_CONFLICT', 'a ref of the remote needs a place where another ref stands'],
	[/error in object|error: object [0-9a-f]+:|fsck error/i, 'CACHE_OBJECTS_REJECTED', 'the remote sent objects that are malformed'],
];

/**
 * Runs git against the remote with the one protocol that it needs, private modes, checked objects, and the locks' descriptors.
 *
 * Refuses: CACHE_DISK_FULL, CACHE_OBJECT_FORMAT, CACHE_OBJECTS_REJECTED, CACHE_REF_CONFLICT, CACHE_SHALLOW, and otherwise what runAuthorityGit refuses.
 * Source: C-BOOT-4, C-SYNC-3, C-HARD-5, C-HARD-6.
 */
export async function runRemoteGit(call: RemoteCall): Promise<void> {
	requireSpace(call.place);
	requireWholeSource(call.access);
	const request: AuthorityGitRequest = {
		command: call.command,
		gitDir: call.gitDir,
		config: harmless,
		descriptors: call.locks,
		isPrivate: true,
		timeoutMs: call.timeoutMs ?? remoteTimeoutMs,
		...(call.signal === undefined ? {} : {signal: call.signal}),
	};
	try {
		await runAuthorityGit(call.git, call.access, request);
	} catch (error) {
		throw classified(error);
	}
}

function requireSpace(place: string): void {
	const {bavail, bsize} = statfsSync(place);
	if (bavail * bsize < leastFreeBytes) {
		throw new BailiffError('CACHE_DISK_FULL', `only ${bavail * bsize} bytes are free at ${place}, at least ${leastFreeBytes} are asked for: make room`, {
			details: {free_bytes: bavail * bsize, limit: leastFreeBytes},
		});
	}
}

/** C-HARD-1: git would copy the gap into the mirror without a word. */
function requireWholeSource(access: GitAccess): void {
	if (access.protocol === 'file') {
		const source = fileURLToPath(access.url);
		if (lstatSync(`${source}/shallow`, {throwIfNoEntry: false}) !== undefined) {
			throw new BailiffError('CACHE_SHALLOW', `${source} is shallow: run "git fetch --unshallow" there, then try again`, {details: {source}});
		}
	}
}

function classified(error: unknown): unknown {
	if (!(error instanceof BailiffError) || error.code !== 'CACHE_GIT_FAILED') {
		return error;
	}

	const text = typeof error.details['stderr'] === 'string' ? error.details['stderr'] : '';
	const known = knownFailures.find(([pattern]) => pattern.test(text));
	return known === undefined ? error : new BailiffError(known[1], `${known[2]}: ${text}`, {cause: error, details: error.details});
}
