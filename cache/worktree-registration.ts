import {readdirSync} from 'node:fs';
import {readLinkFile} from './git-directory.ts';
import type {IssuePaths} from './layout.ts';
import {commandLine, placeProblem} from './mirror-problem.ts';
import type {Registration} from './registrations.ts';
import type {CacheProblem} from './report.ts';
import {statusIfThere} from './trust.ts';

/** The directory in the mirror that belongs to a worktree: its HEAD, its index, its log. */
export type AdminDirectory = {readonly path: string; readonly name: string};

/** What git's own files say about the worktree of one issue. */
export type IssueRegistration = {
	/** null: not registered at its own place. */
	readonly registration: Registration | null;
	readonly admin: AdminDirectory | null;
	/** Where the same worktree is registered if the root was moved. */
	readonly relocatedFrom: string | null;
	readonly problems: readonly CacheProblem[];
};

/**
 * Finds the registration of an issue's worktree: in git's list by its path, and its directory in the mirror by the content of `gitdir`, never by the
 * directory's name, which git gives away again.
 *
 * Changes nothing, runs nothing. Source: C-REUSE-1, C-HARD-3, C-HARD-11, C-FC.
 */
export function findRegistration(paths: IssuePaths, registrations: readonly Registration[]): IssueRegistration {
	const own = registrations.filter(({issue}) => issue === paths.target.issue);
	const admins = adminDirectoriesOf(paths);
	const [registration = null] = own;
	const [admin = null] = admins;
	const problems: CacheProblem[] = [];
	if (own.length > 1 || admins.length > 1) {
		const names = admins.map(({name}) => name);
		problems.push(mismatch(paths, `the worktree is registered ${Math.max(own.length, admins.length)} times, exactly once is allowed`, {admin: names}));
	} else if ((registration === null) !== (admin === null)) {
		problems.push(mismatch(paths, 'git lists the worktree and its directory in the mirror does not fit, or the reverse', {admin: admin?.name ?? null}));
	}

	return {registration, admin, relocatedFrom: relocatedFrom(paths, registrations), problems};
}

/**
 * Holds a registered worktree to its form: locked, detached, and the three files by which checkout and mirror name each other exactly as git writes them.
 *
 * Source: C-REUSE-1, C-NEW-2, C-HARD-3.
 */
export function registrationFaults(paths: IssuePaths, {registration, admin}: IssueRegistration): CacheProblem[] {
	if (registration === null || admin === null) {
		return [];
	}

	const problems: CacheProblem[] = [];
	if (registration.locked === null) {
		problems.push(
			placeProblem(
				'CACHE_WORKTREE_UNLOCKED',
				checkoutName(paths),
				'the worktree is registered and not locked: a prune, or a removal that was killed, could take it away',
				{
					remedy: commandLine(['git', `--git-dir=${paths.mirror}`, 'worktree', 'lock', '--reason', lockReason(paths), paths.checkout]),
				},
			),
		);
	}

	const expected = [
		[`${paths.checkout}/.git`, `gitdir: ${admin.path}\n`],
		[`${admin.path}/gitdir`, `${paths.checkout}/.git\n`],
		[`${admin.path}/commondir`, '../..\n'],
	] as const;
	for (const [file, text] of expected) {
		const status = statusIfThere(file);
		if (status?.isFile() !== true || status.nlink !== 1 || readLinkFile(file) !== text) {
			problems.push(mismatch(paths, `${file} is not what git wrote for this worktree: it may lead to another repository, and is never followed`, {file}));
		}
	}

	for (const name of ['config.worktree', 'info/attributes']) {
		if (statusIfThere(`${admin.path}/${name}`) !== null) {
			problems.push(
				placeProblem(
					'CACHE_FORBIDDEN_FILE',
					`repository.git/worktrees/${admin.name}/${name}`,
					'a worktree of its own must not have it: git would read settings from it',
				),
			);
		}
	}

	return problems;
}

/** Why git keeps the worktree from a prune; nothing sensitive. */
export function lockReason(paths: IssuePaths): string {
	return `bailiff issue ${paths.target.issue}`;
}

/** A problem of the worktree's parts among each other. */
export function mismatch(paths: IssuePaths, message: string, details: CacheProblem['details'] = {}): CacheProblem {
	return placeProblem('CACHE_WORKTREE_MISMATCH', `worktrees/issue-${paths.target.issue}`, message, {details});
}

function adminDirectoriesOf(paths: IssuePaths): AdminDirectory[] {
	const parent = `${paths.mirror}/worktrees`;
	if (statusIfThere(parent)?.isDirectory() !== true) {
		return [];
	}

	return readdirSync(parent)
		.toSorted()
		.map(name => ({name, path: `${parent}/${name}`}))
		.filter(({path}) => statusIfThere(path)?.isDirectory() === true && readLinkFile(`${path}/gitdir`)?.trimEnd() === `${paths.checkout}/.git`);
}

function relocatedFrom(paths: IssuePaths, registrations: readonly Registration[]): string | null {
	const {owner, repository, issue} = paths.target;
	const tail = Buffer.from(`/repositories/${owner}/${repository}/worktrees/issue-${issue}/checkout`, 'utf8').toString('latin1');
	return registrations.find(({issue: known, path}) => known === null && path.endsWith(tail))?.path ?? null;
}

function checkoutName(paths: IssuePaths): string {
	return `worktrees/issue-${paths.target.issue}/checkout`;
}
