import * as fs from 'node:fs';
import type {HttpClient, ServerRef} from 'isomorphic-git';
import {BailiffError, type ErrorCode} from '../core/errors.ts';
import type {AdvertisedRefs, GitAccess} from './authority.ts';
import {scrubGitText} from './git-command.ts';

/**
 * How the witness speaks HTTP: handed in, with the CA, the limits and no redirects of publish/http. The package's own client follows redirects to
 * another origin and takes a CA only through the global agent (measured).
 */
export type WitnessHttp = HttpClient;

const codesByStatus: ReadonlyMap<number, ErrorCode> = new Map([
	[401, 'CACHE_AUTHORITY_UNAUTHENTICATED'],
	[403, 'CACHE_AUTHORITY_FORBIDDEN'],
	[404, 'CACHE_AUTHORITY_NOT_FOUND'],
]);
const fullNameForm = /^refs\/[^\u0000-\u0020\u007f~^:?*[\\]+$/;

/**
 * One ref of a bare repository on disk, read by other code than git: the id, or null where it is not there.
 *
 * Shape: a full name (`refs/…`). Costs about a millisecond a ref: for single refs only.
 * Refuses: CACHE_AUTHORITY_UNREADABLE. Source: authority.md section 3.
 */
export async function witnessLocalRef(gitDir: string, name: string): Promise<string | null> {
	checkName(name);
	const {expandRef, resolveRef, Errors} = await import('isomorphic-git');
	try {
		// The package also tries refs/tags/NAME and the like for a name that is not there: only the name itself counts.
		const found = await expandRef({fs, gitdir: gitDir, ref: name});
		return found === name ? await resolveRef({fs, gitdir: gitDir, ref: name}) : null;
	} catch (error) {
		if (error instanceof Errors.NotFoundError) {
			return null;
		}

		throw new BailiffError('CACHE_AUTHORITY_UNREADABLE', `the second witness cannot read ${name} in ${gitDir}`, {cause: error, details: {path: gitDir, name}});
	}
}

/**
 * All refs as the server advertises them, HEAD and peeled entries left out, sorted by the bytes of the name; read with the credential in memory only.
 *
 * Refuses: CACHE_AUTHORITY_UNAUTHENTICATED, _FORBIDDEN, _NOT_FOUND, _UNREADABLE, CACHE_REPOSITORY_MOVED (a redirect). Source: authority.md section 3.
 */
export async function witnessRemoteRefs(http: WitnessHttp, access: GitAccess): Promise<AdvertisedRefs> {
	const refs = await listRefs(http, access, 'refs/');
	return refs
		.filter(({ref}) => ref.startsWith('refs/') && !ref.endsWith('^{}'))
		.map(({ref, oid}) => [ref, oid] as const)
		.toSorted(([left], [right]) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
}

/** One ref as the server advertises it, or null. Refuses: as `witnessRemoteRefs`. Source: authority.md section 3. */
export async function witnessRemoteRef(http: WitnessHttp, access: GitAccess, name: string): Promise<string | null> {
	checkName(name);
	const refs = await listRefs(http, access, name);
	return refs.find(({ref}) => ref === name)?.oid ?? null;
}

async function listRefs(http: WitnessHttp, access: GitAccess, prefix: string): Promise<ServerRef[]> {
	const {listServerRefs} = await import('isomorphic-git');
	const token = access.readToken?.() ?? null;
	try {
		return await listServerRefs({
			http,
			url: access.url,
			prefix,
			protocolVersion: 2,
			...(token === null ? {} : {onAuth: url => credentialFor(url, access, token)}),
		});
	} catch (error) {
		throw refusal(error, access, token);
	}
}

/** The credential, for the exact origin alone; for any other the request is given up. */
function credentialFor(url: string, access: GitAccess, token: string): {username: string; password: string} | {cancel: true} {
	return URL.canParse(url) && new URL(url).origin === access.origin ? {username: access.login, password: token} : {cancel: true};
}

function refusal(error: unknown, access: GitAccess, token: string | null): BailiffError {
	const status = statusOf(error);
	const text = error instanceof Error ? scrubGitText(error.message, token === null ? [] : [token, `${access.login}:${token}`]) : '';
	const code = codeOfStatus(status);
	// The error of the package is not kept as cause: it holds the server's answer.
	return new BailiffError(code, `${access.origin} does not give its refs${status === null ? '' : ` (HTTP ${status})`}${text === '' ? '' : `: ${text}`}`, {
		details: {origin: access.origin, status},
	});
}

function codeOfStatus(status: number | null): ErrorCode {
	if (status !== null && status >= 300 && status < 400) {
		return 'CACHE_REPOSITORY_MOVED';
	}

	return codesByStatus.get(status ?? 0) ?? 'CACHE_AUTHORITY_UNREADABLE';
}

function statusOf(error: unknown): number | null {
	if (typeof error !== 'object' || error === null || !('data' in error)) {
		return null;
	}

	const {data} = error;
	return typeof data === 'object' && data !== null && 'statusCode' in data && typeof data.statusCode === 'number' ? data.statusCode : null;
}

function checkName(name: string): void {
	if (!fullNameForm.test(name) || name.split('/').some(part => part === '' || part.startsWith('.') || part.endsWith('.lock')) || name.includes('..')) {
		throw new BailiffError('CACHE_AUTHORITY_MALFORMED', `${JSON.stringify(name)} is no full name of a ref`, {details: {name}});
	}
}
