import {closeSync} from 'node:fs';
import {BailiffError} from '../core/errors.ts';
import type {RepositoryName} from '../core/ids.ts';
import {loadNative} from '../native/index.ts';
import type {ProbedResource} from './broker-protocol.ts';
import {issuePaths, type RepositoryPaths, repositoryPaths} from './layout.ts';
import {openRoot} from './root.ts';
import {checkPrivateDirectory, checkPrivateFile, checkRepositories, statusIfThere} from './trust.ts';

/** What was found of a lock. One that was never taken has no file, and is free. */
export type ProbedLock = {readonly resource: ProbedResource; readonly exists: boolean; readonly free: boolean};

/** Which lock of which repository. */
export type ProbeRequest = {
	readonly contractPath: string;
	readonly name: RepositoryName;
	readonly resource: ProbedResource;
	/** Needed for the issue lock. */
	readonly issue: number | null;
};

/**
 * Says whether a lock is free, without a broker: takes it for the moment of the question where nobody holds it. Makes nothing.
 *
 * Refuses: CACHE_ROOT_INVALID, CORE_ID_ codes, CACHE_PATH_UNTRUSTED, CACHE_LOCK_ codes. Source: BR-3, BR-5.
 */
export function probeLock({contractPath, name, resource, issue}: ProbeRequest): ProbedLock {
	const paths = repositoryPaths(openRoot(contractPath).root, name);
	const places = resource === 'bootstrap' ? [paths.bootstrapLocks, paths.ownerBootstrapLocks] : [paths.owner, paths.repository, paths.locks];
	const file = lockFileOf(paths, resource, issue);
	if (statusIfThere(paths.repositories) === null) {
		return {resource, exists: false, free: true};
	}

	checkRepositories(paths.repositories);
	for (const place of places) {
		if (statusIfThere(place) === null) {
			return {resource, exists: false, free: true};
		}

		checkPrivateDirectory(place);
	}

	return {resource, ...probeFile(file)};
}

/** The same for one lock file whose directory is checked already. Refuses: CACHE_PATH_UNTRUSTED, CACHE_LOCK_FAILED. */
export function probeFile(file: string): {readonly exists: boolean; readonly free: boolean} {
	if (statusIfThere(file) === null) {
		return {exists: false, free: true};
	}

	checkPrivateFile(file);
	const native = loadNative();
	try {
		const descriptor = native.openLock(file, false);
		try {
			return {exists: true, free: native.tryLock(descriptor)};
		} finally {
			closeSync(descriptor);
		}
	} catch (error) {
		throw new BailiffError('CACHE_LOCK_FAILED', `the lock file ${file} cannot be asked`, {cause: error, details: {path: file}});
	}
}

/** Where the file of a lock lies. Refuses: CORE_ID_ISSUE for the issue lock without an issue. */
export function lockFileOf(paths: RepositoryPaths, resource: ProbedResource, issue: number | null): string {
	switch (resource) {
		case 'bootstrap':
			return paths.bootstrapLock;
		case 'repository':
			return paths.repositoryLock;
		case 'issue':
			return issuePaths(paths.root, {...paths.name, issue: issue ?? 0}).issueLock;
		default:
			return resource satisfies never;
	}
}
