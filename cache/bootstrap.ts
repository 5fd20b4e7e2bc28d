import {readdirSync} from 'node:fs';
import {systemClock, toRfc3339Ms} from '../core/clock.ts';
import {BailiffError} from '../core/errors.ts';
import {loadNative} from '../native/index.ts';
import type {AuthorityState} from './authority-state.ts';
import type {RepositoryPaths} from './layout.ts';
import {descriptorsOf, type HeldLock} from './lock-session.ts';
import {readMirrorState} from './mirror-check.ts';
import {readMirrorConfig, writeOwnConfig} from './mirror-config.ts';
import {inspectMirrorFiles} from './mirror-files.ts';
import {commandLine} from './mirror-problem.ts';
import {describeMirror, searchCredential} from './mirror-report.ts';
import {type MirrorRequest, type MirrorWork, requireAuthorityFor, waitOf, workOnMirror} from './mirror-work.ts';
import {createRefsRecord, type RefsRecord} from './refs-record.ts';
import {runRemoteGit} from './remote-git.ts';
import {type CacheReport, ReportDraft, type ReportStatus} from './report.ts';
import {createStaging, publish, removeStaging, type Staging} from './staging.ts';
import {syncStanding} from './sync.ts';
import {checkPrivateDirectory, ensurePrivateDirectory, ensureRepositories, statusIfThere} from './trust.ts';
import {fetchVerified, type VerifiedRefs} from './verified-fetch.ts';

/** What stands where the mirror belongs. `runs`: a directory that holds only what runs without a mirror made. */
type Target = 'nothing' | 'runs' | 'mirror';

/**
 * Makes the mirror of a repository, or brings the one that stands up to date: `bailiff cache bootstrap`.
 *
 * Everything is made and proven in a staging directory of this run and published by a rename that replaces nothing; on failure exactly that staging is
 * removed. Refuses (in the report): CACHE_ codes of authority, trust, locks, clone and proof; after publication `partial`. Source: C-BOOT-1..9, C-HARD.
 */
export function bootstrapMirror(request: MirrorRequest): Promise<CacheReport> {
	return workOnMirror(request, new ReportDraft('cache bootstrap', request.name), async work => {
		const state = await requireAuthorityFor(work);
		const {paths, locks, draft} = work;
		ensureRepositories(paths.repositories);
		for (const place of [paths.bootstrapLocks, paths.ownerBootstrapLocks, paths.owner]) {
			ensurePrivateDirectory(place);
		}

		const outer = await locks.bootstrap(waitOf(request));
		draft.locks.push('bootstrap');
		if (lookAtTarget(paths) !== 'mirror') {
			return makeMirror(work, state, outer);
		}

		await outer.release();
		draft.cache.reused = true;
		return syncStanding(work, state);
	});
}

/** Source: C-BOOT-2, C-BOOT-9. Refuses: CACHE_TARGET_OCCUPIED, CACHE_MIRROR_PARTIAL, CACHE_PATH_UNTRUSTED. */
function lookAtTarget(paths: RepositoryPaths): Target {
	if (statusIfThere(paths.repository) === null) {
		return 'nothing';
	}

	checkPrivateDirectory(paths.repository);
	if (statusIfThere(paths.mirror) !== null) {
		return 'mirror';
	}

	for (const name of readdirSync(paths.repository)) {
		if (name !== 'locks' && name !== 'worktrees') {
			throw new BailiffError(
				'CACHE_TARGET_OCCUPIED',
				`${paths.repository} holds ${JSON.stringify(name)}, which no run made: move it away; nothing there is overwritten`,
				{
					details: {path: name},
				},
			);
		}

		checkPrivateDirectory(`${paths.repository}/${name}`);
	}

	if (statusIfThere(paths.refsRecord) !== null) {
		throw new BailiffError(
			'CACHE_MIRROR_PARTIAL',
			`${paths.refsRecord} stands without its mirror: a bootstrap was killed between its two publications, or the mirror was moved away`,
			{details: {path: 'locks/refs.json', remedy: commandLine(['rm', '--', paths.refsRecord])}},
		);
	}

	return 'runs';
}

async function makeMirror(work: MirrorWork, state: AuthorityState, outer: HeldLock): Promise<ReportStatus> {
	const {request, paths, locks, draft} = work;
	const staging = createStaging(paths);
	let isRecorded = false;
	try {
		const inside = await locks.staging(staging.lock);
		const own = lookAtTarget(paths) === 'runs' ? await takeOwnLock(work) : null;
		if (own !== null) {
			// The lock may have been waited for: what stands there was somebody else's until now.
			requireStillRuns(paths);
		} else {
			draft.locks.push('repository');
		}

		const verified = await cloneVerified(work, {state, staging, locks: descriptorsOf(outer, inside, ...(own === null ? [] : [own]))});
		createRefsRecord(staging.record, firstRecord(request, state, verified));
		isRecorded = true;
		request.onStep?.('publishing');
		outer.assertHeld();
		loadNative().syncFilesystem(staging.directory);
		loadNative().syncDirectory(paths.owner);
		publishStaging({staging, paths, inside, own});
	} finally {
		// Whatever left staging has its final name, also where the publication broke off afterwards: it is never taken back.
		draft.isChanged = isRecorded && statusIfThere(staging.record) === null;
		leaveStaging(work, staging);
	}

	draft.cache.reused = false;
	return proveStanding(work, state);
}

async function takeOwnLock({request, paths, locks, draft}: MirrorWork): Promise<HeldLock> {
	// A run that was killed at its very beginning made the directory alone.
	ensurePrivateDirectory(paths.locks);
	const own = await locks.repository(waitOf(request));
	draft.locks.push('repository');
	return own;
}

