import {realpathSync} from 'node:fs';
import {planCheckoutFacts} from '../../cache/checkout-facts.ts';
import {openGit} from '../../cache/git-command.ts';
import {BailiffError} from '../../core/errors.ts';
import {checkTarget, type Target} from '../../core/ids.ts';
import {parsePlan} from '../../evidence/plan.ts';
import type {Plan} from '../../evidence/plan-schema.ts';
import {createFirstPlan} from './first-plan.ts';
import {projectFiles} from './project-files.ts';

/** What `newPlan` needs. */
export type NewPlanOptions = {
	/** Absolute path of the checkout. */
	readonly repoRoot: string;
	/** What is left out is guessed: owner and repository from the origin's URL, the issue as 1; the notes say so. */
	readonly target: Partial<Target>;
	/** The caller's PATH: where tools are looked for. */
	readonly searchPath: string;
	/** The caller's home directory, null where there is none. */
	readonly home: string | null;
	/** Whether this bailiff can sandbox commands. */
	readonly hasSandbox: boolean;
};

/** A new plan, its bytes as a file, and what a person should know about it. */
export type NewPlan = {readonly plan: Plan; readonly bytes: Buffer; readonly notes: readonly string[]};

/**
 * Makes a first plan for a checkout at its HEAD. Executes nothing of the checkout and writes nothing; `checkPlan` accepts what it returns.
 *
 * Refuses: CLI_NOTHING_FOUND where no command is found or HEAD names no commit, CLI_USAGE where the target cannot be guessed, CORE_ID_ codes,
 * CACHE_CHECKOUT_INVALID, CACHE_GIT_ codes. Source: R-PLAN-7.
 */
export async function newPlan(options: NewPlanOptions): Promise<NewPlan> {
	const facts = await planCheckoutFacts(await openGit(), options.repoRoot);
	if (facts.head === null) {
		throw new BailiffError('CLI_NOTHING_FOUND', `HEAD of ${JSON.stringify(options.repoRoot)} names no commit: commit something first`);
	}

	const {target, notes: targetNotes} = completeTarget(options.target, facts.origin);
	const checkout = realpathSync(options.repoRoot);
	const search = {searchPath: options.searchPath, checkout, files: projectFiles(checkout)};
	const {plan, notes} = createFirstPlan({target, sourceSha: facts.head, search, home: options.home, hasSandbox: options.hasSandbox});
	if (plan === null) {
		const reason =
			notes.length > 0 ? notes.join('; ') : 'no package.json with scripts, Makefile with lint, check or test, Cargo.toml, go.mod, pyproject.toml or setup.py';
		throw new BailiffError('CLI_NOTHING_FOUND', `no command was found in ${JSON.stringify(options.repoRoot)}: ${reason}`);
	}

	const bytes = Buffer.from(`${JSON.stringify(plan, null, '\t')}\n`);
	parsePlan(bytes);
	const obstacle = facts.obstacle === null ? [] : [`run would refuse this checkout: ${facts.obstacle.message}`];
	const dirt =
		facts.dirtyPaths === 0
			? []
			: [`${facts.dirtyPaths === 1 ? 'one path differs' : `${facts.dirtyPaths} paths differ`} from HEAD: commit, remove or ignore it before you run the plan`];
	return {plan, bytes, notes: [...targetNotes, ...notes, ...obstacle, ...dirt]};
}

function completeTarget(given: Partial<Target>, origin: Omit<Target, 'issue'> | null): {readonly target: Target; readonly notes: readonly string[]} {
	const owner = given.owner ?? origin?.owner;
	const repository = given.repository ?? origin?.repository;
	if (owner === undefined || repository === undefined) {
		throw new BailiffError(
			'CLI_USAGE',
			'owner and repository cannot be guessed, the checkout has no origin that names them: give --target OWNER/REPOSITORY#ISSUE',
		);
	}

	const target = checkTarget({owner, repository, issue: given.issue ?? 1});
	const notes = [
		...(given.owner === undefined || given.repository === undefined ? [`owner and repository are a guess from the origin: ${owner}/${repository}`] : []),
		...(given.issue === undefined ? ['issue 1 only holds the place: write the number of the issue that the runs belong to'] : []),
	];
	return {target, notes};
}
