import {BailiffError, type ErrorCode} from '../core/errors.ts';
import {askpassPath} from '../native/index.ts';
import type {GitAccess} from './authority.ts';
import type {Git, GitAnswer, GitRequest} from './git-command.ts';

/** A git command that speaks to the repository of an authority. `protocol`, `env`, `channel` and `secrets` are decided here. */
export type AuthorityGitRequest = Omit<GitRequest, 'protocol' | 'env' | 'channel' | 'secrets'>;

/** Settings by which a repository could send the credential elsewhere, or trust another server. */
const httpSettings: ReadonlyArray<readonly [key: string, value: string]> = [
	['followRedirects', 'false'],
	['sslVerify', 'true'],
	['proxy', ''],
	['extraHeader', ''],
	['cookieFile', ''],
	['saveCookies', 'false'],
	['emptyAuth', 'false'],
	['delegation', 'none'],
	['curloptResolve', ''],
];

/** What git says, and what it means. The first that fits counts. */
const meanings: ReadonlyArray<readonly [form: RegExp, code: ErrorCode, meaning: string]> = [
	[/returned error: 30[12378]/, 'CACHE_REPOSITORY_MOVED', 'the server redirects, and redirects are never followed: the repository was renamed or moved'],
	[/Authentication failed|returned error: 401/, 'CACHE_AUTHORITY_UNAUTHENTICATED', 'the server does not accept the credential of the profile'],
	[
		/could not read (?:Username|Password)|unable to read askpass response/,
		'CACHE_AUTHORITY_UNAUTHENTICATED',
		'the server asks for a credential that this profile has not: it is for another origin, or it was used up',
	],
	[/returned error: 403/, 'CACHE_AUTHORITY_FORBIDDEN', 'the account may not do this'],
	[/returned error: 404|repository '.*' not found/, 'CACHE_AUTHORITY_NOT_FOUND', 'the server has no such repository for this account'],
	[
		/Could not resolve host|Failed to connect|Connection (?:refused|reset|timed out)|SSL |certificate|unable to access/,
		'CACHE_AUTHORITY_UNREADABLE',
		'the server cannot be reached or is not the one that it says',
	],
];

/**
 * Runs one git command that speaks to a repository of the authority, and hands the token to git's askpass over a pipe.
 *
 * The token stands in no argument, environment, file, URL or setting. Redirects are off, no other protocol is allowed, and the prompts are answered
 * for the exact origin alone. `request.descriptors` begin at 4 where a token is handed over, else at 3.
 * Refuses: CACHE_AUTHORITY_UNAUTHENTICATED, _FORBIDDEN, _NOT_FOUND, _UNREADABLE, CACHE_REPOSITORY_MOVED, CACHE_CREDENTIAL_INVALID (https without a
 * token: nothing is ever read anonymously instead), CACHE_AUTHORITY_MALFORMED (a URL that does not belong to the origin), RUN_NATIVE_MISSING, and
 * CACHE_GIT_ codes for everything else. Source: C-HARD-5, C-HARD-6, C-CRED-1, C-CRED-2.
 */
export async function runAuthorityGit(git: Git, access: GitAccess, request: AuthorityGitRequest): Promise<GitAnswer> {
	checkAccess(access);
	if (access.protocol === 'file') {
		return git.run({...request, protocol: 'file'});
	}

	if (access.readToken === null) {
		throw new BailiffError('CACHE_CREDENTIAL_INVALID', `there is no token for ${access.origin}: nothing is read without one`, {
			details: {origin: access.origin},
		});
	}

	const askpass = askpassPath();
	const token = access.readToken();
	try {
		return await git.run({
			...request,
			protocol: 'https',
			config: [...(request.config ?? []), ...remoteSettings(access)],
			env: {
				GIT_ASKPASS: askpass,
				BAILIFF_ASKPASS_ORIGIN: access.origin,
				BAILIFF_ASKPASS_LOGIN: access.login,
				...(access.caFile === null ? {} : {GIT_SSL_CAINFO: access.caFile}),
			},
			channel: Buffer.from(token, 'latin1'),
			secrets: [token, `${access.login}:${token}`],
		});
	} catch (error) {
		throw remoteRefusal(error, access);
	}
}

/** Named for the very URL as well: a planted setting for a URL beats any general one, also on a command line (measured). */
function remoteSettings({url, login, caFile}: GitAccess): Array<readonly [key: string, value: string]> {
	// Where a profile names its certificates, no directory of others counts beside them.
	const ca = caFile === null ? [] : [['sslCAPath', '/nonexistent'] as const];
	const http = [...httpSettings, ...ca].flatMap(([key, value]) => [[`http.${key}`, value] as const, [`http.${url}.${key}`, value] as const]);
	const credential = ['credential', `credential.${url}`].flatMap(section => [
		[`${section}.helper`, ''] as const,
		[`${section}.useHttpPath`, 'false'] as const,
		[`${section}.username`, login] as const,
	]);
	return [...http, ...credential];
}

function checkAccess(access: GitAccess): void {
	const url = URL.canParse(access.url) ? new URL(access.url) : null;
	const isPlain = url !== null && url.protocol === `${access.protocol}:` && [url.username, url.password, url.search, url.hash].every(part => part === '');
	const isOfOrigin = access.protocol === 'file' || url?.origin === access.origin;
	if (!isPlain || !isOfOrigin) {
		throw new BailiffError('CACHE_AUTHORITY_MALFORMED', `the clone URL that the authority gave does not belong to ${access.origin}: no git is sent there`, {
			details: {origin: access.origin, url_origin: url?.origin ?? null},
		});
	}
}

function remoteRefusal(error: unknown, access: GitAccess): unknown {
	if (!(error instanceof BailiffError) || error.code !== 'CACHE_GIT_FAILED') {
		return error;
	}

	const {stderr} = error.details;
	const found = meanings.find(([form]) => typeof stderr === 'string' && form.test(stderr));
	if (found === undefined) {
		return error;
	}

	const [, code, meaning] = found;
	return new BailiffError(code, `${access.origin}: ${meaning} (${error.message})`, {cause: error, details: {...error.details, origin: access.origin}});
}
