import {randomBytes} from 'node:crypto';
import {closeSync, constants, fstatSync, openSync} from 'node:fs';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {writeFully} from '../core/files.ts';
import type {Target} from '../core/ids.ts';
import {type Annotation, annotationsOf} from '../evidence/report/annotations.ts';
import {renderJobSummary} from '../evidence/report/job-summary.ts';
import {readReport} from '../evidence/report/read-report.ts';
import type {Report} from '../evidence/report/report-schema.ts';
import {evidencePlace} from './evidence-place.ts';

/** The environment of a job in GitHub, Gitea or Forgejo Actions. */
export type ActionsJob = {
	/** Where Markdown for the page of the job goes; null where the forge offers no such file. */
	readonly summaryFile: string | null;
};

/** The forge takes 1 MiB a step and drops more as a whole. */
const maxSummaryBytes = 900_000;
const maxHalfBytes = 65_536;

/** The job that this process runs in, or null outside of one. Source: E-VIEW-3. */
export function actionsJobOf(env: Readonly<Record<string, string | undefined>>): ActionsJob | null {
	if (env['GITHUB_ACTIONS'] !== 'true' && env['GITEA_ACTIONS'] !== 'true' && env['FORGEJO_ACTIONS'] !== 'true') {
		return null;
	}

	const file = env['GITHUB_STEP_SUMMARY'];
	return {summaryFile: file === undefined || file === '' ? null : file};
}

/**
 * Appends the report of a published run to the summary of the job and gives the lines for stderr: one workflow command an annotation, and what could not be done.
 *
 * Whatever fails here becomes a line and never changes what became of the run. Source: E-VIEW-3.
 */
export function announceRun(job: ActionsJob, run: {readonly contractPath: string; readonly target: Target; readonly runId: string}): string[] {
	try {
		const {report} = readReport({place: evidencePlace(run.contractPath, run.target), runId: run.runId, maxHalfBytes});
		return [...annotationsOf(report).map(annotation => workflowCommand(annotation)), ...appendSummary(job, report)];
	} catch (error) {
		if (error instanceof BailiffError) {
			return [`bailiff: the job summary could not be made: ${error.message}`];
		}

		throw error;
	}
}

/** Text within which a runner obeys no workflow command, whatever a command of a plan printed. */
export function fencedFromCommands(text: string): string {
	const token = randomBytes(16).toString('hex');
	return `::stop-commands::${token}\n${text}\n::${token}::`;
}

/**
 * What goes to stdout and holds bytes of a command: as it is, but in a job, where the runner reads stdout, fenced as `fencedFromCommands` does.
 *
 * `isFile`: stdout is a regular file, which no runner reads. Source: E-VIEW-3.
 */
export function fencedForJob(bytes: Buffer, job: ActionsJob | null, isFile: boolean): Buffer {
	return job === null || isFile ? bytes : Buffer.from(`${fencedFromCommands(bytes.toString('latin1'))}\n`, 'latin1');
}

/** One workflow command on one line. Source: the escaping of GitHub's actions/toolkit. */
export function workflowCommand({level, title, message}: Annotation): string {
	const data = escapeData(message);
	return `::${level} title=${escapeData(title).replaceAll(':', '%3A').replaceAll(',', '%2C')}::${data}`;
}

function escapeData(text: string): string {
	return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function appendSummary({summaryFile}: ActionsJob, report: Report): string[] {
	if (summaryFile === null) {
		return [];
	}

	try {
		const descriptor = openSync(summaryFile, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK, 0o644);
		try {
			const status = fstatSync(descriptor);
			const text = status.isFile() ? renderJobSummary(report, maxSummaryBytes - status.size) : null;
			if (text === null) {
				return ['bailiff: the job summary is full, the report of this run was left out: bailiff evidence report makes it'];
			}

			writeFully(descriptor, Buffer.from(text, 'utf8'), status.size);
			return [];
		} finally {
			closeSync(descriptor);
		}
	} catch (error) {
		return [`bailiff: the job summary could not be written (${errnoOf(error) ?? 'unknown'})`];
	}
}
