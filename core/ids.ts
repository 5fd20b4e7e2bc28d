import {BailiffError} from './errors.ts';

/** A repository at the authority, each part kept exactly as given. */
export type RepositoryName = {readonly owner: string; readonly repository: string};

/** What a piece of evidence is about. */
export type Target = RepositoryName & {readonly issue: number};

/** Source: shapes.ts: CommitId, C-ID-2. */
export const commitIdPattern = /^[0-9a-f]{40}$/;
/** Source: shapes.ts: RunId, CommandId, E-PUB-4. */
export const runIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** The reason why `owner` is no safe owner name, or null. Source: C-ID-1. */
export function ownerProblem(owner: string): string | null {
	if (!/^[A-Za-z0-9]/.test(owner)) {
		return 'an owner starts with an ASCII letter or digit';
	}

	return componentProblem(owner);
}

/** The reason why `repository` is no safe repository name, or null. Source: C-ID-1. */
export function repositoryProblem(repository: string): string | null {
	if (repository.startsWith('.staging-')) {
		return 'a repository does not start with ".staging-"';
	}

	return componentProblem(repository);
}

/** The reason why `runId` is no run id, or null. Source: shapes.ts: RunId. */
export function runIdProblem(runId: string): string | null {
	if (!runIdPattern.test(runId)) {
		return 'a run id has 1 to 128 ASCII letters, digits, ".", "_" or "-" and starts with a letter or digit';
	}

	return runId === 'ledger.jsonl' ? 'ledger.jsonl is the name of the ledger' : null;
}

/**
 * Checks the three parts of a target and returns them.
 *
 * Refuses: CORE_ID_OWNER, CORE_ID_REPOSITORY, CORE_ID_ISSUE. Source: C-ID-1.
 */
export function checkTarget(target: Target): Target {
	checkRepositoryName(target);
	if (!Number.isSafeInteger(target.issue) || target.issue < 1) {
		throw new BailiffError('CORE_ID_ISSUE', `${target.issue} is no issue number: a whole number from 1 was expected`);
	}

	return target;
}

/**
 * Checks owner and repository and returns them.
 *
 * Refuses: CORE_ID_OWNER, CORE_ID_REPOSITORY. Source: C-ID-1.
 */
export function checkRepositoryName<Name extends RepositoryName>(name: Name): Name {
	const owner = ownerProblem(name.owner);
	if (owner !== null) {
		throw new BailiffError('CORE_ID_OWNER', `${JSON.stringify(name.owner)} is no owner: ${owner}`);
	}

	const repository = repositoryProblem(name.repository);
	if (repository !== null) {
		throw new BailiffError('CORE_ID_REPOSITORY', `${JSON.stringify(name.repository)} is no repository: ${repository}`);
	}

	return name;
}

function componentProblem(name: string): string | null {
	const bytes = Buffer.byteLength(name);
	if (bytes < 1 || bytes > 240) {
		return `it has ${bytes} bytes, 1 to 240 are allowed`;
	}

	if (name === '.' || name === '..' || name.startsWith('-')) {
		return 'it must not be ".", ".." or start with "-"';
	}

	if (/[/\u0000-\u001f\u007f]/.test(name) || !name.isWellFormed()) {
		return 'it must not hold "/" or a control character';
	}

	return name.endsWith('.lock') ? 'it must not end in ".lock"' : null;
}
