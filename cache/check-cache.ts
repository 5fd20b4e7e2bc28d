import {BailiffError} from '../core/errors.ts';
import type {Target} from '../core/ids.ts';
import {type IssuePaths, issuePaths} from './layout.ts';
import {inspectMirrorFiles} from './mirror-files.ts';
import {type CacheProblem, type CommonReport, problemOf} from './report.ts';
import {openRoot, rootOf} from './root.ts';
import {checkCheckoutDirectory, checkPrivateDirectory, checkPrivateFile, checkRepositories, statusIfThere} from './trust.ts';

/** The answer of `review check-cache`. Source: SR-CMD-2, authority.md section 6. */
export type CheckCacheReport = CommonReport & {
	readonly repository: {readonly owner: string; readonly repository: string; readonly id: null};
	readonly cache: {readonly path: string; readonly state: 'absent' | 'usable' | 'unusable'};
	readonly issue: {readonly number: number};
	/** No worktree is no error. */
	readonly worktree: {readonly path: string; readonly state: 'absent' | 'present'};
};

type Check = readonly [place: string, check: (place: string) => void];

/**
 * Looks at owners, modes, kinds and links of a repository's cache and of one issue in it. Takes no lock, starts no git, changes nothing.
 *
 * What is wrong is an answer (`no`); without a mirror it is `refused` with CACHE_ABSENT. Other issues are not looked at (C-LOCK-5). Refuses (thrown): CORE_ID_
 * codes and CACHE_ROOT_INVALID for a path that names no root. Source: SR-CMD-2.
 */
export function checkCache({contractPath, target}: {readonly contractPath: string; readonly target: Target}): CheckCacheReport {
	const paths = issuePaths(rootOf(contractPath).root, target);
	const report = (status: CommonReport['status'], error: BailiffError | null, problems: readonly CacheProblem[]): CheckCacheReport => ({
		command: 'review check-cache',
		status,
		error: error === null ? null : error.toJSON(),
		problems,
		locks: [],
		complete: status !== 'refused',
		repository: {owner: target.owner, repository: target.repository, id: null},
		cache: {path: paths.mirror, state: status === 'ok' ? 'usable' : isThere(paths.mirror) ? 'unusable' : 'absent'},
		issue: {number: target.issue},
		worktree: {path: paths.checkout, state: isThere(paths.checkout) ? 'present' : 'absent'},
	});
	try {
		openRoot(contractPath);
		const faults = [...placeFaults(placesOf(paths)), ...mirrorFaults(paths)];
		if (faults.length === 0 && !isThere(paths.mirror)) {
			throw absent(paths);
		}

		const problems = faults.map(fault => (fault instanceof BailiffError ? below(paths, problemOf(fault)) : fault));
		const [first] = problems;
		return first === undefined ? report('ok', null, []) : report('no', errorOf(first), problems);
	} catch (error) {
		if (!(error instanceof BailiffError)) {
			throw error;
		}

		return report('refused', error, [problemOf(error)]);
	}
}

/** Each place is looked at only where all above it are trusted; one that is absent has nothing below it. */
function placesOf(paths: IssuePaths): readonly Check[] {
	return [
		[paths.repositories, checkRepositories],
		[paths.bootstrapLocks, checkPrivateDirectory],
		[paths.ownerBootstrapLocks, checkPrivateDirectory],
		[paths.bootstrapLock, checkPrivateFile],
		[paths.owner, checkPrivateDirectory],
		[paths.repository, checkPrivateDirectory],
		[paths.locks, checkPrivateDirectory],
		[paths.repositoryLock, checkPrivateFile],
		[paths.issueLock, checkPrivateFile],
		[paths.refsRecord, checkPrivateFile],
		[paths.worktrees, checkPrivateDirectory],
		[paths.issue, checkPrivateDirectory],
		[paths.state, checkPrivateFile],
		[paths.checkout, checkCheckoutDirectory],
		[paths.verification, checkPrivateDirectory],
		[paths.runtime, checkPrivateDirectory],
	];
}

function placeFaults(checks: readonly Check[]): readonly BailiffError[] {
	const faults: BailiffError[] = [];
	const untrusted: string[] = [];
	for (const [place, check] of checks) {
		if (untrusted.some(above => place.startsWith(`${above}/`))) {
			continue;
		}

		try {
			if (isThere(place)) {
				check(place);
			}
		} catch (error) {
			if (!(error instanceof BailiffError)) {
				throw error;
			}

			faults.push(error);
			untrusted.push(place);
		}
	}

	return faults;
}

/** What is wrong with owners, modes and links inside of the mirror; leftovers of git and its config are judged by `cache verify`. */
function mirrorFaults(paths: IssuePaths): readonly CacheProblem[] {
	const isReachable = placeFaults(placesOf(paths).filter(([place]) => paths.mirror.startsWith(`${place}/`))).length === 0;
	return isReachable && isThere(paths.mirror) ? inspectMirrorFiles(paths).problems.filter(({code}) => code === 'CACHE_PATH_UNTRUSTED') : [];
}

function isThere(place: string): boolean {
	try {
		return statusIfThere(place) !== null;
	} catch {
		return false;
	}
}

/** authority.md section 6: paths are relative to the repository's directory where they lie below it. */
function below({repository}: IssuePaths, problem: CacheProblem): CacheProblem {
	return problem.path?.startsWith(`${repository}/`) === true ? {...problem, path: problem.path.slice(repository.length + 1)} : problem;
}

function errorOf(problem: CacheProblem): BailiffError {
	return new BailiffError(problem.code, problem.message, {details: {...problem.details, path: problem.path, remedy: problem.remedy}});
}

function absent({name, root}: IssuePaths): BailiffError {
	return new BailiffError('CACHE_ABSENT', `there is no mirror of ${name.owner}/${name.repository} below ${root}: "bailiff cache bootstrap" makes it`);
}
