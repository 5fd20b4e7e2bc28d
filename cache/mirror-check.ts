import {BailiffError} from '../core/errors.ts';
import type {Authority} from './authority.ts';
import type {Git} from './git-command.ts';
import type {RepositoryPaths} from './layout.ts';
import {configProblem, type MirrorConfig, readMirrorConfig} from './mirror-config.ts';
import {inspectMirrorFiles, type MirrorFiles} from './mirror-files.ts';
import {commandLine, placeProblem} from './mirror-problem.ts';
import {foreignRef, type LocalRefs, readLocalRefs} from './mirror-refs.ts';
import {type RefsRecord, readRefsRecord, unknownPairs} from './refs-record.ts';
import {type Registration, readRegistrations, registrationProblems, relocationProblems} from './registrations.ts';
import {type CacheProblem, problemOf} from './report.ts';
import {checkPrivateDirectory, checkRepositories, statusIfThere} from './trust.ts';

/** Everything that was read of a mirror; what could not be read for the problems found is null. */
export type MirrorState = {
	readonly problems: readonly CacheProblem[];
	readonly files: MirrorFiles;
	readonly config: MirrorConfig | null;
	readonly record: RefsRecord | null;
	readonly refs: LocalRefs | null;
	readonly registrations: readonly Registration[];
	readonly isBare: boolean | null;
	readonly objectFormat: string | null;
};

/** A mirror without a problem. */
export type SoundMirror = MirrorState & {readonly config: MirrorConfig; readonly record: RefsRecord; readonly refs: LocalRefs};

/** Where to look, and what a record is compared with. */
export type MirrorQuestion = {
	readonly git: Git;
	readonly paths: RepositoryPaths;
	/** null without a profile: the origin is then compared with the record alone. */
	readonly authority: Pick<Authority, 'identify'> | null;
	/** What is asked of refs against the record: `known` also admits what a fetch under way may have brought. */
	readonly refs: 'exact' | 'known' | 'unasked';
	/** Refs that were read after the last change to them; absent: they are read. */
	readonly refsRead?: LocalRefs;
};

/**
 * The directories above the mirror, down to the repository's own: each must be trusted as it is; nothing is made.
 *
 * Refuses: CACHE_PATH_UNTRUSTED; CACHE_ABSENT where there is no mirror. Source: C-TRUST-1..5, C-SYNC-1.
 */
export function requireMirrorPlace(paths: RepositoryPaths): void {
	for (const place of [paths.repositories, paths.owner, paths.repository, paths.locks]) {
		if (statusIfThere(place) === null) {
			throw absent(paths);
		}

		if (place === paths.repositories) {
			checkRepositories(place);
		} else {
			checkPrivateDirectory(place);
		}
	}

	if (statusIfThere(paths.worktrees) !== null) {
		checkPrivateDirectory(paths.worktrees);
	}

	if (statusIfThere(paths.mirror) === null) {
		throw absent(paths);
	}
}

/**
 * Reads all of a mirror that stands: files and modes, config, record, refs and registrations, and collects every problem.
 *
 * No git command opens the mirror before its files and config were found right. Changes nothing. Refuses: CACHE_GIT_ codes.
 * Source: C-SYNC-1, C-SYNC-2, C-HARD-1, C-HARD-2, C-HARD-4, C-HARD-8, C-FC.
 */
export async function readMirrorState(question: MirrorQuestion): Promise<MirrorState> {
	const {git, paths} = question;
	const problems: CacheProblem[] = [];
	const files = inspectMirrorFiles(paths);
	problems.push(...files.problems);
	const record = attempt(problems, () => readRefsRecord(paths.refsRecord));
	const config = await attemptLater(problems, () => readMirrorConfig(git, paths.mirror));
	if (config !== null) {
		problems.push(...configProblems(config, question, record));
	}

	const closed = {problems, files, config, record, refs: null, registrations: [], isBare: config?.isBare ?? null, objectFormat: null};
	if (problems.length > 0) {
		return closed;
	}

	const opened = await attemptLater(problems, () => openWithGit(question));
	if (opened === null) {
		return closed;
	}

	problems.push(...opened.refs.problems, ...registrationProblems(opened.registrations));
	if (record !== null) {
		problems.push(...refProblems(question, record, opened.refs));
	}

	return {...closed, ...opened};
}

