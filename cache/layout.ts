import path from 'node:path';

import {BailiffError} from '../core/errors.ts';
import {checkRepositoryName, checkTarget, type RepositoryName, runIdProblem, type Target} from '../core/ids.ts';

// C-LAY-1, C-ROOT-8: what stands here is the whole list of places; nothing is found by looking around, so a checkout that lies below the same root is never one.

/** Where the contract file lies below a root (C-ROOT-1). */
export const contractSuffix = 'harness/operations/repository-cache.md';

/** The places of a root that no repository owns. */
export type RootPaths = {
	readonly root: string;
	readonly harness: string;
	readonly operations: string;
	readonly contract: string;
	/** Everything that the tool manages at run time lies below it (C-ROOT-5). */
	readonly repositories: string;
	/** `.locks`: one directory an owner, for repositories that are not there yet. */
	readonly bootstrapLocks: string;
};

/** The places of one repository. */
export type RepositoryPaths = RootPaths & {
	readonly name: RepositoryName;
	readonly ownerBootstrapLocks: string;
	readonly bootstrapLock: string;
	readonly owner: string;
	readonly repository: string;
	readonly mirror: string;
	readonly locks: string;
	readonly repositoryLock: string;
	readonly refsRecord: string;
	readonly worktrees: string;
};

/** The places of one issue. */
export type IssuePaths = RepositoryPaths & {
	readonly target: Target;
	readonly issueLock: string;
	readonly issue: string;
	readonly state: string;
	readonly checkout: string;
	readonly verification: string;
	readonly ledger: string;
	readonly runtime: string;
};

/** The places of the root at the absolute path `root`. Source: C-LAY. */
export function rootPaths(root: string): RootPaths {
	const harness = path.posix.join(root, 'harness');
	const operations = path.posix.join(harness, 'operations');
	const repositories = path.posix.join(root, 'repositories');
	return {
		root,
		harness,
		operations,
		contract: path.posix.join(operations, 'repository-cache.md'),
		repositories,
		bootstrapLocks: path.posix.join(repositories, '.locks'),
	};
}

/**
 * The places of one repository below `root`.
 *
 * Refuses: CORE_ID_OWNER, CORE_ID_REPOSITORY. Source: C-LAY, C-ID-1.
 */
export function repositoryPaths(root: string, name: RepositoryName): RepositoryPaths {
	checkRepositoryName(name);
	const base = rootPaths(root);
	const owner = `${base.repositories}/${name.owner}`;
	const repository = `${owner}/${name.repository}`;
	const ownerBootstrapLocks = `${base.bootstrapLocks}/${name.owner}`;
	const locks = `${repository}/locks`;
	return {
		...base,
		name: {owner: name.owner, repository: name.repository},
		ownerBootstrapLocks,
		bootstrapLock: `${ownerBootstrapLocks}/${name.repository}.bootstrap.lock`,
		owner,
		repository,
		mirror: `${repository}/repository.git`,
		locks,
		repositoryLock: `${locks}/repository.lock`,
		refsRecord: `${locks}/refs.json`,
		worktrees: `${repository}/worktrees`,
	};
}

/**
 * The places of one issue below `root`.
 *
 * Refuses: CORE_ID_OWNER, CORE_ID_REPOSITORY, CORE_ID_ISSUE. Source: C-LAY, C-ID-1.
 */
export function issuePaths(root: string, target: Target): IssuePaths {
	checkTarget(target);
	const base = repositoryPaths(root, target);
	const issue = `${base.worktrees}/issue-${target.issue}`;
	const verification = `${issue}/verification`;
	return {
		...base,
		target: {owner: target.owner, repository: target.repository, issue: target.issue},
		issueLock: `${base.locks}/issue-${target.issue}.lock`,
		issue,
		state: `${issue}/state.json`,
		checkout: `${issue}/checkout`,
		verification,
		ledger: `${verification}/ledger.jsonl`,
		runtime: `${issue}/runtime`,
	};
}

/**
 * Where the evidence of run `runId` lies.
 *
 * Refuses: CORE_ID_RUN. Source: C-LAY, shapes.ts: RunId.
 */
export function runDirectory(paths: IssuePaths, runId: string): string {
	const problem = runIdProblem(runId);
	if (problem !== null) {
		throw new BailiffError('CORE_ID_RUN', `${JSON.stringify(runId)} is no run id: ${problem}`);
	}

	return `${paths.verification}/${runId}`;
}
