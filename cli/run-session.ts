import path from 'node:path';
import type {AuthoritySession} from '../cache/authority-state.ts';
import {openTenancy, requireLeaseRole, type Tenancy} from '../cache/broker-tenancy.ts';
import {openCanonicalPlace, profileNeeded} from '../cache/canonical-place.ts';
import {openCheckout} from '../cache/checkout-check.ts';
import {type Git, openGit} from '../cache/git-command.ts';
import {locateCheckout} from '../cache/git-directory.ts';
import type {IssuePaths} from '../cache/layout.ts';
import type {LockWait} from '../cache/lock.ts';
import {openRunPlace, type RunPlace} from '../cache/run-place.ts';
import {BailiffError} from '../core/errors.ts';
import type {Target} from '../core/ids.ts';
import {KnownValues} from '../evidence/known-values.ts';
import {parsePlan, planLimits} from '../evidence/plan.ts';
import {readSensitiveFile} from '../evidence/sensitive-file.ts';
import {createRunControl, type RunControl} from '../runner/run-control.ts';
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
	/** Absolute path of a broker's handle: the run is made under that lease and takes no issue lock; where the lease is lost, the run ends in order. */
	readonly handleFile?: string;
	/** Told once where that lease is lost. */
	readonly onLeaseLost?: (error: BailiffError) => void;
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
	const control = options.control ?? createRunControl();
	const lease = await openLease(options, plan, control);
	const {paths, checkout, role, close} = await openPlace(options, {target: plan, git, lease});
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
			control,
			...(options.onEvent === undefined ? {} : {onEvent: options.onEvent}),
		});
		return {...published, artifactRoot: path.relative(paths.root, published.runDirectory)};
	} finally {
		await close();
	}
}

/** A lost lease ends the run in order: somebody else may work on the issue from now on. */
async function openLease({handleFile, contractPath, role, onLeaseLost}: RunOptions, target: Target, control: RunControl): Promise<Tenancy | null> {
	if (handleFile === undefined) {
		return null;
	}

	return openTenancy({
		contractPath,
		handleFile,
		target,
		...(role === undefined ? {} : {role}),
		onLost: error => {
			onLeaseLost?.(error);
			control.interrupt('SIGTERM');
		},
	});
}

type Place = {readonly paths: IssuePaths; readonly checkout: string; readonly role: string | null; readonly close: () => Promise<void>};
type PlaceGround = {readonly target: Target; readonly git: Git; readonly lease: Tenancy | null};

async function openPlace(options: RunOptions, ground: PlaceGround): Promise<Place> {
	const {lease} = ground;
	try {
		const {lock, ...place} = await takePlace(options, ground);
		const close = async (): Promise<void> => {
			await lock.release();
			lease?.close();
		};
		return {...place, close};
	} catch (error) {
		lease?.close();
		throw error;
	}
}

async function takePlace(
	{contractPath, repoRoot, role, lock = {}, openAuthority}: RunOptions,
	{target, git, lease}: PlaceGround,
): Promise<RunPlace & {readonly checkout: string; readonly role: string | null}> {
	const under = lease === null ? {} : {lease};
	if (repoRoot !== undefined) {
		return {...(await openRunPlace({contractPath, target, ...under}, lock)), checkout: repoRoot, role: role ?? null};
	}

	if (openAuthority === undefined) {
		throw profileNeeded();
	}

	const place = await openCanonicalPlace({contractPath, target, git, openAuthority: async () => openAuthority(git), ...under}, lock);
	if (lease !== null) {
		requireLeaseRole(lease, place.role);
	}

	return {...place, checkout: place.paths.checkout, role: role ?? place.role};
}
