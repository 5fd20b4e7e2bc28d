import {lstatSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import * as z from 'zod';
import {BailiffError} from '../core/errors.ts';
import type {Account, Authority, ProviderKind} from './authority.ts';
import {checkPrivateDirectory, ensurePrivateDirectory} from './trust.ts';
import {createTrustedFile, documentBytes, type FileRefusals, readDocument, readTrustedFile} from './trusted-file.ts';

/** A role: who acts, at which authority, and whose approval counts. Belongs to exactly one provider. Never holds the token. */
export type Profile = {
	readonly directory: string;
	readonly role: string;
	readonly provider: {
		readonly kind: ProviderKind;
		readonly url: string;
		/** Absolute; a PEM file checked like the profile itself, or null: the system's own. */
		readonly caFile: string | null;
	};
	readonly login: string;
	readonly accountId: number;
	/** Account ids, at least one. */
	readonly approvers: readonly number[];
};

/** The name of the one variable in `.env`, by provider; null: a file there is refused, since nobody would read it. */
const tokenKeys: Readonly<Record<ProviderKind, string | null>> = {
	local: null,
	gitea: 'GITEA_TOKEN',
	forgejo: 'GITEA_TOKEN',
	github: 'GITHUB_TOKEN',
	gitlab: 'GITLAB_TOKEN',
};

const kinds = ['local', 'gitea', 'forgejo', 'github', 'gitlab'] as const satisfies readonly ProviderKind[];
const idForm = z.int().min(1);
/** A login. It stands in the prompts that askpass compares, so it holds neither a quote nor a blank nor an `@`. */
export const loginForm: z.ZodString = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/);

const profileSchema = z.strictObject({
	schema: z.literal('bailiff.profile/v1'),
	role: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/),
	provider: z.strictObject({kind: z.enum(kinds), url: z.string().max(4096), ca_file: z.string().min(1).max(4096).exactOptional()}),
	login: loginForm,
	account_id: idForm,
	approvers: z
		.array(idForm)
		.min(1)
		.max(256)
		.refine(ids => new Set(ids).size === ids.length, 'every approver stands once'),
});

/** What `profile.json` holds. */
export type ProfileDocument = z.infer<typeof profileSchema>;

const refusals: FileRefusals = {
	missing: 'CACHE_PROFILE_INVALID',
	untrusted: 'CACHE_PATH_UNTRUSTED',
	unreadable: 'CACHE_PROFILE_INVALID',
	malformed: 'CACHE_PROFILE_INVALID',
};
const credentialRefusals: FileRefusals = {...refusals, missing: 'CACHE_CREDENTIAL_INVALID', unreadable: 'CACHE_CREDENTIAL_INVALID'};
const maxCaBytes = 4 * 1_048_576;
const maxEnvBytes = 65_536;

/**
 * Reads and checks the profile in `directory`: the directory (ours, 0700), `profile.json`, the CA file, and whether `.env` is there as it must be.
 *
 * The token is not read. Refuses: CACHE_PATH_MISSING, CACHE_PATH_UNTRUSTED, CACHE_PROFILE_INVALID, CACHE_CREDENTIAL_INVALID.
 * Source: authority.md section 2, C-CRED-1.
 */
export function readProfile(directory: string): Profile {
	if (!path.isAbsolute(directory) || path.resolve(directory) !== directory) {
		throw invalid(directory, `the profile must be named by its plain absolute path, perhaps ${path.resolve(directory)}`);
	}

	checkPrivateDirectory(directory);
	const file = path.join(directory, 'profile.json');
	const document = readDocument(file, profileSchema, {refusals});
	const profile = toProfile(directory, document);
	checkProviderUrl(file, document);
	checkEnvPresence(profile);
	return profile;
}

/**
 * Reads the token of a profile, afresh at each call. The caller hands it on at once and keeps it nowhere.
 *
 * Refuses: CACHE_CREDENTIAL_INVALID (no file, another form; the value is never shown), CACHE_PATH_UNTRUSTED. Source: C-CRED-1, authority.md section 2.
 */
