import type {RepositoryName} from '../core/ids.ts';

/** Who can be the authority. Implementations stand in publish/; cli/ joins them. */
export type ProviderKind = 'local' | 'gitea' | 'forgejo' | 'github' | 'gitlab';

/** A repository as a caller names it. */
export type RepositoryRef = RepositoryName;

/** The account that a profile acts as. A local authority authenticates nobody: owning its files is all there is. */
export type Account = {readonly id: number; readonly login: string; readonly authenticated: 'token' | 'file-ownership'};

/** What the authority says about a repository. */
export type Repository = {
	/** Stable: a renamed repository keeps it, a new one under an old name has another. */
	readonly id: number;
	/** owner/repository as the authority spells it. */
	readonly fullName: string;
	readonly originUrl: string;
	/** null: there is none yet. */
	readonly defaultBranch: string | null;
	readonly objectFormat: 'sha1' | 'sha256' | 'unknown';
	readonly isArchived: boolean;
};

/** A branch and the full id of its commit. */
export type Branch = {readonly name: string; readonly sha: string};

/** An issue as it was read. Times are RFC 3339 in UTC, kept and compared as text; the body is the decoded string, unchanged. */
export type Issue = {
	readonly number: number;
	readonly title: string;
	readonly body: string;
	readonly state: 'open' | 'closed';
	readonly authorId: number;
	readonly createdAt: string;
	readonly updatedAt: string;
};

/** What can be approved. Closed: an unknown word is no approval of anything. */
export type ApprovalKind = 'implementation' | 'push' | 'pull_request';

/** One approval: who, of what body, and for `implementation` from which base, for the others of which branch and head. */
export type Approval = {
	readonly id: number;
	readonly kind: ApprovalKind;
	readonly accountId: number;
	readonly bodySha256: string;
	readonly baseSha: string | null;
	readonly branch: string | null;
	readonly headSha: string | null;
	readonly at: string;
	readonly revokedAt: string | null;
};

/** How git reaches the repository. */
export type GitAccess = {
	readonly url: string;
	readonly protocol: 'https' | 'file';
	/** `https://host[:port]`: the only place that ever gets the credential. */
	readonly origin: string;
	readonly login: string;
	readonly caFile: string | null;
	/** Called once per git call; the string goes to the child's descriptor 3 only. */
	readonly readToken: (() => string) | null;
};

/** `refs/…` and full id, sorted by the bytes of the name; HEAD and peeled entries left out. */
export type AdvertisedRefs = ReadonlyArray<readonly [name: string, sha: string]>;

/**
 * Who decides. Read only; every call is a fresh read: no cache, no retry.
 *
 * Refuses: CACHE_AUTHORITY_UNREADABLE, _UNAUTHENTICATED, _FORBIDDEN, _NOT_FOUND, _MALFORMED, _UNTRUSTED. Source: C-ADM-1, C-BOOT-1, C-ROOT-7.
 */
export type Authority = {
	readonly kind: ProviderKind;
	readonly account: () => Promise<Account>;
	readonly repository: (ref: RepositoryRef) => Promise<Repository>;
	/** Refuses: CACHE_REPOSITORY_EMPTY where the default branch is not there, CACHE_AUTHORITY_NOT_FOUND where another one is not. */
	readonly branch: (ref: RepositoryRef, name: string) => Promise<Branch>;
	readonly issue: (ref: RepositoryRef, number: number) => Promise<Issue>;
	readonly approvals: (ref: RepositoryRef, number: number) => Promise<readonly Approval[]>;
	readonly gitAccess: (repository: Repository) => GitAccess;
	/** All refs as the remote advertises them. */
	readonly advertisedRefs: (repository: Repository) => Promise<AdvertisedRefs>;
	/** Second witness of one full ref name, never by git; null: it is not there. */
	readonly witnessRef: (repository: Repository, name: string) => Promise<string | null>;
	/** Pure: the repository an origin URL names here, or undefined; userinfo makes it undefined. */
	readonly identify: (originUrl: string) => RepositoryRef | undefined;
};
