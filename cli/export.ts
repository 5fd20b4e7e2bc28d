import path from 'node:path';
import {readPlace} from '../cache/checkout-state.ts';
import {type Git, openGit} from '../cache/git-command.ts';
import {repositoryPaths} from '../cache/layout.ts';
import {openRunPlace} from '../cache/run-place.ts';
import {openSourceObjects, withSourcePack} from '../cache/source-objects.ts';
import {storePrimitives} from '../cache/store-primitives.ts';
import {BailiffError} from '../core/errors.ts';
import type {Target} from '../core/ids.ts';
import {openBundle} from '../evidence/bundle.ts';
import {exportRun as exportEvidence, receiptPathOf} from '../evidence/export.ts';
import type {ExportReceipt} from '../evidence/receipt.ts';
import {type Imported, importBundle} from '../evidence/receive.ts';
import {verifyBundle} from '../evidence/verified-bundle.ts';
import {evidencePlace} from './evidence-place.ts';
import {isInside} from './first-plan/toolchain.ts';
import {realPlace} from './real-place.ts';

/** Which run to export, and where to. */
export type ExportOptions = {
	/** Absolute: `<root>/harness/operations/repository-cache.md`. */
	readonly contractPath: string;
	readonly target: Target;
	readonly runId: string;
	/** Absolute; a name that ends in `.tar` makes a tar, any other one a directory. */
	readonly output: string;
	/** Absolute path of a checkout that holds the commit; without it the mirror of the root. */
	readonly repoRoot?: string;
};

/** Which bundle to take in, below which root. */
export type ReceiveOptions = {
	/** Absolute: `<root>/harness/operations/repository-cache.md`. */
	readonly contractPath: string;
	/** Absolute path of the bundle. */
	readonly bundle: string;
	/** The digest that the producer told by another way. */
	readonly expectedSha256: string;
};

/**
 * Writes a run as a BagIt bundle that another user or host can check with stock tools, and a receipt beside it; returns the receipt and where both stand.
 *
 * Refuses: CACHE_ROOT_INVALID, CORE_ID_ codes, CACHE_GIT_ codes, CACHE_CHECKOUT_INVALID, CACHE_OBJECT_INVALID, EVIDENCE_RUN_NOT_FOUND,
 * EVIDENCE_EXPORT_UNSOUND, EVIDENCE_OUTPUT_EXISTS, EVIDENCE_WRITE_FAILED. Source: E-EXP-1.
 */
export async function exportRun(options: ExportOptions): Promise<{readonly bundle: string; readonly receiptPath: string; readonly receipt: ExportReceipt}> {
	const place = evidencePlace(options.contractPath, options.target);
	const output = realPlace(options.output);
	if (isInside(output, path.join(place.root, 'repositories'))) {
		throw new BailiffError('CLI_USAGE', `${JSON.stringify(output)} lies below repositories of the root, where only the cache writes: name a place outside`);
	}

	const git = await openGit();
	const gitDir = options.repoRoot === undefined ? repositoryPaths(place.root, options.target).mirror : readPlace(options.repoRoot).place.gitDir;
	const receipt = await exportEvidence({place, runId: options.runId, output, source: openSourceObjects(git, gitDir), primitives: storePrimitives()});
	return {bundle: output, receiptPath: receiptPathOf(output), receipt};
}

/**
 * Takes a bundle in: verified against a digest that came by another way, published at its canonical place below the root, with a receipt and its source
 * in `runtime` of the issue.
 *
 * Refuses: EVIDENCE_BUNDLE_DIGEST, EVIDENCE_BUNDLE_INVALID, EVIDENCE_RUN_EXISTS, EVIDENCE_LEDGER_FORKED, EVIDENCE_WRITE_FAILED, CORE_FILE_ codes,
 * CACHE_ROOT_INVALID, CACHE_PATH_UNTRUSTED, CACHE_LOCK_BUSY, CACHE_GIT_ codes. Source: E-EXP-2.
 */
export async function receiveBundle(options: ReceiveOptions): Promise<Imported> {
	if (!/^[0-9a-f]{64}$/.test(options.expectedSha256)) {
		throw new BailiffError('CLI_USAGE', 'the expected digest has 64 lower-case hexadecimal digits, as sha256sum prints them');
	}

	const git: Git = await openGit();
	const bundle = openBundle(realPlace(options.bundle));
	try {
		const verified = verifyBundle(bundle, options.expectedSha256);
		const {paths, lock} = await openRunPlace({contractPath: options.contractPath, target: verified.manifest.target});
		try {
			return await importBundle(verified, {
				verificationDir: paths.verification,
				runtimeDir: paths.runtime,
				primitives: storePrimitives(),
				openPack: async (pack, use) => withSourcePack(git, pack, use),
			});
		} finally {
			await lock.release();
		}
	} finally {
		bundle.close();
	}
}
