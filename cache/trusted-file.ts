import {randomBytes} from 'node:crypto';
import {type BigIntStats, closeSync, constants, fsyncSync, openSync, realpathSync, renameSync, unlinkSync} from 'node:fs';
import path from 'node:path';
import type {z} from 'zod';
import {BailiffError, type ErrorCode, errnoOf} from '../core/errors.ts';
import {faultSentence, fileFaultOf} from '../core/file-fault.ts';
import {flushDirectory, writeFully} from '../core/files.ts';
import {closing, SafeDirectory} from '../core/safe-file.ts';
import {parseStrictJson} from '../core/strict-json.ts';
import {schemaProblems} from '../evidence/schema-problems.ts';
import {modeText, shellWord} from './remedy.ts';

/** With which codes one kind of file is refused. */
export type FileRefusals = {
	readonly missing: ErrorCode;
	/** A link, another owner, a second name, or others may write it. */
	readonly untrusted: ErrorCode;
	readonly unreadable: ErrorCode;
	readonly malformed: ErrorCode;
};

/** What a trusted file must be, besides regular, ours and of one name. */
export type TrustedFile = {
	readonly refusals: FileRefusals;
	/** Default 1 MiB. */
	readonly maxBytes?: number;
	/** True: mode 0600 exactly. Default: not writable by group and world. */
	readonly isPrivate?: boolean;
	/** True: root may own it, too. */
	readonly mayBeRoots?: boolean;
};

const defaultMaxBytes = 1_048_576;
const maxDepth = 8;
const othersWrite = 0o022n;

/**
 * Reads a file that must not have been touched by anybody else, from one descriptor, without following a link or waiting.
 *
 * Shape: an absolute path; links above its directory are resolved by name, since the caller named them. Refuses: the codes of `expected.refusals`.
 * Source: C-TRUST-4, authority.md (head).
 */
export function readTrustedFile(file: string, expected: TrustedFile): Buffer {
	const {refusals} = expected;
	try {
		const directory = realpathSync(path.dirname(file));
		return closing(SafeDirectory.open(directory), opened =>
			closing(opened.file(path.basename(file)), entry => {
				checkStatus(file, entry.status, expected);
				return entry.read(expected.maxBytes ?? defaultMaxBytes).bytes;
			}),
		);
	} catch (error) {
		const fault = fileFaultOf(error);
		const errno = errnoOf(error);
		if (fault === null && errno === null) {
			throw error;
		}

		const code = codeOfFault(fault ?? (errno === 'ENOENT' ? 'missing' : 'unreadable'), refusals);
		throw new BailiffError(code, `${file} ${fault === null ? `cannot be reached (${errno ?? 'unknown'})` : faultSentence(fault)}`, {
			cause: error,
			details: {path: file, fault, errno},
		});
	}
}

/**
 * Reads a JSON document by the strict parser and its schema; every fault is named by its JSON Pointer, no value is quoted.
 *
 * Refuses: as `readTrustedFile`; `malformed` with `details.problems`. Source: authority.md (head).
 */
export function readDocument<Schema extends z.ZodType>(file: string, schema: Schema, expected: TrustedFile): z.infer<Schema> {
	return parseDocument({file, bytes: readTrustedFile(file, expected)}, schema, expected);
}

/**
 * The same over bytes that were read already.
 *
 * Refuses: `malformed` with `details.problems`.
 */
export function parseDocument<Schema extends z.ZodType>(
	{file, bytes}: {readonly file: string; readonly bytes: Uint8Array},
	schema: Schema,
	expected: TrustedFile,
): z.infer<Schema> {
	const code = expected.refusals.malformed;
	let value: unknown;
	try {
		value = parseStrictJson(bytes, {maxBytes: expected.maxBytes ?? defaultMaxBytes, maxDepth});
	} catch (error) {
		throw error instanceof BailiffError ? new BailiffError(code, `${file} is no strict JSON: ${error.message}`, {cause: error, details: {path: file}}) : error;
	}

	const parsed = schema.safeParse(value);
	if (!parsed.success) {
		const problems = schemaProblems(parsed.error.issues, {value, path: null}).map(({pointer, message}) => ({pointer: pointer ?? '', message}));
		const text = problems.map(({pointer, message}) => `${pointer === '' ? 'the top' : pointer}: ${message}`).join('; ');
		throw new BailiffError(code, `${file} does not have its form: ${text}`, {details: {path: file, problems}});
	}

	return parsed.data;
}