/** What a relocated root leaves, apart from the problems that make the mirror unusable. Source: C-HARD-11. */
export function relocations(state: MirrorState, paths: RepositoryPaths): CacheProblem[] {
	return relocationProblems(state.registrations, paths);
}

/** The state without its nulls; only for one without problems. */
export function asSound(state: MirrorState): SoundMirror {
	const {config, record, refs} = state;
	if (config === null || record === null || refs === null) {
		throw new BailiffError('CACHE_MIRROR_CORRUPT', 'the mirror could not be read whole');
	}

	return {...state, config, record, refs};
}

type Opened = Pick<MirrorState, 'registrations' | 'objectFormat'> & {readonly refs: LocalRefs};

/** Only for a mirror whose config is our own: bare it is by that, and with sha1 ids, since `extensions.objectFormat` is none of ours. */
async function openWithGit({git, paths, refsRead}: MirrorQuestion): Promise<Opened> {
	const refs = refsRead ?? readLocalRefs(paths.mirror);
	return {refs, registrations: await readRegistrations(git, paths), objectFormat: 'sha1'};
}

function configProblems(config: MirrorConfig, {paths, authority}: MirrorQuestion, record: RefsRecord | null): CacheProblem[] {
	const restore = commandLine(['bailiff', 'cache', 'restore-config', '--root', paths.root, '--target', `${paths.name.owner}/${paths.name.repository}`]);
	const problems: CacheProblem[] = [];
	if (config.differences.length > 0) {
		problems.push(configProblem(config, restore));
	}

	if (config.origin !== null && !isOwnOrigin(config.origin, {paths, authority}, record)) {
		const message = `the origin of the mirror is not ${paths.name.owner}/${paths.name.repository} at this authority`;
		problems.push(placeProblem('CACHE_ORIGIN_MISMATCH', 'repository.git/config', message, {details: {expected: record?.origin ?? null}}));
	}

	return problems;
}

/** C-SYNC-2: the identity decides, not the text. Without a profile nobody can tell identities apart, so the text must be that of the record. */
function isOwnOrigin(origin: string, {paths, authority}: Pick<MirrorQuestion, 'paths' | 'authority'>, record: RefsRecord | null): boolean {
	if (authority === null) {
		return record === null || origin === record.origin;
	}

	const identity = authority.identify(origin);
	return identity?.owner === paths.name.owner && identity.repository === paths.name.repository;
}

function refProblems({paths, refs: asked}: MirrorQuestion, record: RefsRecord, refs: LocalRefs): CacheProblem[] {
	if (asked === 'unasked') {
		return [];
	}

	const known = [record.verified, ...(record.pending === null ? [] : [record.pending])];
	const problems = unknownPairs(refs.pairs, known).map(pair => foreignRef(paths.mirror, pair));
	if (asked === 'known' || problems.length > 0) {
		return problems;
	}

	if (record.pending !== null) {
		return [placeProblem('CACHE_SYNC_UNFINISHED', 'locks/refs.json', 'a fetch was begun and never verified to its end: "bailiff cache sync" finishes it')];
	}

	return unknownPairs(record.verified, [refs.pairs]).map(([name, sha]) =>
		placeProblem('CACHE_MIRROR_CORRUPT', `repository.git/${name}`, `${name} was verified at ${sha} and is not there any more`, {details: {ref: name, sha}}),
	);
}

function attempt<Found>(problems: CacheProblem[], read: () => Found): Found | null {
	try {
		return read();
	} catch (error) {
		return kept(problems, error);
	}
}

async function attemptLater<Found>(problems: CacheProblem[], read: () => Promise<Found>): Promise<Found | null> {
	try {
		return await read();
	} catch (error) {
		return kept(problems, error);
	}
}

function kept(problems: CacheProblem[], error: unknown): null {
	if (!(error instanceof BailiffError)) {
		throw error;
	}

	problems.push(problemOf(error));
	return null;
}

function absent(paths: RepositoryPaths): BailiffError {
	const target = `${paths.name.owner}/${paths.name.repository}`;
	return new BailiffError('CACHE_ABSENT', `there is no mirror of ${target} below ${paths.root}: "bailiff cache bootstrap" makes it`, {
		details: {remedy: `${commandLine(['bailiff', 'cache', 'bootstrap', '--root', paths.root, '--target', target])} --profile DIR`},
	});
}
