import {BailiffError} from '../core/errors.ts';
import type {RepositoryName} from '../core/ids.ts';
import type {Account, Authority, GitAccess, Repository} from './authority.ts';
import {confirmAccount, type Profile} from './profile.ts';
import type {RefsRecord} from './refs-record.ts';
import type {ReportIdentity} from './report.ts';

/** A role and the authority that it speaks to; cli/ joins them. */
export type AuthoritySession = {readonly profile: Profile; readonly authority: Authority};

/** What the authority says about one repository, read in this command. */
export type AuthorityState = AuthoritySession & {
	readonly name: RepositoryName;
	readonly account: Account;
	readonly repository: Repository;
	readonly defaultBranch: string;
	readonly access: GitAccess;
};

/**
 * Confirms the account and reads the repository; it must be the one asked for, with a default branch and sha1 ids.
 *
 * Refuses: CACHE_ACCOUNT_MISMATCH, CACHE_AUTHORITY_ codes, CACHE_IDENTITY_CASE, CACHE_REPOSITORY_MOVED, CACHE_OBJECT_FORMAT, CACHE_REPOSITORY_EMPTY.
 * Source: C-BOOT-1, C-HARD-10.
 */
export async function readAuthorityState(session: AuthoritySession, name: RepositoryName): Promise<AuthorityState> {
	const account = await confirmAccount(session.profile, session.authority);
	const repository = await session.authority.repository(name);
	const {defaultBranch} = requireRepository(repository, name);
	return {...session, name, account, repository, defaultBranch, access: session.authority.gitAccess(repository)};
}

/** Who acts, as a report says it. */
export function identityOf({profile, account}: Pick<AuthorityState, 'profile' | 'account'>): ReportIdentity {
	return {
		provider: profile.provider.kind,
		url: profile.provider.url,
		account_id: account.id,
		login: account.login,
		role: profile.role,
		authenticated: account.authenticated,
	};
}

/** The same judgement over a repository read again. Refuses: as `readAuthorityState`, without the account. */
export function requireRepository(repository: Repository, name: RepositoryName): {readonly defaultBranch: string} {
	const wanted = `${name.owner}/${name.repository}`;
	const details = {asked: wanted, found: repository.fullName};
	if (repository.fullName !== wanted) {
		const isCase = repository.fullName.toLowerCase() === wanted.toLowerCase();
		throw new BailiffError(
			isCase ? 'CACHE_IDENTITY_CASE' : 'CACHE_REPOSITORY_MOVED',
			`the authority has it as ${JSON.stringify(repository.fullName)}, not ${wanted}: name it as the authority does`,
			{details},
		);
	}

	if (repository.objectFormat === 'sha256') {
		throw new BailiffError('CACHE_OBJECT_FORMAT', `${wanted} uses sha256 ids; only sha1 (40 digits) can be mirrored`, {details});
	}

	if (repository.defaultBranch === null) {
		throw new BailiffError('CACHE_REPOSITORY_EMPTY', `${wanted} has no default branch yet: push a first commit`, {details});
	}

	return {defaultBranch: repository.defaultBranch};
}

/**
 * Compares what the authority says with what the mirror was made from.
 *
 * Refuses: CACHE_ORIGIN_MISMATCH (another provider, authority or name), CACHE_REPOSITORY_REPLACED (the name is another repository's now).
 * Source: C-SYNC-2, facts of renamed repositories.
 */
export function requireSameRepository(record: RefsRecord, {profile, name, repository}: AuthorityState): void {
	const {provider} = profile;
	const wanted = `${name.owner}/${name.repository}`;
	if (record.provider.kind !== provider.kind || record.provider.url !== provider.url || record.owner !== name.owner || record.repository !== name.repository) {
		throw new BailiffError(
			'CACHE_ORIGIN_MISMATCH',
			`the mirror was made from ${record.owner}/${record.repository} at ${record.provider.url} (${record.provider.kind}), the profile is for ${provider.url} (${provider.kind}): use the profile of that authority, or another root`,
			{details: {path: 'locks/refs.json', recorded: {...record.provider}, profile: {kind: provider.kind, url: provider.url}}},
		);
	}

	if (record.repository_id !== repository.id) {
		throw new BailiffError(
			'CACHE_REPOSITORY_REPLACED',
			`${wanted} is repository ${repository.id} at the authority now, the mirror is of repository ${record.repository_id}: another one took its name`,
			{details: {path: 'locks/refs.json', recorded: record.repository_id, found: repository.id}},
		);
	}
}
