import {rmdirSync, unlinkSync} from 'node:fs';
import path from 'node:path';
import {sha256Hex} from '../core/digest.ts';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {flushDirectory} from '../core/files.ts';
import {readLinkFile} from './git-directory.ts';
import type {IssuePaths} from './layout.ts';
import {descriptorsOf} from './lock-session.ts';
import {placeProblem} from './mirror-problem.ts';
import {readRegistrations} from './registrations.ts';
import type {CacheProblem} from './report.ts';
import {statusIfThere} from './trust.ts';
import {type Inspection, inspectWorktree} from './worktree-inspect.ts';
import {entriesOf, type WorktreeLook} from './worktree-look.ts';
import {findRegistration, lockReason, mismatch, registrationFaults} from './worktree-registration.ts';
import {kindOfIssueEntry} from './worktree-state.ts';
import {inspectFor, type WorktreeLocks, type WorktreeWork} from './worktree-work.ts';

const removeTimeoutMs = 1_800_000;
const maxStateBytes = 1_048_576;

/**
 * Takes back a worktree that this very run began to make: only while it is clean, unmarked, unfinished nowhere, and its HEAD is the base.
 *
 * Both locks must have been held without a break since it was not there. Refuses: CACHE_WORKTREE_MISMATCH and what git refuses. Source: C-RM-1.
 */
export async function takeBackWorktree(
	work: WorktreeWork,
	{look, base, locks}: {readonly look: WorktreeLook; readonly base: string; readonly locks: WorktreeLocks},
): Promise<void> {
	const {paths, draft} = work;
	const {registration, admin} = look;
	if (registration === null || admin === null || registrationFaults(paths, {registration, admin, relocatedFrom: null, problems: []}).length > 0) {
		throw new BailiffError('CACHE_WORKTREE_MISMATCH', `${paths.checkout} is not registered as it was made: it stays`);
	}

	const {inspection} = await inspectFor(work, {admin, base});
	const faults = hasWork(inspection) || inspection.head_sha !== base;
	if (faults) {
		throw new BailiffError('CACHE_WORKTREE_MISMATCH', `${paths.checkout} is not as it was made: it stays`);
	}

	await removeByGit(work, locks);
	removeStateFiles(paths);
	draft.worktree.state = 'absent';
}

/** Whether anything in a worktree would be lost: changes, untracked and ignored files, marks, operations, leftovers of git. */
export function hasWork({counts, hidden_flags: hidden, unfinished, git_locks: locks}: Inspection): boolean {
	return Object.values(counts).some(count => count > 0) || (hidden ?? []).length > 0 || unfinished !== null || (locks ?? []).length > 0;
}

/**
 * Unlocks the registration and lets git remove checkout and registration, then reads that both are gone. Never forced, never by the filesystem.
 *
 * Where git refuses, the registration is locked again. Refuses: CACHE_GIT_ codes, CACHE_WORKTREE_MISMATCH where something stays. Source: C-RM-1, C-RM-4.
 */
export async function removeByGit(work: WorktreeWork, locks: WorktreeLocks): Promise<void> {
	const {request, paths, draft} = work;
	const run = async (...command: string[]): Promise<unknown> =>
		request.git.run({
			command: ['worktree', ...command],
			gitDir: paths.mirror,
			descriptors: descriptorsOf(locks.issue, locks.repository),
			isPrivate: true,
			timeoutMs: removeTimeoutMs,
		});
	locks.issue.assertHeld();
	locks.repository.assertHeld();
	request.signal?.throwIfAborted();
	request.onStep?.('removing');
	draft.isChanged = true;
	await run('unlock', '--', paths.checkout);
	try {
		// Without the caller's signal: half removed is worse than a moment later.
		await run('remove', '--', paths.checkout);
	} catch (error) {
		await lockAgain(work, run);
		throw error;
	}

	const left = findRegistration(paths, await readRegistrations(request.git, paths));
	if (left.registration !== null || left.admin !== null || statusIfThere(paths.checkout) !== null) {
		throw new BailiffError(
			'CACHE_WORKTREE_MISMATCH',
			`git said that it removed ${paths.checkout}, but ${statusIfThere(paths.checkout) === null ? 'its registration' : 'the checkout'} is still there`,
		);
	}
}

/**
 * Removes exactly the state files of an issue: `state.json` and those kept by renew whose digest is that of their name.
 *
 * Refuses: CACHE_WRITE_FAILED. Source: C-RM-4.
 */
export function removeStateFiles(paths: IssuePaths): void {
	const names = entriesOf(paths);
	for (const name of names) {
		const kind = kindOfIssueEntry(name);
		if (kind === 'state' || (kind === 'kept-state' && hasOwnDigest(paths, name))) {
			unlink(path.posix.join(paths.issue, name));
		}
	}

	if (names.length > 0) {
		flushDirectory(paths.issue);
	}
}

/**
 * Removes the issue's directory if nothing is left in it. True: evidence stays there, as it must; anything else that stays is a problem.
 *
 * Source: C-RM-4.
 */
export function leaveIssueDirectory(paths: IssuePaths): {readonly isKept: boolean; readonly problems: readonly CacheProblem[]} {
	const names = entriesOf(paths);
	if (names.length === 0) {
		if (statusIfThere(paths.issue) !== null) {
			removeDirectory(paths.issue);
		}

		return {isKept: false, problems: []};
	}

	const strange = names.filter(name => kindOfIssueEntry(name) !== 'evidence');
	return {
		isKept: true,
		problems:
			strange.length === 0
				? []
				: [
						mismatch(paths, `${paths.issue} still holds ${strange.map(name => JSON.stringify(name)).join(', ')}; look at it before it is removed`, {
							names: strange.slice(0, 100),
						}),
					],
	};
}

/**
 * Git refused, or was ended. Where no file is gone yet the registration is locked again, and everything is as before; where files are gone it stays unlocked:
 * that is what tells a removal that was ended half way from a worker's own deletions.
 */
async function lockAgain(work: WorktreeWork, run: (...command: string[]) => Promise<unknown>): Promise<void> {
	const {request, paths, draft} = work;
	try {
		const {admin} = findRegistration(paths, await readRegistrations(request.git, paths));
		const counts = admin === null ? null : (await inspectWorktree(request.git, {paths, admin})).counts;
		if (counts?.staged === 0 && counts.unstaged === 0) {
			await run('lock', '--reason', lockReason(paths), '--', paths.checkout);
			return;
		}
	} catch {
		// It stays as it is, which the problem says.
	}

	draft.problems.push(
		placeProblem(
			'CACHE_WORKTREE_UNLOCKED',
			`worktrees/issue-${paths.target.issue}/checkout`,
			'the removal was ended half way: files are gone, and the registration stays unlocked; see docs/recovery.md',
		),
	);
}

function hasOwnDigest(paths: IssuePaths, name: string): boolean {
	const text = readLinkFile(path.posix.join(paths.issue, name), maxStateBytes);
	return text !== null && name === `state.${sha256Hex(text)}.json`;
}

function unlink(file: string): void {
	try {
		unlinkSync(file);
	} catch (error) {
		throw failed(file, error);
	}
}

function removeDirectory(directory: string): void {
	try {
		rmdirSync(directory);
		flushDirectory(path.posix.dirname(directory));
	} catch (error) {
		throw failed(directory, error);
	}
}

function failed(place: string, error: unknown): BailiffError {
	const errno = errnoOf(error);
	return new BailiffError('CACHE_WRITE_FAILED', `${place} cannot be removed (${errno ?? 'unknown'})`, {cause: error, details: {path: place, errno}});
}
