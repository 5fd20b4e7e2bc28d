import {BailiffError} from '../core/errors.ts';
import {fileFaultOf} from '../core/file-fault.ts';
import {checkTarget, type Target} from '../core/ids.ts';
import {closing, SafeDirectory} from '../core/safe-file.ts';

const maxEntries = 100_000;

/** Which issues: all, those of an owner, or those of one repository. */
export type IssueFilter = {readonly owner: string | null; readonly repository: string | null};

/**
 * The issues below a root that have a `verification` directory, by owner, repository and number. Names that are none, and places that cannot be entered,
 * are passed over: nothing there is evidence that a reader of one issue would accept.
 *
 * Total but for the root itself and `repositories` where the caller may not read it: CORE_FILE_ codes. Source: E-PUB-1, E-VIEW-1.
 */
export function listIssues(root: string, filter: IssueFilter): Target[] {
	return closing(SafeDirectory.open(root), directory =>
		namesIn(directory, ['repositories'], filter.owner).flatMap(owner =>
			namesIn(directory, ['repositories', owner], filter.repository).flatMap(repository => issuesOf(directory, owner, repository)),
		),
	);
}

function issuesOf(root: SafeDirectory, owner: string, repository: string): Target[] {
	const place = ['repositories', owner, repository, 'worktrees'];
	return namesIn(root, place, null)
		.flatMap(name => /^issue-([1-9]\d{0,15})$/.exec(name)?.[1] ?? [])
		.map(Number)
		.toSorted((left, right) => left - right)
		.filter(issue => visit(root, [...place, `issue-${issue}`, 'verification'], () => true) === true)
		.flatMap(issue => targetOf({owner, repository, issue}));
}

function targetOf(target: Target): Target[] {
	try {
		return [checkTarget(target)];
	} catch (error) {
		if (error instanceof BailiffError) {
			return [];
		}

		throw error;
	}
}

function namesIn(root: SafeDirectory, place: readonly string[], only: string | null): string[] {
	const names = visit(root, place, directory => directory.entries(maxEntries).map(name => name.toString('utf8'))) ?? [];
	return names.filter(name => only === null || name === only).toSorted();
}

/** Lends the directory at `place` below `root` to `use`, or gives null where there is none that can be entered. */
function visit<T>(root: SafeDirectory, place: readonly string[], use: (directory: SafeDirectory) => T): T | null {
	const [first, ...rest] = place;
	try {
		return first === undefined ? use(root) : closing(root.enter(first), next => visit(next, rest, use));
	} catch (error) {
		const fault = fileFaultOf(error);
		// Of a root that is closed to the caller "no runs" would be a guess.
		if (fault !== null && !(fault === 'unreadable' && first === 'repositories')) {
			return null;
		}

		throw error;
	}
}
