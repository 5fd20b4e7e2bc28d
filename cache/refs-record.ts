import * as z from 'zod';
import {BailiffError} from '../core/errors.ts';
import {commitIdPattern} from '../core/ids.ts';
import {createTrustedFile, documentBytes, type FileRefusals, readDocument, replaceDocument} from './trusted-file.ts';

/** Full ref names and full ids, sorted by name. */
export type RefPairs = ReadonlyArray<readonly [name: string, sha: string]>;

const idForm = z.string().regex(commitIdPattern);
const pairsForm = z.array(z.tuple([z.string().regex(/^refs\/[^\s\u0000-\u001f\u007f]{1,4096}$/), idForm]).readonly()).readonly();
const recordSchema = z.strictObject({
	schema: z.literal('bailiff.mirror/v1'),
	provider: z.strictObject({kind: z.enum(['local', 'gitea', 'forgejo', 'github', 'gitlab']), url: z.string().min(1).max(4096)}),
	repository_id: z.int().min(1),
	owner: z.string(),
	repository: z.string(),
	origin: z.string().min(1).max(8192),
	object_format: z.literal('sha1'),
	default_branch: z.string().min(1).max(4096),
	pinned_sha: idForm,
	verified_at: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
	verified: pairsForm,
	pending: pairsForm.nullable(),
});

/** What was proven of the mirror last: identity, pinned commit and every ref; and where a fetch is under way, what it may bring. Source: authority.md section 4. */
export type RefsRecord = z.infer<typeof recordSchema>;

const maxBytes = 64 * 1_048_576;
const refusals: FileRefusals = {
	missing: 'CACHE_FOREIGN_MIRROR',
	untrusted: 'CACHE_PATH_UNTRUSTED',
	unreadable: 'CACHE_RECORD_INVALID',
	malformed: 'CACHE_RECORD_INVALID',
};

/**
 * Reads `locks/refs.json`.
 *
 * Refuses: CACHE_FOREIGN_MIRROR where it is not there, CACHE_RECORD_INVALID, CACHE_PATH_UNTRUSTED (0600, ours, one name). Source: C-HARD-4.
 */
export function readRefsRecord(file: string): RefsRecord {
	return readDocument(file, recordSchema, {refusals, isPrivate: true, maxBytes});
}

/** Puts a record in the place of the last one: flushed sibling, rename, flushed directory. The repository lock must be held. Refuses: CACHE_WRITE_FAILED. */
export function replaceRefsRecord(file: string, record: RefsRecord): void {
	replaceDocument(file, record);
}

/**
 * Writes the first record.
 *
 * Refuses: CACHE_TARGET_OCCUPIED where one is there, CACHE_WRITE_FAILED. Source: C-BOOT-6.
 */
export function createRefsRecord(file: string, record: RefsRecord): void {
	if (!createTrustedFile(file, documentBytes(record))) {
		throw new BailiffError('CACHE_TARGET_OCCUPIED', `${file} is there already and is never overwritten`, {details: {path: file}});
	}
}

/** The pairs of `refs` that stand in none of `known`. Source: C-HARD-4. */
export function unknownPairs(refs: RefPairs, known: readonly RefPairs[]): RefPairs {
	const keys = new Set(known.flatMap(pairs => pairs.map(pairKey)));
	return refs.filter(pair => !keys.has(pairKey(pair)));
}

/** Whether both hold the same pairs, in whatever order. */
export function arePairsEqual(left: RefPairs, right: RefPairs): boolean {
	return left.length === right.length && unknownPairs(left, [right]).length === 0;
}

/** The id of one ref, or null. */
export function shaOf(refs: RefPairs, name: string): string | null {
	return refs.find(([found]) => found === name)?.[1] ?? null;
}

function pairKey([name, sha]: RefPairs[number]): string {
	return `${sha} ${name}`;
}
