import {realpathSync} from 'node:fs';
import {openCheckout} from '../cache/checkout-check.ts';
import {openGit} from '../cache/git-command.ts';
import {issuePaths} from '../cache/layout.ts';
import type {Target} from '../core/ids.ts';
import type {Layer} from '../evidence/plan-schema.ts';
import type {ExportReceipt, ReceiveReceipt} from '../evidence/receipt.ts';
import {findSecrets} from '../evidence/secret-scan.ts';
import {type ValidateAnswer, validateRun as validateEvidence} from '../evidence/validate.ts';
import {evidencePlace} from './evidence-place.ts';

/** Which run to validate, below which root, against which checkout. */
export type ValidateOptions = {
	/** Absolute: `<root>/harness/operations/repository-cache.md`. */
	readonly contractPath: string;
	/** Absolute path of the checkout. Absent: the canonical worktree of the target. */
	readonly repoRoot?: string;
	readonly target: Target;
	readonly runId: string;
	/** Names a run that did not pass (EVIDENCE_NOT_PASSED). */
	readonly requirePassed?: boolean;
	/** Names commands that were not held by one of these layers (EVIDENCE_LAYER_NOT_HELD). */
	readonly requireLayers?: readonly Layer[];
	/** A receipt of export or receive: a ledger that lost the line that it names is no (EVIDENCE_LEDGER_CUT). */
	readonly receipt?: ExportReceipt | ReceiveReceipt;
	/** Looks for secrets in the stored outputs again, by the rules of this version (EVIDENCE_SECRET_FOUND). */
	readonly rescan?: boolean;
};

/**
 * Validates one published run against a checkout as it is now, joined with the git of this machine.
 *
 * Total for whatever lies below the root: a verdict with all problems. Refuses only: CACHE_ROOT_INVALID, CORE_ID_ codes, CACHE_GIT_MISSING, CACHE_GIT_VERSION.
 * Source: E-READ-1, E-READ-6.
 */
export async function validateRun(options: ValidateOptions): Promise<ValidateAnswer> {
	const place = evidencePlace(options.contractPath, options.target);
	const {checkout} = issuePaths(place.root, options.target);
	const {repoRoot = checkout} = options;
	const git = await openGit();
	return validateEvidence({
		...place,
		runId: options.runId,
		source: openCheckout({git, path: repoRoot, isCanonical: isSamePlace(repoRoot, checkout)}),
		...(options.requirePassed === undefined ? {} : {requirePassed: options.requirePassed}),
		...(options.requireLayers === undefined ? {} : {requireLayers: options.requireLayers}),
		...(options.receipt === undefined ? {} : {ledgerHead: options.receipt}),
		...(options.rescan === true ? {scan: (bytes: Buffer) => findSecrets(bytes).map(hit => hit.rule)} : {}),
	});
}

/** True where both paths lead to one existing place. */
export function isSamePlace(left: string, right: string): boolean {
	try {
		return realpathSync(left) === realpathSync(right);
	} catch {
		return false;
	}
}
