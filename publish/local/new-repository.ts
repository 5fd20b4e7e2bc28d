import {randomBytes, randomInt} from 'node:crypto';
import {lstatSync, renameSync, rmSync} from 'node:fs';
import path from 'node:path';
import {
	createTrustedFile,
	documentBytes,
	type FileLock,
	type Git,
	type LockWait,
	locateCheckout,
	type RepositoryRef,
	readLinkFile,
	shellWord,
} from '../../cache/index.ts';
import {BailiffError, errnoOf} from '../../core/errors.ts';
import {flushDirectory} from '../../core/files.ts';
import {readBranchId} from './bare-repository.ts';
import {branchForm, type LocalAuthorityDocument} from './documents.ts';
import {checkPlainPath, ensureAccounts, makeLocalDirectory, underAuthorityLock} from './laying-out.ts';
import {authorityUrl, checkLocalDirectory, type LocalPlaces, localPlaces, originUrlOf, statusOf} from './places.ts';

/** What `local init` is asked for. */
export type NewRepository = {
	/** Absolute; made (0700) where it is not there. */
	readonly directory: string;
	readonly ref: RepositoryRef;
	/** The checkout whose history the repository starts with. */
	readonly checkout: string;
	/** null: the branch that the checkout is on. */
	readonly defaultBranch: string | null;
	/** Logins that the authority is to know. */
	readonly logins: readonly string[];
};

/** What was laid out. */
export type LaidOutRepository = {
	readonly url: string;
	readonly originUrl: string;
	readonly defaultBranch: string;
	readonly sha: string;
	readonly accounts: LocalAuthorityDocument['accounts'];
};

type Source = {readonly commonDir: string; readonly branch: string};

/** What the cloning needs: git keeps the lock while it works, even when we are killed (C-HARD-5). */
type Work = {readonly places: LocalPlaces; readonly git: Git; readonly lock: FileLock; readonly signal: AbortSignal | undefined};

/**
 * Lays out a repository of a local authority: its bare repository cloned from a checkout, `repository.json`, and empty `issues` and `approvals`.
 *
 * The whole directory appears at once; what stands there is never touched; `wait.signal` ends git and removes the staging. Refuses: PUBLISH_LOCAL_EXISTS, CACHE_SHALLOW with the mend,
 * CACHE_CHECKOUT_INVALID, CACHE_REPOSITORY_EMPTY, CACHE_AUTHORITY_ codes, CACHE_LOCK_ codes, CACHE_GIT_ codes, CACHE_WRITE_FAILED.
 * Source: authority.md section 1 (commands), C-HARD-1.
 */
export async function layOutRepository(asked: NewRepository, git: Git, wait: LockWait = {}): Promise<LaidOutRepository> {
	checkPlainPath(asked.directory);
	const places = localPlaces(asked.directory, asked.ref);
	const source = await readSource(asked, git);
	makeLocalDirectory(asked.directory);
	return underAuthorityLock(asked.directory, wait, async lock => {
		const {accounts} = ensureAccounts(asked.directory, asked.logins);
		if (statusOf(places.directory) !== null) {
			throw new BailiffError('PUBLISH_LOCAL_EXISTS', `${places.directory} is there already and is never changed: choose another owner or name`, {
				details: {path: places.directory},
			});
		}

		makeLocalDirectory(places.owner);
		checkLocalDirectory(places.owner);
		const sha = await stageAndPublish(asked.ref, source, {places, git, lock, signal: wait.signal});
		return {url: authorityUrl(asked.directory), originUrl: originUrlOf(asked.directory, asked.ref), defaultBranch: source.branch, sha, accounts};
	});
}

