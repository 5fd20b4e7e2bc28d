import {randomBytes} from 'node:crypto';
import {type Clock, systemClock, toRfc3339Ms} from '../core/clock.ts';
import {BailiffError} from '../core/errors.ts';
import {runIdProblem} from '../core/ids.ts';
import type {IssuePaths} from './layout.ts';
import {ensurePrivateDirectory, statusIfThere} from './trust.ts';
import {createTrustedFile, documentBytes} from './trusted-file.ts';
import type {ReportCheckout} from './worktree-report.ts';

const labelForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** A new id of a workflow that has none: its runtime directory is named so. */
export function newWorkflowId(clock: Clock = systemClock): string {
	const stamp = toRfc3339Ms(clock.wallMs())
		.replaceAll(/[-:]|\.\d+Z$/g, '')
		.replace('T', '-');
	return `w-${stamp}-${randomBytes(4).toString('hex')}`;
}

/**
 * Writes what a worktree holds at this moment into the runtime of a workflow, as `status-<label>.json` (0600), which is never replaced. Returns its path.
 *
 * Refuses: CORE_ID_RUN, CACHE_RECORD_EXISTS, CACHE_PATH_UNTRUSTED, CACHE_WRITE_FAILED. Source: C-DEL-1, C-LAY.
 */
export function writeWorktreeRecord(
	paths: IssuePaths,
	worktree: Readonly<ReportCheckout>,
	{runId, label, clock = systemClock}: {readonly runId: string; readonly label: string; readonly clock?: Clock | undefined},
): string {
	const problem = runIdProblem(runId);
	if (problem !== null || !labelForm.test(label)) {
		throw new BailiffError(
			'CORE_ID_RUN',
			problem === null ? `${JSON.stringify(label)} is no label: 1 to 64 letters, digits, ".", "_" or "-"` : `${JSON.stringify(runId)} is no run id: ${problem}`,
		);
	}

	const directory = `${paths.runtime}/${runId}`;
	for (const place of [paths.runtime, directory]) {
		ensurePrivateDirectory(place);
	}

	const file = `${directory}/status-${label}.json`;
	const {owner, repository, issue} = paths.target;
	const record = {schema: 'bailiff.worktree-record/v1', label, at: toRfc3339Ms(clock.wallMs()), owner, repository, issue, worktree};
	if (statusIfThere(file) !== null || !createTrustedFile(file, documentBytes(record))) {
		throw new BailiffError('CACHE_RECORD_EXISTS', `${file} is there already: a record is never overwritten, choose another label`, {details: {path: file}});
	}

	return file;
}
