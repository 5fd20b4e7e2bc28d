import {mkdirSync} from 'node:fs';
import path from 'node:path';
import type {z} from 'zod';
import {createTrustedFile, documentBytes, FileLock, type LockWait, replaceDocument} from '../../cache/index.ts';
import {BailiffError, errnoOf} from '../../core/errors.ts';
import {authoritySchema, type LocalAuthorityDocument, localLimits} from './documents.ts';
import {checkLocalDirectory, checkOutsideRoots} from './places.ts';
import {readAuthorityRecord} from './records.ts';

/**
 * Works on the files of a local authority under `DIR/.lock`, the directory checked.
 *
 * Refuses: CACHE_LOCK_ codes, CACHE_AUTHORITY_NOT_FOUND, _UNTRUSTED. Source: authority.md section 1 (commands).
 */
export async function underAuthorityLock<T>(directory: string, wait: LockWait, act: (lock: FileLock) => Promise<T>): Promise<T> {
	checkPlainPath(directory);
	checkOutsideRoots(directory);
	checkLocalDirectory(directory);
	const lock = await FileLock.acquire(path.join(directory, '.lock'), wait);
	try {
		return await act(lock);
	} finally {
		lock.close();
	}
}

/** Makes one directory (0700); what is there is left as it is, to be checked. Refuses: CACHE_WRITE_FAILED. */
export function makeLocalDirectory(place: string): void {
	try {
		mkdirSync(place, {mode: 0o700});
	} catch (error) {
		const errno = errnoOf(error);
		if (errno === 'EEXIST') {
			return;
		}

		throw new BailiffError('CACHE_WRITE_FAILED', `the directory ${place} cannot be made (${errno ?? 'unknown'})`, {
			cause: error,
			details: {path: place, errno},
		});
	}
}

/**
 * Makes sure that `authority.json` is there and knows these logins; new ones get the next free ids. Under the lock.
 *
 * Refuses: CACHE_AUTHORITY_ codes, CACHE_WRITE_FAILED.
 */
export function ensureAccounts(directory: string, logins: readonly string[]): LocalAuthorityDocument {
	const file = path.join(directory, 'authority.json');
	createTrustedFile(file, documentBytes({schema: 'bailiff.local-authority/v1', accounts: []}));
	const before = readAuthorityRecord(directory);
	const accounts = [...before.accounts];
	for (const login of logins.filter(wanted => !accounts.some(account => account.login === wanted))) {
		accounts.push({id: Math.max(0, ...accounts.map(({id}) => id)) + 1, login});
	}

	const after: LocalAuthorityDocument = {...before, accounts};
	if (accounts.length > before.accounts.length) {
		writeRecord(file, authoritySchema, after);
	}

	return after;
}

/**
 * The id of a login. Refuses: CACHE_AUTHORITY_NOT_FOUND with the logins there are.
 */
export function accountIdOf(directory: string, login: string): number {
	const {accounts} = readAuthorityRecord(directory);
	const account = accounts.find(known => known.login === login);
	if (account === undefined) {
		throw new BailiffError(
			'CACHE_AUTHORITY_NOT_FOUND',
			`${directory} knows no account ${JSON.stringify(login)}, it has ${accounts.map(known => known.login).join(', ')}`,
			{
				details: {path: directory, login},
			},
		);
	}

	return account.id;
}

/** Writes a record that its reader will take. Refuses: CACHE_AUTHORITY_MALFORMED for another form or above 1 MiB, CACHE_WRITE_FAILED. */
export function writeRecord<Schema extends z.ZodType>(file: string, schema: Schema, record: z.input<Schema>): void {
	const parsed = schema.safeParse(record);
	if (!parsed.success) {
		const problems = parsed.error.issues.map(issue => `${issue.path.map(String).join('.')}: ${issue.message}`);
		throw new BailiffError('CACHE_AUTHORITY_MALFORMED', `${file} would not have its form: ${problems.join('; ')}`, {details: {path: file, problems}});
	}

	const {length} = documentBytes(record);
	if (length > localLimits.recordBytes) {
		throw new BailiffError('CACHE_AUTHORITY_MALFORMED', `${file} would have ${length} bytes, the limit is ${localLimits.recordBytes}`, {
			details: {path: file, bytes: length, limit: localLimits.recordBytes},
		});
	}

	replaceDocument(file, record);
}

/** Refuses: CACHE_AUTHORITY_MALFORMED for a path that is not absolute and plain. */
export function checkPlainPath(directory: string): void {
	if (!path.isAbsolute(directory) || path.resolve(directory) !== directory || directory === '/') {
		throw new BailiffError('CACHE_AUTHORITY_MALFORMED', `the authority must be named by its plain absolute path, perhaps ${path.resolve(directory)}`, {
			details: {path: directory},
		});
	}
}