function requireStillRuns(paths: RepositoryPaths): void {
	if (lookAtTarget(paths) !== 'runs') {
		throw new BailiffError('CACHE_TARGET_OCCUPIED', `${paths.repository} changed while its lock was waited for: try again`);
	}
}

type Publication = {readonly staging: Staging; readonly paths: RepositoryPaths; readonly inside: HeldLock; readonly own: HeldLock | null};

/** The whole directory by one rename; where runs made it already, record and then mirror, so that a mirror never stands without its record. */
function publishStaging({staging, paths, inside, own}: Publication): void {
	if (own === null) {
		publish(staging.directory, paths.repository);
		inside.moveTo(paths.repositoryLock);
		return;
	}

	own.assertHeld();
	publish(staging.record, paths.refsRecord);
	publish(staging.mirror, paths.mirror);
}

/** C-BOOT-8. A staging directory that cannot be removed is named. */
function leaveStaging({draft}: MirrorWork, staging: Staging): void {
	if (!removeStaging(staging)) {
		draft.problems.push({
			code: 'CACHE_STAGING_LEFT',
			path: null,
			message: `${staging.directory} could not be removed`,
			details: {staging: staging.directory},
			remedy: commandLine(['rm', '-r', '--', staging.directory]),
		});
	}
}

type Clone = {readonly state: AuthorityState; readonly staging: Staging; readonly locks: readonly number[]};

async function cloneVerified({request, draft}: MirrorWork, {state, staging, locks}: Clone): Promise<VerifiedRefs> {
	const {git} = request;
	const {access} = state;
	const call = {git, access, locks, place: staging.directory, ...(request.signal === undefined ? {} : {signal: request.signal})};
	const transfer = async (): Promise<void> => {
		request.onStep?.(draft.defaultBranch.attempts === 1 ? 'cloning' : 'fetching');
		if (draft.defaultBranch.attempts > 1) {
			const command = ['fetch', '--prune', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--quiet', '--', access.url, '+refs/*:refs/*'];
			await runRemoteGit({...call, command, gitDir: staging.mirror});
			return;
		}

		const command = ['clone', '--mirror', '--template=', '--no-local', '--quiet', '--', access.url, staging.mirror];
		await runRemoteGit({...call, command, gitDir: null});
		await requireKnownFormat(request, staging);
		// What clone writes would let a bare push delete branches (C-HARD-2), and ours no longer says which ids are used.
		writeOwnConfig(staging.mirror, access.url);
		await requireSoundClone(request, staging);
		request.onStep?.('verifying');
	};
	return fetchVerified({git, mirror: staging.mirror, state, transfer, proven: [], report: draft.defaultBranch});
}

/** Source: C-BOOT-5, C-HARD-1, C-HARD-10. */
async function requireSoundClone({git}: MirrorRequest, staging: Staging): Promise<void> {
	const [problem] = inspectMirrorFiles(staging).problems;
	if (problem !== undefined) {
		throw new BailiffError(problem.code, problem.message, {details: {...problem.details, path: problem.path, remedy: problem.remedy}});
	}

	const config = await readMirrorConfig(git, staging.mirror);
	const {stdout} = await git.run({command: ['rev-parse', '--is-bare-repository'], gitDir: staging.mirror});
	if (stdout.toString('latin1').trim() !== 'true' || config.differences.length > 0) {
		throw new BailiffError('CACHE_NOT_BARE', 'the clone is not a bare repository with our own config');
	}
}

async function requireKnownFormat({git}: MirrorRequest, staging: Staging): Promise<void> {
	const {stdout} = await git.run({command: ['rev-parse', '--show-object-format'], gitDir: staging.mirror});
	const format = stdout.toString('latin1').trim();
	if (format !== 'sha1') {
		throw new BailiffError('CACHE_OBJECT_FORMAT', `the repository uses ${format} ids; only sha1 (40 digits) can be mirrored`);
	}
}

function firstRecord(request: MirrorRequest, {profile, repository, access, name}: AuthorityState, verified: VerifiedRefs): RefsRecord {
	return {
		schema: 'bailiff.mirror/v1',
		provider: {kind: profile.provider.kind, url: profile.provider.url},
		repository_id: repository.id,
		owner: name.owner,
		repository: name.repository,
		origin: access.url,
		object_format: 'sha1',
		default_branch: verified.defaultBranch,
		pinned_sha: verified.pinnedSha,
		verified_at: toRfc3339Ms((request.clock ?? systemClock).wallMs()),
		verified: verified.local.pairs,
		pending: null,
	};
}

/** Everything named in the report is read again where it stands now. Source: C-BOOT-7. */
async function proveStanding(work: MirrorWork, state: AuthorityState): Promise<ReportStatus> {
	const {request, paths, draft} = work;
	request.onStep?.('verifying');
	for (const place of [paths.owner, paths.repository, paths.locks]) {
		checkPrivateDirectory(place);
	}

	const found = await readMirrorState({git: request.git, paths, authority: state.authority, refs: 'exact'});
	describeMirror(draft, paths, found);
	draft.stopOn(found.problems);
	if (draft.defaultBranch.local_sha !== found.record?.pinned_sha) {
		throw new BailiffError(
			'CACHE_DEFAULT_BRANCH_MISMATCH',
			`${draft.defaultBranch.name ?? 'the default branch'} is not at the commit that was verified in staging`,
		);
	}

	searchCredential(draft, paths, state);
	draft.isComplete = true;
	return 'ok';
}