async function stageAndPublish(ref: RepositoryRef, source: Source, work: Work): Promise<string> {
	const {places} = work;
	const staging = path.join(places.owner, `.staging-${randomBytes(16).toString('hex')}`);
	makeLocalDirectory(staging);
	try {
		const gitDir = path.join(staging, path.basename(places.gitDir));
		const sha = await cloneBare(source, gitDir, work);
		for (const name of ['issues', 'approvals']) {
			makeLocalDirectory(path.join(staging, name));
		}

		// Chosen by chance: a repository that comes later never gets the number of one that went.
		const record = {
			schema: 'bailiff.local-repository/v1',
			id: randomInt(1, 2 ** 31),
			owner: ref.owner,
			repository: ref.repository,
			default_branch: source.branch,
		};
		createTrustedFile(path.join(staging, 'repository.json'), documentBytes(record));
		publish(staging, places);
		return sha;
	} catch (error) {
		rmSync(staging, {recursive: true, force: true});
		throw error;
	}
}

/** Under the lock, and seen to be absent: only somebody who works past the lock could stand there by now, and a directory with anything in it is not replaced. */
function publish(staging: string, places: LocalPlaces): void {
	try {
		renameSync(staging, places.directory);
		flushDirectory(places.owner);
	} catch (error) {
		const errno = errnoOf(error);
		throw new BailiffError('CACHE_WRITE_FAILED', `${places.directory} cannot be put in place (${errno ?? 'unknown'})`, {
			cause: error,
			details: {path: places.directory, errno},
		});
	}
}

async function cloneBare(source: Source, gitDir: string, {git, lock, signal}: Work): Promise<string> {
	const command = ['clone', '--bare', '--template=', '--no-local', '--quiet', '--', source.commonDir, gitDir];
	await git.run({command, gitDir: null, protocol: 'file', isPrivate: true, descriptors: [lock.fd], ...(signal === undefined ? {} : {signal})});
	await git.run({command: ['config', '--file', path.join(gitDir, 'config'), '--remove-section', 'remote.origin'], gitDir: null});
	const sha = await readBranchId(git, gitDir, source.branch);
	if (sha === null) {
		throw emptySource(source);
	}

	return sha;
}

async function readSource(asked: NewRepository, git: Git): Promise<Source> {
	const {commonDir, gitDir, checkout} = locateCheckout(asked.checkout);
	const config = await git.run({
		command: [
			'config',
			'--file',
			path.join(commonDir, 'config'),
			'--no-includes',
			'--name-only',
			'--get-regexp',
			'^(extensions\\.partialclone|remote\\..*\\.promisor)$',
		],
		gitDir: null,
		acceptedExitCodes: [0, 1],
	});
	const isPartial = config.exitCode === 0;
	if (isPartial || lstatSync(path.join(commonDir, 'shallow'), {throwIfNoEntry: false}) !== undefined) {
		const mend = isPartial ? 'clone it again without --filter' : `run "git -C ${shellWord(checkout)} fetch --unshallow"`;
		throw new BailiffError(
			'CACHE_SHALLOW',
			`${checkout} is ${isPartial ? 'a partial' : 'a shallow'} clone: a mirror of it would be refused, because its history is not whole; ${mend}`,
			{details: {path: checkout, mend}},
		);
	}

	const branch = asked.defaultBranch ?? /^ref: refs\/heads\/(.+)\n$/.exec(readLinkFile(path.join(gitDir, 'HEAD')) ?? '')?.[1];
	if (branch === undefined || !branchForm.safeParse(branch).success) {
		throw new BailiffError('CACHE_REPOSITORY_EMPTY', `${checkout} is on no branch: name the default branch with --default-branch`, {details: {path: checkout}});
	}

	const source = {commonDir, branch};
	if ((await readBranchId(git, commonDir, branch)) === null) {
		throw emptySource(source);
	}

	return source;
}

function emptySource({commonDir, branch}: Source): BailiffError {
	return new BailiffError('CACHE_REPOSITORY_EMPTY', `${commonDir} has no commit at refs/heads/${branch}: commit something, or name another branch`, {
		details: {path: commonDir, branch},
	});
}
