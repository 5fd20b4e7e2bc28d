import {BailiffError} from '../core/errors.ts';
import type {AuthorityState} from './authority-state.ts';
import {requireSameRepository} from './authority-state.ts';
import {type MirrorState, readMirrorState, requireMirrorPlace} from './mirror-check.ts';
import {placeProblem} from './mirror-problem.ts';
import {describeMirror, searchCredential} from './mirror-report.ts';
import {type MirrorRequest, type MirrorWork, readAuthorityFor, workOnMirror} from './mirror-work.ts';
import {type CacheReport, problemOf, ReportDraft} from './report.ts';
import {isHeld, stagingLeftovers} from './staging.ts';

/**
 * Says what stands without taking a lock or changing anything; with a profile also whether the authority agrees: `bailiff cache status`.
 *
 * An absent or damaged mirror is an answer with its problems, no refusal. While somebody holds the repository lock the state is `busy` and nothing below is
 * judged. Refuses (in the report): what root and authority refuse. Source: authority.md section 6.
 */
export function mirrorStatus(request: MirrorRequest): Promise<CacheReport> {
	return workOnMirror(request, new ReportDraft('cache status', request.name), async work => {
		const {paths, draft} = work;
		const state = await readAuthorityFor(work);
		draft.cache.staging_leftovers = stagingLeftovers(paths);
		try {
			requireMirrorPlace(paths);
		} catch (error) {
			return answerWithout(work, error);
		}

		if (isHeld(paths.repositoryLock)) {
			draft.cache.state = 'busy';
			return 'ok';
		}

		const found = await readMirrorState({git: request.git, paths, authority: state?.authority ?? null, refs: 'exact'});
		describeMirror(draft, paths, found);
		draft.problems.unshift(...found.problems);
		if (state !== null) {
			await compareWithAuthority(work, state, found);
		}

		searchCredential(draft, paths, state);
		draft.cache.state = draft.problems.every(({code}) => code === 'CACHE_WORKTREE_RELOCATED') ? 'usable' : 'unusable';
		draft.isComplete = true;
		return 'ok';
	});
}

/**
 * The readback of a command that only looks: identity, branch at the authority against here, second witness. What differs becomes a problem.
 *
 * Source: C-SYNC-2, C-SYNC-5.
 */
export async function compareWithAuthority({draft}: MirrorWork, state: AuthorityState, {record, refs}: Pick<MirrorState, 'record' | 'refs'>): Promise<void> {
	const {defaultBranch: report} = draft;
	if (record !== null) {
		try {
			requireSameRepository(record, state);
		} catch (error) {
			keepProblem(draft, error);
		}
	}

	const [branch, witness] = await Promise.all([
		state.authority.branch(state.name, state.defaultBranch),
		state.authority.witnessRef(state.repository, `refs/heads/${state.defaultBranch}`),
	]);
	report.attempts = 1;
	report.provider_sha = branch.sha;
	// Where the mirror may not be opened nobody knows what it has.
	report.equal = refs === null ? null : branch.sha === report.local_sha;
	report.witness_equal = witness === branch.sha;
	if (report.equal === false) {
		const message = `${branch.name} is at ${branch.sha} at the authority and at ${report.local_sha ?? 'no commit'} here: "bailiff cache sync" brings it up to date`;
		draft.problems.push(placeProblem('CACHE_DEFAULT_BRANCH_MISMATCH', `repository.git/refs/heads/${branch.name}`, message));
	}
}

function answerWithout({draft}: MirrorWork, error: unknown): 'ok' {
	if (!(error instanceof BailiffError)) {
		throw error;
	}

	if (error.code === 'CACHE_ABSENT') {
		draft.isComplete = true;
	} else {
		draft.cache.state = 'unusable';
		draft.problems.push(problemOf(error));
	}

	return 'ok';
}

function keepProblem(draft: ReportDraft, error: unknown): void {
	if (!(error instanceof BailiffError)) {
		throw error;
	}

	draft.problems.push(problemOf(error));
}
