import {type Account, type Authority, type Branch, type Git, type Profile, type Repository, type RepositoryRef, witnessLocalRef} from '../../cache/index.ts';
import {BailiffError} from '../../core/errors.ts';
import {readBranchId, readObjectFormat, readRefs} from './bare-repository.ts';
import {branchForm, toApproval, toIssue} from './documents.ts';
import {authorityDirectory, identifyLocal, localPlaces, originUrlOf} from './places.ts';
import {readApprovalsRecord, readAuthorityRecord, readIssueRecord, readRepositoryRecord} from './records.ts';

/**
 * The authority that is a directory: bare repositories, and JSON files beside them. Whoever may write there is the authority; nobody is authenticated.
 *
 * Reads only, everything afresh at each call. Refuses: CACHE_AUTHORITY_MALFORMED for another URL. Source: authority.md sections 1 and 3.
 */
export function openLocalAuthority(profile: Pick<Profile, 'provider' | 'accountId' | 'login'>, git: Git): Authority {
	const directory = authorityDirectory(profile.provider.url);
	const refOf = (repository: Repository): RepositoryRef => requireRef(identifyLocal(directory, repository.originUrl), repository);
	return {
		kind: 'local',
		account: async () => readAccount(directory, profile.accountId),
		repository: async ref => readRepository(directory, ref, git),
		branch: async (ref, name) => readBranch(directory, ref, {name, git}),
		issue: async (ref, number) => toIssue(readIssueRecord(directory, ref, number)),
		approvals: async (ref, number) => readApprovalsRecord(directory, ref, number).approvals.map(approval => toApproval(approval)),
		gitAccess: repository => ({url: repository.originUrl, protocol: 'file', origin: 'file://', login: profile.login, caFile: null, readToken: null}),
		advertisedRefs: async repository => {
			const ref = refOf(repository);
			readRepositoryRecord(directory, ref);
			return readable(readRefs(git, localPlaces(directory, ref).gitDir));
		},
		witnessRef: async (repository, name) => {
			const ref = refOf(repository);
			readRepositoryRecord(directory, ref);
			return witnessLocalRef(localPlaces(directory, ref).gitDir, name);
		},
		identify: originUrl => identifyLocal(directory, originUrl),
	};
}

function readAccount(directory: string, id: number): Account {
	const {accounts} = readAuthorityRecord(directory);
	const account = accounts.find(known => known.id === id);
	if (account === undefined) {
		const known = accounts.map(({id: knownId, login}) => `${knownId} ${login}`).join(', ');
		throw new BailiffError('CACHE_AUTHORITY_UNAUTHENTICATED', `${directory} knows no account with id ${id}, it has ${known === '' ? 'none' : known}`, {
			details: {path: directory, account_id: id},
		});
	}

	return {id: account.id, login: account.login, authenticated: 'file-ownership'};
}

async function readRepository(directory: string, ref: RepositoryRef, git: Git): Promise<Repository> {
	const record = readRepositoryRecord(directory, ref);
	const objectFormat = await readable(readObjectFormat(git, localPlaces(directory, ref).gitDir));
	return {
		id: record.id,
		fullName: `${record.owner}/${record.repository}`,
		originUrl: originUrlOf(directory, ref),
		defaultBranch: record.default_branch,
		objectFormat,
		isArchived: false,
	};
}

async function readBranch(directory: string, ref: RepositoryRef, {name, git}: {readonly name: string; readonly git: Git}): Promise<Branch> {
	const record = readRepositoryRecord(directory, ref);
	if (!branchForm.safeParse(name).success) {
		throw new BailiffError('CACHE_AUTHORITY_NOT_FOUND', `${JSON.stringify(name)} is no name of a branch`, {details: {branch: name}});
	}

	const {gitDir} = localPlaces(directory, ref);
	const sha = await readable(readBranchId(git, gitDir, name));
	if (sha !== null) {
		return {name, sha};
	}

	const isDefault = name === record.default_branch;
	throw new BailiffError(
		isDefault ? 'CACHE_REPOSITORY_EMPTY' : 'CACHE_AUTHORITY_NOT_FOUND',
		`${gitDir} has no commit at refs/heads/${name}${isDefault ? ', its default branch' : ''}`,
		{details: {path: gitDir, branch: name}},
	);
}

/** A git that fails on the authority's repository means that the authority cannot be read; what is wrong with git itself keeps its code. */
async function readable<T>(answer: Promise<T>): Promise<T> {
	try {
		return await answer;
	} catch (error) {
		if (error instanceof BailiffError && error.code === 'CACHE_GIT_FAILED') {
			throw new BailiffError('CACHE_AUTHORITY_UNREADABLE', `the repository of the authority cannot be read: ${error.message}`, {
				cause: error,
				details: error.details,
			});
		}

		throw error;
	}
}

function requireRef(ref: RepositoryRef | undefined, repository: Repository): RepositoryRef {
	if (ref === undefined) {
		throw new BailiffError('CACHE_AUTHORITY_NOT_FOUND', `${JSON.stringify(repository.originUrl)} is no repository of this authority`, {
			details: {origin: repository.originUrl},
		});
	}

	return ref;
}
