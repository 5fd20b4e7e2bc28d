import {issuePaths} from '../cache/layout.ts';
import {openRoot} from '../cache/root.ts';
import type {Target} from '../core/ids.ts';
import type {VerificationPlace} from '../evidence/verification-directory.ts';

/**
 * Where the evidence of an issue lies below a root, for a reader that checks the whole chain of directories.
 *
 * Refuses: CACHE_ROOT_INVALID, CORE_ID_ codes. Source: E-PUB-1, C-LAY.
 */
export function evidencePlace(contractPath: string, target: Target): VerificationPlace & {readonly root: string} {
	const {root} = openRoot(contractPath);
	return {root, verificationDir: issuePaths(root, target).verification, target};
}

/** The root of a contract path, as it stands on disk. Refuses: CACHE_ROOT_INVALID. Source: C-ROOT-1. */
export function evidenceRoot(contractPath: string): string {
	return openRoot(contractPath).root;
}
