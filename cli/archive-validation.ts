import {openCheckout} from '../cache/checkout-check.ts';
import {openGit} from '../cache/git-command.ts';
import {openRoot} from '../cache/root.ts';
import type {ArchiveRequest} from '../evidence/archive-reader.ts';
import type {ValidateAnswer} from '../evidence/validate.ts';
import {validateArchivedV2 as validateV2} from '../evidence/validate-archived-v2.ts';
import {validateLegacy as validateV1} from '../evidence/validate-legacy.ts';

/** Which archived run to check, below which root, against which checkout. */
export type ArchiveOptions = {
	/** Absolute: `<root>/harness/operations/repository-cache.md`. */
	readonly contractPath: string;
	/** Absolute path of the checkout. */
	readonly repoRoot: string;
	/** Absolute path of the run, at its canonical place below the root. */
	readonly artifactRoot: string;
	/** Run-relative path of the manifest. */
	readonly manifest: string;
};

/**
 * Checks an archived run of evidence-manifest/v2 against a checkout as it is now, read only, joined with the git of this machine.
 *
 * Total for whatever lies below the root. Refuses only: CACHE_ROOT_INVALID, CACHE_GIT_MISSING, CACHE_GIT_VERSION. Source: E-READ-2.
 */
export async function validateArchivedV2(options: ArchiveOptions): Promise<ValidateAnswer> {
	return validateV2(await requestOf(options));
}

/** The same for evidence-manifest/v1. Refuses as validateArchivedV2. Source: E-READ-3. */
export async function validateLegacy(options: ArchiveOptions): Promise<ValidateAnswer> {
	return validateV1(await requestOf(options));
}

async function requestOf({contractPath, repoRoot, artifactRoot, manifest}: ArchiveOptions): Promise<ArchiveRequest> {
	const {root} = openRoot(contractPath);
	return {root, artifactRoot, manifest, source: openCheckout({git: await openGit(), path: repoRoot, isCanonical: false})};
}
