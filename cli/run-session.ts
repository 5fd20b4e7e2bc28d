import path from 'node:path';
import type {AuthoritySession} from '../cache/authority-state.ts';
import {openCanonicalPlace, profileNeeded} from '../cache/canonical-place.ts';
import {openCheckout} from '../cache/checkout-check.ts';
import {type Git, openGit} from '../cache/git-command.ts';
import {locateCheckout} from '../cache/git-directory.ts';
import type {LockWait} from '../cache/lock.ts';
import {openRunPlace, type RunPlace} from '../cache/run-place.ts';
import {BailiffError} from '../core/errors.ts';
import type {Target} from '../core/ids.ts';
import {KnownValues} from '../evidence/known-values.ts';
import {parsePlan, planLimits} from '../evidence/plan.ts';
import {readSensitiveFile} from '../evidence/sensitive-file.ts';
import type {RunControl} from '../runner/run-control.ts';
import type {RunEvent} from '../runner/run-events.ts';
import {type PublishedRun, runPlan as runInPlace} from '../runner/run-plan.ts';
import {toAbsolute} from './arguments.ts';
import {readInputFile} from './input-file.ts';
import {isSamePlace} from './validation.ts';

/** One run: below which root, of which checkout, by which plan. */
export type RunOptions = {
	/** Absolute: `<root>/harness/operations/repository-cache.md`. */
	readonly contractPath: string;
	/** Absolute path of the checkout. Absent: the canonical worktree of the plan's target, for which `openAuthority` is needed. */
	readonly repoRoot?: string;
	/** Opens role and authority, called under the issue lock; only asked for a canonical worktree (C-SYNC-5). */
	readonly openAuthority?: (git: Git) => Promise<AuthoritySession>;
	readonly planFile: string;
	/** Absent: a new id is made. */
	readonly runId?: string;
	/** Whom the manifest names as producer: 1 to 64 letters, digits, ".", "_" or "-". */
	readonly role?: string;
	/** Files of values that must not appear in any output, one a line, mode 0600. */
	readonly sensitiveFiles?: readonly string[];
	/** How long to wait for the issue lock; at once when absent. */
	readonly lock?: LockWait;
	/** By which a caller interrupts the run. */
	readonly control?: RunControl;
	readonly onEvent?: (event: RunEvent) => void;
};

/** A published run and where it lies below its root. */
export type RunResult = PublishedRun & {
	/** Relative to the root. */
	readonly artifactRoot: string;
};

const rolePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * Runs a plan against a checkout below a root, holding the issue lock for the whole run, and publishes the evidence; a failed run is an outcome, no error.
 *
 * Refuses before anything runs: what the plan, the root, the lock, the checkout and the machine refuse (EVIDENCE_PLAN_INVALID, CACHE_, RUN_ codes).
 * Source: runner.md, C-LOCK-1, E-PUB.
 */
export async function runPlan(options: RunOptions): Promise<RunResult> {
	if (options.role !== undefined && !rolePattern.test(options.role)) {
		throw new BailiffError('CLI_USAGE', 'a role has 1 to 64 ASCII letters, digits, ".", "_" or "-" and starts with a letter or digit');
	}

	const planBytes = readInputFile(options.planFile, planLimits.maxBytes).bytes;
	const plan = parsePlan(planBytes);
	const known = new KnownValues((options.sensitiveFiles ?? []).flatMap(file => readSensitiveFile(toAbsolute(file))));
	const git = await openGit();
	const {paths, lock, checkout, role} = await openPlace(options, plan, git);
	try {
		const check = openCheckout({git, path: checkout, isCanonical: isSamePlace(checkout, paths.checkout)});
		const published = await runInPlace({
			plan,
			planBytes,
			runId: options.runId ?? null,
			checkout: {path: checkout, check},
			verificationDirectory: paths.verification,
			surroundings: {
				root: paths.root,
				gitCommonDir: locateCheckout(checkout).commonDir,
				secrets: (options.sensitiveFiles ?? []).map(file => toAbsolute(file)),
			},
			role,
			known,
			...(options.control === undefined ? {} : {control: options.control}),
			...(options.onEvent === undefined ? {} : {onEvent: options.onEvent}),
		});
		return {...published, artifactRoot: path.relative(paths.root, published.runDirectory)};
	} finally {
		await lock.release();
	}
}

type Place = RunPlace & {readonly checkout: string; readonly role: string | null};

async function openPlace({contractPath, repoRoot, role, lock = {}, openAuthority}: RunOptions, target: Target, git: Git): Promise<Place> {
	if (repoRoot !== undefined) {
		return {...(await openRunPlace({contractPath, target}, lock)), checkout: repoRoot, role: role ?? null};
	}

	if (openAuthority === undefined) {
		throw profileNeeded();
	}

	const place = await openCanonicalPlace({contractPath, target, git, openAuthority: async () => openAuthority(git)}, lock);
	return {...place, checkout: place.paths.checkout, role: role ?? place.role};
}
