import {ownerProblem, repositoryProblem, runIdProblem, type Target} from '../core/ids.ts';
import type {ProblemList} from './problem-list.ts';

/** Who an archived run belongs to. */
export type ArchiveIdentity = {readonly target: Target; readonly runId: string};

/**
 * Who the run at `artifactRoot` belongs to, by its canonical place below `root` alone; null, with EVIDENCE_TARGET_MISMATCH, for any other place.
 *
 * Nothing is looked at on disk. Source: E-READ-4.
 */
export function identityOf({root, artifactRoot}: {readonly root: string; readonly artifactRoot: string}, problems: ProblemList): ArchiveIdentity | null {
	const prefix = `${root.replace(/\/+$/, '')}/repositories/`;
	const identity = artifactRoot.startsWith(prefix) ? parsePlace(artifactRoot.slice(prefix.length)) : null;
	if (identity === null) {
		const message = `the run must lie at ${prefix}OWNER/REPOSITORY/worktrees/issue-N/verification/RUN-ID: its place alone says whose it is`;
		problems.add({code: 'EVIDENCE_TARGET_MISMATCH', path: null, pointer: '', message});
	}

	return identity;
}

function parsePlace(place: string): ArchiveIdentity | null {
	const match = /^([^/]+)\/([^/]+)\/worktrees\/issue-([1-9]\d{0,15})\/verification\/([^/]+)$/.exec(place);
	const [, owner = '', repository = '', digits = '', runId = ''] = match ?? [];
	const issue = Number(digits);
	const isSafe = match !== null && Number.isSafeInteger(issue) && ownerProblem(owner) === null && repositoryProblem(repository) === null;
	return isSafe && runIdProblem(runId) === null ? {target: {owner, repository, issue}, runId} : null;
}
