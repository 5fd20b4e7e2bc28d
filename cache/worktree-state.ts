import {randomBytes} from 'node:crypto';
import {closeSync, constants, fsyncSync, lstatSync, openSync, renameSync, unlinkSync} from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import {sha256Hex} from '../core/digest.ts';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {flushDirectory, writeFully} from '../core/files.ts';
import {commitIdPattern, type Target} from '../core/ids.ts';
import type {IssuePaths} from './layout.ts';
import {publish} from './staging.ts';
import {createTrustedFile, documentBytes, type FileRefusals, parseDocument, readTrustedFile} from './trusted-file.ts';

const stateSchema = z.strictObject({
	schema: z.literal('gitea-agent.worktree/v1'),
	owner: z.string(),
	repository: z.string(),
	issue: z.int().min(1),
	base_sha: z.string().regex(commitIdPattern),
	issue_updated_at: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/),
	issue_body_sha256: z.string().regex(/^[0-9a-f]{64}$/),
	created_by_role: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/),
	mode: z.literal('detached'),
});

/** Whose worktree it is, at which base, for which body of the issue. No other key is ever written. Source: C-WT-6. */
export type WorktreeState = z.infer<typeof stateSchema>;

/** A state file as it lies there. */
export type StoredState = {readonly state: WorktreeState; readonly sha256: string; readonly bytes: Buffer};

const refusals: FileRefusals = {
	missing: 'CACHE_WORKTREE_ABSENT',
	untrusted: 'CACHE_PATH_UNTRUSTED',
	unreadable: 'CACHE_STATE_INVALID',
	malformed: 'CACHE_STATE_INVALID',
};
const trusted = {refusals, isPrivate: true, maxBytes: 1_048_576} as const;

/**
 * Reads `state.json` of an issue; it must name exactly this one.
 *
 * Refuses: CACHE_WORKTREE_ABSENT, CACHE_STATE_INVALID, CACHE_PATH_UNTRUSTED (0600, ours, one name). Source: C-WT-6, C-TRUST-5, C-REUSE-1.
 */
export function readWorktreeState(paths: IssuePaths): StoredState {
	const bytes = readTrustedFile(paths.state, trusted);
	const state = parseDocument({file: paths.state, bytes}, stateSchema, trusted);
	const {owner, repository, issue}: Target = paths.target;
	if (state.owner !== owner || state.repository !== repository || state.issue !== issue) {
		throw new BailiffError(
			'CACHE_STATE_INVALID',
			`${paths.state} names ${state.owner}/${state.repository}#${state.issue}, but lies where ${owner}/${repository}#${issue} belongs`,
			{details: {path: paths.state}},
		);
	}

	return {state, sha256: sha256Hex(bytes), bytes};
}

/**
 * Publishes the first state of a worktree: a run-unique sibling (0600), flushed, renamed onto a free name.
 *
 * Refuses: CACHE_TARGET_OCCUPIED where one is there, CACHE_WRITE_FAILED. Source: C-WT-6.
 */
export function publishWorktreeState(paths: IssuePaths, state: WorktreeState): void {
	withSibling(paths, state, fresh => {
		publish(fresh, paths.state);
	});
}

/**
 * Puts a renewed state over the old one, which is kept as `state.<sha256>.json`. A call that was killed in between can be made again.
 *
 * Refuses: CACHE_TARGET_OCCUPIED where another file has that name, CACHE_WRITE_FAILED. Source: C-REUSE-3.
 */
export function renewWorktreeState(paths: IssuePaths, old: StoredState, state: WorktreeState): void {
	const kept = keptStatePath(paths, old.sha256);
	// A copy, not a second name: killed in between, the old file would have two, and every reader refuses that.
	if (!createTrustedFile(kept, old.bytes) && !readTrustedFile(kept, trusted).equals(old.bytes)) {
		throw new BailiffError('CACHE_TARGET_OCCUPIED', `${kept} is there already with other content`, {details: {path: kept}});
	}

	withSibling(paths, state, fresh => {
		renameSync(fresh, paths.state);
		flushDirectory(paths.issue);
	});
}

/** Where an earlier state of this digest is kept. Source: C-LAY. */
export function keptStatePath(paths: IssuePaths, sha256: string): string {
	return path.posix.join(paths.issue, `state.${sha256}.json`);
}

/** What a name in an issue's directory is; `unknown` was made by nobody we know. Source: C-LAY. */
export function kindOfIssueEntry(name: string): 'checkout' | 'evidence' | 'kept-state' | 'state' | 'temporary' | 'unknown' {
	switch (name) {
		case 'checkout':
			return 'checkout';
		case 'state.json':
			return 'state';
		case 'verification':
		case 'runtime':
			return 'evidence';
		default:
			break;
	}

	if (/^state\.[0-9a-f]{64}\.json$/.test(name)) {
		return 'kept-state';
	}

	return /^\.state\.[0-9a-f]{16}\.new$/.test(name) ? 'temporary' : 'unknown';
}

/** The state file's bytes as they are written. */
export function stateBytes(state: WorktreeState): Buffer {
	return documentBytes(state);
}

function withSibling(paths: IssuePaths, state: WorktreeState, put: (fresh: string) => void): void {
	const fresh = path.posix.join(paths.issue, `.state.${randomBytes(8).toString('hex')}.new`);
	let isOurs = false;
	try {
		const descriptor = openSync(fresh, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
		isOurs = true;
		try {
			writeFully(descriptor, stateBytes(state), 0);
			fsyncSync(descriptor);
		} finally {
			closeSync(descriptor);
		}

		put(fresh);
	} catch (error) {
		if (isOurs && lstatSync(fresh, {throwIfNoEntry: false}) !== undefined) {
			unlinkSync(fresh);
		}

		if (error instanceof BailiffError) {
			throw error;
		}

		const errno = errnoOf(error);
		throw new BailiffError('CACHE_WRITE_FAILED', `${paths.state} cannot be written (${errno ?? 'unknown'})`, {
			cause: error,
			details: {path: paths.state, errno},
		});
	}
}
