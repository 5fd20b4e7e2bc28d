import type {CacheReport, CommonReport} from '../cache/index.ts';
import {BailiffError, type JsonValue} from '../core/errors.ts';
import {visibleLine} from '../core/visible-text.ts';
import type {Reply} from './command-spec.ts';
import {type ExitCode, exitCodeOf, exitCodes} from './exit-codes.ts';

/** Worst last. */
const statusOrder = ['ok', 'no', 'refused', 'partial'] as const satisfies readonly CommonReport['status'][];

/** The exit code of a report: by its status, and by the signal that broke it off. Source: authority.md section 6. */
export function exitCodeOfReport({status, error}: CommonReport): ExitCode {
	if (error?.code === 'CLI_INTERRUPTED') {
		return exitCodeOf(new BailiffError(error.code, error.message, {details: error.details}));
	}

	switch (status) {
		case 'ok':
			return exitCodes.yes;
		case 'no':
			return exitCodes.no;
		case 'refused':
			return exitCodes.refused;
		case 'partial':
			return exitCodes.uncertain;
		default:
			return status satisfies never;
	}
}

/** The reply of a command on one mirror: the report whole; on several: all of them, with the worst status. */
export function replyOfReports(reports: readonly CacheReport[]): Reply {
	const [only] = reports;
	const worst = reports.toSorted((left, right) => statusOrder.indexOf(right.status) - statusOrder.indexOf(left.status))[0];
	if (only === undefined || worst === undefined) {
		throw new BailiffError('CLI_USAGE', 'no repository was named');
	}

	const notes = reports.flatMap(report => noteLines(report));
	return {
		exitCode: exitCodeOfReport(worst),
		json: reports.length === 1 ? asJson(only) : {command: only.command, status: worst.status, reports: reports.map(report => asJson(report))},
		text: reports.flatMap(report => reportLines(report)).join('\n'),
		...(notes.length === 0 ? {} : {note: notes.join('\n')}),
	};
}

/** What a person needs beside the answer: the refusal and every problem with its remedy, for stderr. */
export function noteLines(report: CommonReport): string[] {
	const {error, problems} = report;
	const isOfProblem = problems.some(({code}) => code === error?.code);
	return [
		...(error === null || isOfProblem ? [] : [`bailiff: ${error.code}: ${visibleLine(error.message, 2000)}`]),
		...problems.flatMap(({code, message, remedy}) => [
			`bailiff: ${code}: ${visibleLine(message, 2000)}`,
			...(remedy === null ? [] : [`  a person who has looked at it may run: ${visibleLine(remedy, 2000)}`]),
		]),
	];
}

function reportLines({command, status, repository, cache, default_branch: branch, worktrees}: CacheReport): string[] {
	const made = cache.reused === null ? '' : cache.reused ? ', there already' : ', made';
	return [
		`${status}: ${command} ${repository.owner}/${repository.repository}: ${cache.state}${made}`,
		...(cache.path === null ? [] : [`mirror ${cache.path}`]),
		...(branch.local_sha === null ? [] : [`${branch.name ?? ''} ${branch.local_sha}${agreement(branch.equal)}`]),
		...contentLines(cache),
		...worktrees.map(({issue, state_file: hasState}) => `worktree of issue ${issue ?? 'unknown'}: registered, ${hasState ? 'with' : 'without'} state file`),
		...cache.staging_leftovers.map(place => `left by a killed run: ${place}`),
	];
}

function contentLines({verified_at: at, refs, packs, bytes, temporary_packs: temporary}: CacheReport['cache']): string[] {
	return [
		...(at === null || refs === null || packs === null || bytes === null ? [] : [`verified ${at}: ${refs} refs, ${packs} packs, ${bytes} bytes`]),
		...(temporary === null || temporary.count === 0 ? [] : [`${temporary.count} temporary packs, ${temporary.bytes} bytes`]),
	];
}

function agreement(isEqual: boolean | null): string {
	return isEqual === null ? '' : isEqual ? ' (as at the authority)' : ' (NOT as at the authority)';
}

function asJson(report: CacheReport): {readonly [key: string]: JsonValue} {
	return {
		...report,
		error: report.error === null ? null : {...report.error},
		problems: report.problems.map(problem => ({...problem})),
		identity: report.identity === null ? null : {...report.identity},
		repository: {...report.repository},
		cache: {...report.cache},
		default_branch: {...report.default_branch},
		worktrees: report.worktrees.map(worktree => ({...worktree})),
		credential: {...report.credential},
	};
}
