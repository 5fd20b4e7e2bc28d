import {readdirSync} from 'node:fs';
import {BailiffError} from '../core/errors.ts';
import type {IssuePaths} from './layout.ts';
import {commandLine, placeProblem} from './mirror-problem.ts';
import type {Registration} from './registrations.ts';
import {type CacheProblem, problemOf} from './report.ts';
import {checkCheckoutDirectory, checkPrivateDirectory, statusIfThere} from './trust.ts';
import {type AdminDirectory, findRegistration, type IssueRegistration, mismatch, registrationFaults} from './worktree-registration.ts';
import type {WorktreeWord} from './worktree-report.ts';
import {kindOfIssueEntry, readWorktreeState, type StoredState} from './worktree-state.ts';

/** Checkout, state file and registration of one issue, seen together (C-ADM-3). */
export type WorktreeLook = {
	readonly word: WorktreeWord;
	readonly registration: Registration | null;
	readonly admin: AdminDirectory | null;
	readonly stored: StoredState | null;
	/** Empty where the word is absent or ready. */
	readonly problems: readonly CacheProblem[];
};

/** A worktree whose parts all fit. */
export type ReadyLook = WorktreeLook & {readonly registration: Registration; readonly admin: AdminDirectory; readonly stored: StoredState};

/**
 * Looks at the three parts of an issue's worktree together. No git runs and nothing in the checkout but its `.git` is read.
 *
 * Evidence and runtime of the issue do not count. Source: C-ADM-3, C-REUSE-1, C-TRUST-5, C-FC.
 */
export function lookAtWorktree(paths: IssuePaths, registrations: readonly Registration[]): WorktreeLook {
	const found = findRegistration(paths, registrations);
	const entries = entriesOf(paths);
	const hasCheckout = entries.includes('checkout');
	const hasState = entries.includes('state.json');
	const isRegistered = found.registration !== null || found.admin !== null;
	const base = {registration: found.registration, admin: found.admin};
	const strangers = strangerProblems(paths, entries, isRegistered || hasState);
	if (!isRegistered && found.relocatedFrom !== null) {
		return {...base, word: 'relocated', stored: null, problems: [relocated(paths, found.relocatedFrom)]};
	}

	if (!isRegistered && !hasCheckout && !hasState) {
		return {...base, word: strangers.length === 0 ? 'absent' : 'mismatch', stored: null, problems: strangers};
	}

	if (isRegistered && !hasState) {
		return {...base, word: 'partial', stored: null, problems: [partial(paths, found), ...strangers]};
	}

	const {stored, problems} = judgeParts(paths, found, {hasCheckout, hasState, isRegistered});
	const all = [...problems, ...strangers];
	return {...base, word: all.length === 0 ? 'ready' : 'mismatch', stored, problems: all};
}

type Parts = {readonly hasCheckout: boolean; readonly hasState: boolean; readonly isRegistered: boolean};

function judgeParts(paths: IssuePaths, found: IssueRegistration, parts: Parts): Pick<WorktreeLook, 'stored' | 'problems'> {
	const {stored, problem} = attemptState(paths, parts.hasState);
	const missing = missingProblem(paths, parts);
	const faults = missing.length > 0 ? [] : registrationFaults(paths, found);
	return {stored, problems: [...missing, ...trustProblems(paths, parts), ...problem, ...found.problems, ...faults]};
}

/** The look of a ready worktree without its nulls, or null. */
export function asReady(look: WorktreeLook): ReadyLook | null {
	const {word, registration, admin, stored} = look;
	return word === 'ready' && registration !== null && admin !== null && stored !== null ? {...look, registration, admin, stored} : null;
}

/**
 * The look of a worktree that must be ready.
 *
 * Refuses: CACHE_WORKTREE_ABSENT where there is none.
 */
export function requireReady(paths: IssuePaths, look: WorktreeLook): ReadyLook {
	const ready = asReady(look);
	if (ready === null) {
		const {owner, repository, issue} = paths.target;
		const target = `${owner}/${repository}#${issue}`;
		throw new BailiffError('CACHE_WORKTREE_ABSENT', `${target} has no worktree: "bailiff worktree create" makes it`, {
			details: {remedy: `${commandLine(['bailiff', 'worktree', 'create', '--root', paths.root, '--target', target])} --profile DIR`},
		});
	}

	return ready;
}

