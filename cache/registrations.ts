import {type Git} from './git-command.ts';
import {zeroTerminated} from './git-output.ts';
import type {RepositoryPaths} from './layout.ts';
import {commandLine, placeProblem} from './mirror-problem.ts';
import type {CacheProblem} from './report.ts';
import {statusIfThere} from './trust.ts';

/** One linked worktree as git has it registered. No checkout was opened. */
export type Registration = {
	/** Absolute path of the checkout, one character a byte (latin1). */
	readonly path: string;
	readonly head: string | null;
	/** The full name of the branch that is checked out; null: detached, as it must be. */
	readonly branch: string | null;
	/** The reason, empty where none was given; null: not locked. */
	readonly locked: string | null;
	readonly isPrunable: boolean;
	/** The issue whose canonical checkout this is, or null for any other place. */
	readonly issue: number | null;
};

/**
 * Every linked worktree of the mirror, by git's own list.
 *
 * Refuses: CACHE_GIT_ codes. Source: C-LOCK-5, C-REUSE-1.
 */
export async function readRegistrations(git: Git, paths: RepositoryPaths): Promise<readonly Registration[]> {
	// git keeps each registration in a directory there, and removes it with the last one.
	if (statusIfThere(`${paths.mirror}/worktrees`) === null) {
		return [];
	}

	const {stdout} = await git.run({command: ['worktree', 'list', '--porcelain', '-z'], gitDir: paths.mirror});
	const found: Registration[] = [];
	let fields = new Map<string, string>();
	for (const field of zeroTerminated(stdout)) {
		if (field !== '') {
			const [word = ''] = field.split(' ', 1);
			fields.set(word, field.slice(word.length + 1));
			continue;
		}

		if (fields.has('worktree') && !fields.has('bare')) {
			found.push(toRegistration(fields, paths));
		}

		fields = new Map();
	}

	return found;
}

/** Worktrees with which no fetch may begin: a branch is checked out there, or they are registered elsewhere (the root was moved). Source: C-LOCK-5, C-HARD-11. */
export function registrationProblems(registrations: readonly Registration[]): CacheProblem[] {
	return registrations.flatMap(({path, branch, issue}) => {
		if (branch === null) {
			return [];
		}

		const where = issue === null ? 'worktrees' : `worktrees/issue-${issue}/checkout`;
		const message = `${issue === null ? `the worktree ${path}` : `the worktree of issue ${issue}`} has ${branch} checked out; a fetch would refuse to move it or take it away`;
		return [
			placeProblem('CACHE_WORKTREE_ATTACHED', where, message, {
				details: {issue, branch, checkout: path},
				remedy: commandLine(['git', '-C', path, 'switch', '--detach']),
			}),
		];
	});
}

/** Worktrees that are registered at another place than any of this repository: named, never repaired. Source: C-HARD-11. */
export function relocationProblems(registrations: readonly Registration[], paths: RepositoryPaths): CacheProblem[] {
	return registrations
		.filter(({issue}) => issue === null)
		.map(({path}) =>
			placeProblem(
				'CACHE_WORKTREE_RELOCATED',
				'worktrees',
				`a worktree is registered at ${path}, which is none of ${paths.worktrees}: the root was moved, or it was made by hand`,
				{
					details: {checkout: path},
				},
			),
		);
}

function toRegistration(fields: ReadonlyMap<string, string>, paths: RepositoryPaths): Registration {
	const path = fields.get('worktree') ?? '';
	const prefix = `${Buffer.from(paths.worktrees, 'utf8').toString('latin1')}/issue-`;
	const issue = path.startsWith(prefix) ? /^([1-9]\d*)\/checkout$/.exec(path.slice(prefix.length))?.[1] : undefined;
	return {
		path,
		head: fields.get('HEAD') ?? null,
		branch: fields.get('branch') ?? null,
		locked: fields.get('locked') ?? null,
		isPrunable: fields.has('prunable'),
		issue: issue === undefined ? null : Number(issue),
	};
}
