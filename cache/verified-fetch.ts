import {setImmediate as nextTurn} from 'node:timers/promises';
import {BailiffError} from '../core/errors.ts';
import type {AdvertisedRefs, Branch} from './authority.ts';
import {type AuthorityState, requireRepository} from './authority-state.ts';
import type {Git} from './git-command.ts';
import {readObjects} from './git-objects.ts';
import {type LocalRefs, readLocalRefs, refuseForbiddenRefs} from './mirror-refs.ts';
import {arePairsEqual, type RefPairs, shaOf} from './refs-record.ts';
import {problemError, type ReportBranch} from './report.ts';

/** What a transfer and the authority's state afterwards agree on. */
export type VerifiedRefs = {readonly local: LocalRefs; readonly defaultBranch: string; readonly pinnedSha: string};

/** One transfer with its readback. */
export type FetchPlan = {
	readonly git: Git;
	readonly mirror: string;
	readonly state: AuthorityState;
	/** Brings the refs of the remote over; called once an attempt, with what the remote advertised just before. */
	readonly transfer: (advertised: AdvertisedRefs) => Promise<void>;
	/** Hears which refs are here after a transfer, before they are judged. */
	readonly onLocal?: (local: RefPairs, advertised: AdvertisedRefs) => void;
	/** Ids whose objects were proven before: only what is new is walked. */
	readonly proven: readonly string[];
	readonly report: ReportBranch;
	/** What the remote advertises, where it was asked already under the same lock. */
	readonly advertised?: Promise<AdvertisedRefs>;
};

const maxAttempts = 3;
const maxWalkMs = 1_800_000;

/**
 * Transfers until the mirror's refs are exactly those that the remote advertises afterwards, at most three times, then proves what came.
 *
 * Refuses: CACHE_REF_MOVING, CACHE_REPLACE_REF, CACHE_REPOSITORY_REPLACED, CACHE_WITNESS_MISMATCH, CACHE_MIRROR_CORRUPT, and what transfer and authority
 * refuse. Source: C-SYNC-3, C-SYNC-4, C-BOOT-5, C-HARD-7, C-HARD-9.
 */
export async function fetchVerified(plan: FetchPlan): Promise<VerifiedRefs> {
	const {state, report} = plan;
	for (report.attempts = 1; report.attempts <= maxAttempts; report.attempts++) {
		const advertised = await ((report.attempts === 1 ? plan.advertised : undefined) ?? state.authority.advertisedRefs(state.repository));
		refuseForbiddenRefs(advertised);
		await plan.transfer(advertised);
		const found = await readBack(plan, advertised);
		if (found !== null) {
			await proveObjects(plan.git, plan.mirror, found, plan.proven);
			return found;
		}
	}

	report.attempts = maxAttempts;
	throw new BailiffError('CACHE_REF_MOVING', `the remote moved during each of ${maxAttempts} fetches: try again when fewer people push`, {
		details: {attempts: maxAttempts},
	});
}

/**
 * Walks everything that the ids reach and that `proven` do not; a pack that is damaged, or an object that is missing, shows here.
 *
 * Refuses: CACHE_MIRROR_CORRUPT. Source: C-HARD-7.
 */
export async function walkObjects(git: Git, mirror: string, ids: readonly string[], proven: readonly string[]): Promise<void> {
	const known = new Set(proven);
	const fresh = [...new Set(ids)].filter(id => !known.has(id));
	if (fresh.length === 0) {
		return;
	}

	const input = Buffer.from(`${[...fresh, ...[...known].map(id => `^${id}`)].join('\n')}\n`, 'latin1');
	try {
		await git.run({command: ['rev-list', '--objects', '--quiet', '--stdin'], gitDir: mirror, input, timeoutMs: maxWalkMs});
	} catch (error) {
		throw corrupt(error);
	}
}

/** A failed walk in the words of the mirror. */
export function corrupt(error: unknown): unknown {
	return error instanceof BailiffError && error.code === 'CACHE_GIT_FAILED'
		? new BailiffError('CACHE_MIRROR_CORRUPT', `objects of the mirror are missing or damaged: ${error.message}`, {cause: error, details: error.details})
		: error;
}

/** Everything at once: what is read here is compared with each other, so that any move between the reads shows. */
async function readBack({mirror, state, report, onLocal}: FetchPlan, before: AdvertisedRefs): Promise<VerifiedRefs | null> {
	const {authority, name, defaultBranch} = state;
	const [repository, advertised, branch, witness, local] = await Promise.all([
		authority.repository(name),
		authority.advertisedRefs(state.repository),
		authority.branch(name, report.name ?? defaultBranch),
		authority.witnessRef(state.repository, `refs/heads/${report.name ?? defaultBranch}`),
		readLocalRefsMeanwhile(mirror),
	]);
	onLocal?.(local.pairs, before);
	const [problem] = local.problems;
	if (problem !== undefined) {
		throw problemError(problem, local.problems.length - 1);
	}

	const now = requireRepository(repository, name);
	if (repository.id !== state.repository.id) {
		throw new BailiffError('CACHE_REPOSITORY_REPLACED', `the repository was replaced during the fetch (id ${state.repository.id}, now ${repository.id})`);
	}

	report.name = now.defaultBranch;
	if (now.defaultBranch !== branch.name) {
		return null;
	}

	const localSha = shaOf(local.pairs, `refs/heads/${branch.name}`);
	report.provider_sha = branch.sha;
	report.local_sha = localSha;
	report.equal = branch.sha === localSha;
	report.witness_equal = witness === branch.sha;
	if (!report.equal || !arePairsEqual(local.pairs, advertised)) {
		return null;
	}

	return report.witness_equal ? {local, defaultBranch: branch.name, pinnedSha: branch.sha} : requireMoving(state, branch, witness);
}

/** In the next turn, when the gits that answer for the authority have been started. */
async function readLocalRefsMeanwhile(mirror: string): Promise<LocalRefs> {
	await nextTurn();
	return readLocalRefs(mirror);
}

/** A witness that disagrees has seen a branch that moves, or something is wrong. Refuses: CACHE_WITNESS_MISMATCH. */
async function requireMoving(state: AuthorityState, branch: Branch, witness: string | null): Promise<null> {
	const now = await state.authority.branch(state.name, branch.name);
	if (now.sha !== branch.sha) {
		return null;
	}

	throw new BailiffError(
		'CACHE_WITNESS_MISMATCH',
		`git and the authority have ${branch.name} at ${branch.sha}, the second reader sees ${witness ?? 'no such ref'}: look at the remote`,
		{details: {branch: branch.name, sha: branch.sha, witness}},
	);
}

/** The pinned commit by its own bytes, everything that is new by a walk. */
async function proveObjects(git: Git, mirror: string, found: VerifiedRefs, proven: readonly string[]): Promise<void> {
	const ids = found.local.pairs.map(([, sha]) => sha);
	const fresh = proven.includes(found.pinnedSha) ? [] : [found.pinnedSha];
	const [objects] = await Promise.all([readObjects(git, mirror, fresh), walkObjects(git, mirror, ids, proven)]);
	const type = fresh.length === 0 ? 'commit' : objects.get(found.pinnedSha)?.type;
	if (type !== 'commit') {
		throw new BailiffError('CACHE_MIRROR_CORRUPT', `${found.pinnedSha} of ${found.defaultBranch} is no commit but a ${type ?? 'missing object'}`);
	}
}