/** The names in the issue's directory; none where it is not there. */
export function entriesOf(paths: IssuePaths): readonly string[] {
	return statusIfThere(paths.issue)?.isDirectory() === true ? readdirSync(paths.issue).toSorted() : [];
}

function strangerProblems(paths: IssuePaths, entries: readonly string[], hasWorktree: boolean): CacheProblem[] {
	const strange = entries.filter(name => {
		const kind = kindOfIssueEntry(name);
		return kind === 'unknown' || kind === 'temporary' || (kind === 'kept-state' && !hasWorktree);
	});
	return strange.length === 0
		? []
		: [
				mismatch(paths, `${paths.issue} holds ${strange.map(name => JSON.stringify(name)).join(', ')}, which belongs to no worktree`, {
					names: strange.slice(0, 100),
				}),
			].map(problem => ({...problem, remedy: removalOfTemporaries(paths, strange)}));
}

/** Siblings of a writer that was killed hold nothing that anybody needs; whatever else lies there a person must look at. */
function removalOfTemporaries(paths: IssuePaths, strange: readonly string[]): string | null {
	const isOnly = strange.every(name => kindOfIssueEntry(name) === 'temporary');
	return isOnly ? commandLine(['rm', '--', ...strange.map(name => `${paths.issue}/${name}`)]) : null;
}

function trustProblems(paths: IssuePaths, {hasCheckout}: Pick<Parts, 'hasCheckout'>): CacheProblem[] {
	return [
		...attempt(() => {
			checkPrivateDirectory(paths.worktrees);
		}),
		...attempt(() => {
			checkPrivateDirectory(paths.issue);
		}),
		...(hasCheckout
			? attempt(() => {
					checkCheckoutDirectory(paths.checkout);
				})
			: []),
	];
}

function attempt(check: () => void): CacheProblem[] {
	try {
		check();
		return [];
	} catch (error) {
		return [asProblem(error)];
	}
}

function attemptState(paths: IssuePaths, hasState: boolean): {readonly stored: StoredState | null; readonly problem: readonly CacheProblem[]} {
	if (!hasState) {
		return {stored: null, problem: []};
	}

	try {
		return {stored: readWorktreeState(paths), problem: []};
	} catch (error) {
		return {stored: null, problem: [asProblem(error)]};
	}
}

function asProblem(error: unknown): CacheProblem {
	if (!(error instanceof BailiffError)) {
		throw error;
	}

	return problemOf(error);
}

function missingProblem(paths: IssuePaths, {hasCheckout, hasState, isRegistered}: Parts): CacheProblem[] {
	const parts = [
		['checkout', hasCheckout],
		['state.json', hasState],
		['registration', isRegistered],
	] as const;
	const absent = parts.filter(([, isThere]) => !isThere).map(([name]) => name);
	if (absent.length === 0) {
		return [];
	}

	const there = parts.filter(([, isThere]) => isThere).map(([name]) => name);
	const message = `the worktree has ${there.join(' and ')} but no ${absent.join(' and no ')}: see docs/recovery.md`;
	const remedy = there.join() === 'state.json' ? commandLine(['rm', '--', paths.state]) : null;
	return [{...mismatch(paths, message, {there: [...there], absent: [...absent]}), remedy}];
}

function partial(paths: IssuePaths, {registration}: IssueRegistration): CacheProblem {
	return placeProblem(
		'CACHE_WORKTREE_PARTIAL',
		`worktrees/issue-${paths.target.issue}`,
		'the worktree is registered and has no state.json: a "worktree create" was ended half way, and who made it can no longer be proven; see docs/recovery.md',
		{
			details: {head: registration?.head ?? null},
			remedy: [
				commandLine(['git', `--git-dir=${paths.mirror}`, 'worktree', 'unlock', paths.checkout]),
				commandLine(['rm', '-r', '--', paths.checkout]),
				commandLine(['git', `--git-dir=${paths.mirror}`, 'worktree', 'remove', paths.checkout]),
			].join(' && '),
		},
	);
}

function relocated(paths: IssuePaths, from: string): CacheProblem {
	return placeProblem(
		'CACHE_WORKTREE_RELOCATED',
		`worktrees/issue-${paths.target.issue}/checkout`,
		`the worktree is registered at ${Buffer.from(from, 'latin1').toString('utf8')}: the root was moved`,
		{details: {registered: from}, remedy: commandLine(['git', `--git-dir=${paths.mirror}`, 'worktree', 'repair', paths.checkout])},
	);
}