export function readProfileToken(profile: Profile): string {
	const file = path.join(profile.directory, '.env');
	const key = tokenKeys[profile.provider.kind];
	if (key === null) {
		throw new BailiffError('CACHE_CREDENTIAL_INVALID', `a profile of kind ${profile.provider.kind} has no token`, {details: {path: file}});
	}

	const text = readTrustedFile(file, {refusals: credentialRefusals, isPrivate: true, maxBytes: maxEnvBytes}).toString('latin1');
	const lines = text.split('\n').filter(line => line.trim() !== '' && !line.startsWith('#'));
	const [line] = lines;
	const value = line?.startsWith(`${key}=`) === true ? line.slice(key.length + 1) : '';
	if (lines.length !== 1 || !/^[\u0021-\u007e]{1,4096}$/.test(value) || /^["']|["']$/.test(value)) {
		throw new BailiffError(
			'CACHE_CREDENTIAL_INVALID',
			`${file} must hold exactly one line ${key}=VALUE (1 to 4096 visible ASCII characters, no quotes, no export), besides blank lines and lines that start with #; it holds ${lines.length}`,
			{details: {path: file, key, lines: lines.length}},
		);
	}

	return value;
}

/**
 * Asks the authority who we are; the answer must be the account that the profile names.
 *
 * Refuses: CACHE_ACCOUNT_MISMATCH, and what `account()` refuses. Source: C-BOOT-1, authority.md section 2.
 */
export async function confirmAccount(profile: Profile, authority: Authority): Promise<Account> {
	const account = await authority.account();
	if (account.id !== profile.accountId || account.login !== profile.login) {
		throw new BailiffError(
			'CACHE_ACCOUNT_MISMATCH',
			`the authority answers as ${account.login} (id ${account.id}), the profile ${profile.directory} is for ${profile.login} (id ${profile.accountId}): use the credential of that account, or the profile of this one`,
			{details: {profile: profile.directory, found: {id: account.id, login: account.login}, expected: {id: profile.accountId, login: profile.login}}},
		);
	}

	return account;
}

/**
 * Writes a new profile: `profile.json` (0600) in `directory`, which is made (0700) where it is not there. Nothing that exists is changed.
 *
 * Refuses: CACHE_PATH_MISSING, CACHE_PATH_UNTRUSTED, CACHE_PROFILE_INVALID, CACHE_PROFILE_EXISTS, CACHE_WRITE_FAILED.
 * Durability: flushed. Source: authority.md section 1 (commands).
 */
export function createProfile(directory: string, document: ProfileDocument): void {
	const file = path.join(directory, 'profile.json');
	const parsed = profileSchema.safeParse(document);
	if (!parsed.success) {
		const where = parsed.error.issues.map(issue => `${issue.path.join('.')}: ${issue.message}`).join('; ');
		throw invalid(file, `the profile would not have its form: ${where}`);
	}

	checkProviderUrl(file, document);
	ensurePrivateDirectory(directory);
	if (!createTrustedFile(file, documentBytes(document))) {
		throw new BailiffError('CACHE_PROFILE_EXISTS', `${file} is there already and is never overwritten: name another directory, or remove the file yourself`, {
			details: {path: file},
		});
	}
}

/** The name of the variable that `.env` must hold for a provider of this kind, or null where there must be no `.env`. */
export function tokenKeyOf(kind: ProviderKind): string | null {
	return tokenKeys[kind];
}

/** The word as a kind of provider, or null. */
export function providerKindOf(word: string): ProviderKind | null {
	return kinds.find(kind => kind === word) ?? null;
}

function toProfile(directory: string, document: ProfileDocument): Profile {
	const given = document.provider.ca_file;
	const caFile = given === undefined ? null : caFileOf(directory, given);
	return {
		directory,
		role: document.role,
		provider: {kind: document.provider.kind, url: document.provider.url, caFile},
		login: document.login,
		accountId: document.account_id,
		approvers: document.approvers,
	};
}

function caFileOf(directory: string, given: string): string {
	if (!path.isAbsolute(given) && given.includes('/')) {
		throw invalid(directory, 'provider.ca_file must be a file name in the profile or an absolute path');
	}

	const file = path.resolve(directory, given);
	readTrustedFile(file, {refusals, maxBytes: maxCaBytes, mayBeRoots: true});
	return file;
}

function checkProviderUrl(file: string, {provider}: ProfileDocument): void {
	const wanted = provider.kind === 'local' ? plainFileUrl(provider.url) : plainForgeUrl(provider.url);
	if (wanted !== provider.url) {
		const form = provider.kind === 'local' ? 'file:// and the percent-encoded absolute path of the authority' : 'https://host[:port]/[prefix/]';
		throw invalid(file, `provider.url must be ${form}${wanted === null ? '' : `, perhaps ${wanted}`}; no user, query or fragment`);
	}

	if (provider.kind === 'local' && provider.ca_file !== undefined) {
		throw invalid(file, 'provider.ca_file has no meaning for kind local, remove it');
	}
}

function plainFileUrl(given: string): string | null {
	try {
		const directory = path.resolve(fileURLToPath(given));
		return directory === '/' ? null : pathToFileURL(directory).href;
	} catch {
		return null;
	}
}

function plainForgeUrl(given: string): string | null {
	if (!URL.canParse(given)) {
		return null;
	}

	const url = new URL(given);
	return url.protocol === 'https:' && url.hostname !== '' ? `${url.origin}${url.pathname.replace(/\/?$/, '/')}` : null;
}

/** C-CRED-1: a token that is missing, or a file that looks like protection and is none, shows before anything is asked. */
function checkEnvPresence(profile: Profile): void {
	const file = path.join(profile.directory, '.env');
	const isThere = lstatSync(file, {throwIfNoEntry: false}) !== undefined;
	const key = tokenKeys[profile.provider.kind];
	if (key === null && isThere) {
		throw new BailiffError('CACHE_CREDENTIAL_INVALID', `${file} must not be there: a local authority reads no token, so the file protects nothing`, {
			details: {path: file},
		});
	}

	if (key !== null && !isThere) {
		throw new BailiffError('CACHE_CREDENTIAL_INVALID', `${file} is missing: write the line ${key}=VALUE into it, mode 0600`, {details: {path: file, key}});
	}
}

function invalid(file: string, message: string): BailiffError {
	return new BailiffError('CACHE_PROFILE_INVALID', message, {details: {path: file}});
}
