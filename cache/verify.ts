import {BailiffError} from '../core/errors.ts';
import {readMirrorState, requireMirrorPlace} from './mirror-check.ts';
import {placeProblem} from './mirror-problem.ts';
import {readRefsByGit} from './mirror-refs.ts';
import {describeMirror, searchCredential} from './mirror-report.ts';
import {type MirrorRequest, type MirrorWork, readAuthorityFor, takeRepositoryLock, workOnMirror} from './mirror-work.ts';
import {arePairsEqual, type RefPairs} from './refs-record.ts';
import {type CacheReport, problemOf, ReportDraft} from './report.ts';
import {compareWithAuthority} from './status.ts';
import {corrupt} from './verified-fetch.ts';

const walkMs = 1_800_000;

/**
 * Proves a mirror anew under its lock: modes, config, forbidden files, refs against the record, and a walk of every object: `bailiff cache verify`.
 *
 * `isFull` adds `git fsck --full`. What is damaged is an answer (`no`, exit 1) with every problem; nothing is repaired. Refuses (in the report):
 * CACHE_ABSENT, CACHE_LOCK_ codes, what root and authority refuse. Source: C-HARD-7, authority.md section 6.
 */
export function verifyMirror(request: MirrorRequest, options: {readonly isFull: boolean}): Promise<CacheReport> {
	return workOnMirror(request, new ReportDraft('cache verify', request.name), async work => {
		const {paths, draft} = work;
		const state = await readAuthorityFor(work);
		requireMirrorPlace(paths);
		await takeRepositoryLock(work);
		request.onStep?.('checking');
		const found = await readMirrorState({git: request.git, paths, authority: state?.authority ?? null, refs: 'exact'});
		describeMirror(draft, paths, found);
		draft.problems.unshift(...found.problems);
		if (found.refs !== null) {
			request.onStep?.('verifying');
			await prove(work, options);
			await compareReaders(work, found.refs.pairs);
		}

		if (state !== null) {
			await compareWithAuthority(work, state, found);
		}

		searchCredential(draft, paths, state);
		draft.isComplete = true;
		const isSound = draft.problems.every(({code}) => code === 'CACHE_WORKTREE_RELOCATED');
		draft.cache.state = isSound ? 'usable' : 'unusable';
		return isSound ? 'ok' : 'no';
	});
}

/** What the files say and what git says must be the same. */
async function compareReaders({request, paths, draft}: MirrorWork, pairs: RefPairs): Promise<void> {
	if (!arePairsEqual(await readRefsByGit(request.git, paths.mirror), pairs)) {
		draft.problems.push(placeProblem('CACHE_MIRROR_CORRUPT', 'repository.git/refs', 'git reads other refs than the files hold'));
	}
}

async function prove({request, paths, draft}: MirrorWork, {isFull}: {readonly isFull: boolean}): Promise<void> {
	const walks = [['rev-list', '--objects', '--quiet', '--all', '--'], ...(isFull ? [['fsck', '--full', '--no-progress', '--no-dangling']] : [])];
	for (const command of walks) {
		try {
			await request.git.run({command, gitDir: paths.mirror, timeoutMs: walkMs, ...(request.signal === undefined ? {} : {signal: request.signal})});
		} catch (error) {
			const known = corrupt(error);
			if (!(known instanceof BailiffError) || known.code !== 'CACHE_MIRROR_CORRUPT') {
				throw known;
			}

			draft.problems.push(problemOf(known));
		}
	}
}
