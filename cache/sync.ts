import {systemClock, toRfc3339Ms} from '../core/clock.ts';
import type {AdvertisedRefs} from './authority.ts';
import {type AuthorityState, requireSameRepository} from './authority-state.ts';
import {descriptorsOf, type HeldLock} from './lock-session.ts';
import {asSound, type MirrorQuestion, readMirrorState, requireMirrorPlace, type SoundMirror} from './mirror-check.ts';
import {foreignRef, type LocalRefs, readLocalRefs} from './mirror-refs.ts';
import {describeMirror, searchCredential} from './mirror-report.ts';
import {type MirrorRequest, type MirrorWork, requireAuthorityFor, takeRepositoryLock, workOnMirror} from './mirror-work.ts';
import {arePairsEqual, type RefPairs, type RefsRecord, replaceRefsRecord, unknownPairs} from './refs-record.ts';
import {runRemoteGit} from './remote-git.ts';
import {type CacheReport, ReportDraft, type ReportStatus} from './report.ts';
import {fetchVerified} from './verified-fetch.ts';

/** What a fetch says of itself: explicit place, explicit refs, nothing beside them. */
const fetchFlags = ['--prune', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--no-recurse-submodules', '--quiet'] as const;

/**
 * Brings an existing mirror to the state of its authority and proves it: `bailiff cache sync`.
 *
 * Refuses (in the report): every CACHE_ code of a mirror that is not sound, of the authority and of the fetch; nothing is repaired. A fetch that moved refs
 * and could not be verified is `partial`; the record then says so until a sync succeeds. Source: C-SYNC-1..4, C-HARD-4, 5, 7, 8, 9.
 */
export function syncMirror(request: MirrorRequest): Promise<CacheReport> {
	return workOnMirror(request, new ReportDraft('cache sync', request.name), async work => {
		const state = await requireAuthorityFor(work);
		requireMirrorPlace(work.paths);
		return syncStanding(work, state);
	});
}

/** The same for a command that has read the authority already (bootstrap finds a mirror there). */
export async function syncStanding(work: MirrorWork, state: AuthorityState): Promise<ReportStatus> {
	const {request, paths, draft} = work;
	requireMirrorPlace(paths);
	const lock = await takeRepositoryLock(work);
	request.onStep?.('checking');
	const asked = state.authority.advertisedRefs(state.repository);
	const before = await settled(readSound(work, state, {refs: 'unasked'}), asked);
	requireSameRepository(before.record, state);
	const refsRead = await fetchInto(work, {lock, state, before, asked});
	request.onStep?.('verifying');
	await readSound(work, state, {refs: 'exact', refsRead});
	searchCredential(draft, paths, state);
	draft.isComplete = true;
	return 'ok';
}

/** The remote is asked while the mirror is looked at; where that refuses, the question is waited for and its answer dropped. */
async function settled<Found>(look: Promise<Found>, question: Promise<unknown>): Promise<Found> {
	const [found] = await Promise.allSettled([look, question]);
	if (found.status === 'rejected') {
		throw found.reason;
	}

	return found.value;
}

/** Reads the mirror into the report and stops at any problem. */
async function readSound(
	{request, paths, draft}: MirrorWork,
	state: AuthorityState,
	question: Pick<MirrorQuestion, 'refs' | 'refsRead'>,
): Promise<SoundMirror> {
	const found = await readMirrorState({git: request.git, paths, authority: state.authority, ...question});
	describeMirror(draft, paths, found);
	draft.stopOn(found.problems);
	return asSound(found);
}

type Fetch = {readonly lock: HeldLock; readonly state: AuthorityState; readonly before: SoundMirror; readonly asked: Promise<AdvertisedRefs>};

async function fetchInto(work: MirrorWork, {lock, state, before, asked}: Fetch): Promise<LocalRefs> {
	const {request, paths, draft} = work;
	const {git} = request;
	let record = before.record;
	let local = before.refs.pairs;
	const write = (next: RefsRecord): void => {
		lock.assertHeld();
		replaceRefsRecord(paths.refsRecord, next);
		record = next;
	};
	const transfer = async (advertised: RefPairs): Promise<void> => {
		const known = [record.verified, ...(record.pending === null ? [] : [record.pending]), advertised];
		draft.stopOn(unknownPairs(local, known).map(pair => foreignRef(paths.mirror, pair)));
		write({...record, pending: [...advertised, ...unknownPairs(record.pending ?? [], [advertised])]});
		request.onStep?.('fetching');
		draft.isChanged = true;
		const command = ['fetch', ...fetchFlags, '--', state.access.url, '+refs/*:refs/*'];
		await runRemoteGit({git, access: state.access, command, gitDir: paths.mirror, locks: descriptorsOf(lock), place: paths.repository, ...signalOf(request)});
	};
	const onLocal = (pairs: RefPairs, advertised: RefPairs): void => {
		local = pairs;
		// The remote may have moved between its advertisement and the fetch; a name that it does not have is nobody's but a worker's.
		const names = new Set(advertised.map(([name]) => name));
		const moved = unknownPairs(local, [record.verified, record.pending ?? []]).filter(([name]) => names.has(name));
		if (moved.length > 0) {
			write({...record, pending: [...(record.pending ?? []), ...moved]});
		}
	};

	try {
		const proven = before.record.verified.map(([, sha]) => sha);
		const found = await fetchVerified({git, mirror: paths.mirror, state, transfer, onLocal, advertised: asked, proven, report: draft.defaultBranch});
		const verifiedAt = toRfc3339Ms((request.clock ?? systemClock).wallMs());
		write({...record, default_branch: found.defaultBranch, pinned_sha: found.pinnedSha, verified_at: verifiedAt, verified: found.local.pairs, pending: null});
		return found.local;
	} catch (error) {
		takeBack(work, before, write);
		throw error;
	}
}

/** A fetch that failed and moved nothing leaves everything as it was, the record too; one that moved something leaves the pending record. */
function takeBack({paths, draft}: MirrorWork, before: SoundMirror, write: (record: RefsRecord) => void): void {
	if (!draft.isChanged) {
		return;
	}

	try {
		const {pairs} = readLocalRefs(paths.mirror);
		if (arePairsEqual(pairs, before.refs.pairs)) {
			write(before.record);
			draft.isChanged = false;
		}
	} catch {
		// The report says partial, and the pending record stays.
	}
}

function signalOf({signal}: MirrorRequest): {readonly signal?: AbortSignal} {
	return signal === undefined ? {} : {signal};
}