/**
 * Puts a document in place of what stands there: written to a sibling (0600), flushed, renamed, the directory flushed. Its directory must be checked.
 *
 * Refuses: CACHE_WRITE_FAILED. Source: authority.md (head).
 */
export function replaceDocument(file: string, value: unknown): void {
	writeSibling(file, documentBytes(value), fresh => {
		renameSync(fresh, file);
	});
}

/**
 * Writes a file (0600) that must not be there yet, flushed with its directory. False: something is there, and it was not touched.
 *
 * Refuses: CACHE_WRITE_FAILED. Source: C-TRUST-7.
 */
export function createTrustedFile(file: string, bytes: Uint8Array): boolean {
	try {
		writeNew(file, bytes);
		flushDirectory(path.dirname(file));
		return true;
	} catch (error) {
		if (errnoOf(error) === 'EEXIST') {
			return false;
		}

		throw writeFailed(file, error);
	}
}

/** The bytes of a document as people edit it: two blanks deep, a line feed at the end. */
export function documentBytes(value: unknown): Buffer {
	return Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
}

function writeSibling(file: string, bytes: Uint8Array, publish: (fresh: string) => void): void {
	const fresh = path.join(path.dirname(file), `.${randomBytes(8).toString('hex')}.new`);
	try {
		writeNew(fresh, bytes);
		publish(fresh);
		flushDirectory(path.dirname(file));
	} catch (error) {
		removeOwn(fresh);
		throw writeFailed(file, error);
	}
}

function writeNew(file: string, bytes: Uint8Array): void {
	const descriptor = openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
	try {
		writeFully(descriptor, bytes, 0);
		fsyncSync(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

function removeOwn(fresh: string): void {
	try {
		unlinkSync(fresh);
	} catch {
		// Published already, or never made: the refusal that follows says what failed.
	}
}

function writeFailed(file: string, error: unknown): BailiffError {
	const errno = errnoOf(error);
	return new BailiffError('CACHE_WRITE_FAILED', `${file} cannot be written (${errno ?? 'unknown'})`, {cause: error, details: {path: file, errno}});
}

function checkStatus(file: string, status: BigIntStats, expected: TrustedFile): void {
	const uid = process.geteuid?.() ?? -1;
	const refuse = (what: string): never => {
		throw new BailiffError(expected.refusals.untrusted, `${file} ${what}`, {details: {path: file, rule: 'C-TRUST-4'}});
	};
	if (!status.isFile()) {
		refuse(status.isSymbolicLink() ? 'is a symbolic link, which is never followed' : 'is no regular file');
	}

	if (status.uid !== BigInt(uid) && !(expected.mayBeRoots === true && status.uid === 0n)) {
		refuse(`belongs to uid ${status.uid}, but bailiff runs as uid ${uid}`);
	}

	if (status.nlink !== 1n) {
		refuse(`has ${status.nlink} names (hard links), exactly one is allowed`);
	}

	const mode = modeText(Number(status.mode));
	if (expected.isPrivate === true ? mode !== '0600' : (status.mode & othersWrite) !== 0n) {
		refuse(
			expected.isPrivate === true
				? `has mode ${mode}, 0600 is asked for: a person may run "chmod 600 ${shellWord(file)}"`
				: `has mode ${mode}, so that others may write it: a person may run "chmod go-w ${shellWord(file)}"`,
		);
	}
}

function codeOfFault(fault: string, refusals: FileRefusals): ErrorCode {
	switch (fault) {
		case 'missing':
			return refusals.missing;
		case 'link':
		case 'type':
			return refusals.untrusted;
		case 'too-large':
			return refusals.malformed;
		default:
			return refusals.unreadable;
	}
}
