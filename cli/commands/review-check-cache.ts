import {type CheckCacheReport, checkCache} from '../../cache/index.ts';
import type {JsonValue} from '../../core/errors.ts';
import {readContractPath, readTarget} from '../arguments.ts';
import {exitCodeOfReport, noteLines} from '../cache-reply.ts';
import type {CommandCall, Reply} from '../command-spec.ts';

/** `bailiff review check-cache`: owners, modes and links of a cache; damaged is a no (SR-CMD-2). */
export async function reviewCheckCache({options}: CommandCall): Promise<Reply> {
	const report = checkCache({contractPath: readContractPath(options), target: readTarget(options)});
	const notes = noteLines(report);
	const {status, cache, worktree, problems, issue} = report;
	return {
		exitCode: exitCodeOfReport(report),
		json: asJson(report),
		text: [
			`${status}: ${cache.path}: ${cache.state}`,
			`worktree of issue ${issue.number}: ${worktree.state}`,
			...(problems.length === 0 ? [] : [`${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`]),
		].join('\n'),
		...(notes.length === 0 ? {} : {note: notes.join('\n')}),
	};
}

function asJson(report: CheckCacheReport): {readonly [key: string]: JsonValue} {
	return {...report, error: report.error === null ? null : {...report.error}, problems: report.problems.map(problem => ({...problem}))};
}
