import {readdirSync} from 'node:fs';
import {BailiffError} from '../core/errors.ts';
import {FileLock} from './lock.ts';
import {descriptorsOf} from './lock-session.ts';
import {readMirrorState, requireMirrorPlace} from './mirror-check.ts';
import {readLocalRefs} from './mirror-refs.ts';
import {describeMirror} from './mirror-report.ts';
import {type MirrorRequest, type MirrorWork, readAuthorityFor, takeRepositoryLock, waitOf, workOnMirror} from './mirror-work.ts';
import {arePairsEqual} from './refs-record.ts';
import {type CacheReport, ReportDraft} from './report.ts';
import {corrupt, walkObjects} from './verified-fetch.ts';

const repackMs = 7_200_000;

/**
 * Packs the mirror anew while nobody works with it: `bailiff cache maintain`. No object is dropped, also none that no ref reaches; nothing else is cleaned.
 *
 * Every issue lock that exists is taken first, in the order of the issues, so that no worktree operation runs beside it; then the repository lock. Refuses (in
 * the report): CACHE_LOCK_BUSY while any issue is worked on, and every code of a mirror that is not sound. Source: C-HARD-10 facts, "For people".
 */
export function maintainMirror(request: MirrorRequest): Promise<CacheReport> {
	return workOnMirror(request, new ReportDraft('cache maintain', request.name), async work => {
		const {paths} = work;
		await readAuthorityFor(work);
		requireMirrorPlace(paths);
		const issues = await takeIssueLocks(work);
		try {
			return await repack(work, issues);
		} finally {
			for (const lock of issues.toReversed()) {
				lock.close();
			}
		}
	});
}

async function takeIssueLocks({request, paths, draft}: MirrorWork): Promise<readonly FileLock[]> {
	const numbers = readdirSync(paths.locks)
		.flatMap(name => /^issue-([1-9]\d*)\.lock$/.exec(name)?.[1] ?? [])
		.map(Number)
		.toSorted((left, right) => left - right);
	const taken: FileLock[] = [];
	try {
		for (const number of numbers) {
			taken.push(await FileLock.acquire(`${paths.locks}/issue-${number}.lock`, waitOf(request)));
			draft.locks.push(`issue-${number}`);
		}

		return taken;
	} catch (error) {
		for (const lock of taken.toReversed()) {
			lock.close();
		}

		throw error;
	}
}

async function repack(work: MirrorWork, issues: readonly FileLock[]): Promise<'ok'> {
	const {request, paths, draft} = work;
	const {git} = request;
	const lock = await takeRepositoryLock(work);
	request.onStep?.('checking');
	const before = await readMirrorState({git, paths, authority: null, refs: 'exact'});
	describeMirror(draft, paths, before);
	draft.stopOn(before.problems);
	request.onStep?.('repacking');
	draft.isChanged = true;
	const descriptors = descriptorsOf(lock, ...issues);
	const shared = {gitDir: paths.mirror, descriptors, isPrivate: true, timeoutMs: repackMs, ...(request.signal === undefined ? {} : {signal: request.signal})};
	try {
		await git.run({...shared, command: ['pack-refs', '--all']});
		await git.run({...shared, command: ['repack', '-a', '-d', '--keep-unreachable', '--quiet']});
	} catch (error) {
		throw corrupt(error);
	}

	request.onStep?.('verifying');
	const {pairs} = readLocalRefs(paths.mirror);
	if (before.refs === null || !arePairsEqual(pairs, before.refs.pairs)) {
		throw new BailiffError('CACHE_MIRROR_CORRUPT', 'the refs are not the same after repacking');
	}

	await walkObjects(
		git,
		paths.mirror,
		pairs.map(([, sha]) => sha),
		[],
	);
	const after = await readMirrorState({git, paths, authority: null, refs: 'exact'});
	describeMirror(draft, paths, after);
	draft.stopOn(after.problems);
	draft.isComplete = true;
	return 'ok';
}
