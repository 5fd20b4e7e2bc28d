import {BailiffError} from '../../core/errors.ts';
import {commitIdPattern, type Target} from '../../core/ids.ts';
import {visibleLine} from '../../core/visible-text.ts';
import {type ListedRun, listRuns} from '../../evidence/list.ts';
import {filterRuns, type RunFilter} from '../../evidence/list-filter.ts';
import {listIssues} from '../../evidence/list-issues.ts';
import {isNotice} from '../../evidence/problem-list.ts';
import type {Problem} from '../../evidence/problems.ts';
import {readContractPath, readPartialTarget, readTarget} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {evidencePlace, evidenceRoot} from '../evidence-place.ts';
import {exitCodes} from '../exit-codes.ts';
import type {OptionValues} from '../option-values.ts';
import {problemLines} from '../problem-lines.ts';

type Listed = {readonly target: Target; readonly runs: readonly ListedRun[]; readonly leftovers: readonly string[]; readonly problems: readonly Problem[]};

/** `bailiff evidence list`: the runs of one issue or of many, or with --incomplete what never became one (E-VIEW-1, E-PUB-3). */
export async function evidenceList(call: CommandCall): Promise<Reply> {
	const {options} = call;
	const contractPath = readContractPath(options);
	const filter = readFilter(options);
	const isIncomplete = options.flag('incomplete');
	const {targets, isMany} = targetsOf(contractPath, options);
	const listed = targets.map((target): Listed => {
		const list = listRuns(evidencePlace(contractPath, target));
		const runs = isIncomplete ? list.runs.filter(({state}) => state === 'unfinished' || state === 'abandoned') : list.runs;
		return {...list, target, runs: filterRuns(runs, filter)};
	});
	const problems = listed.flatMap(list =>
		list.problems.map(problem => (isMany ? {...problem, message: `${nameOf(list.target)}: ${problem.message}`} : problem)),
	);
	const leftovers = listed.flatMap(list => list.leftovers.map(name => (isMany ? `${nameOf(list.target)} ${name}` : name)));
	return {
		exitCode: problems.every(problem => isNotice(problem)) ? exitCodes.yes : exitCodes.no,
		json: {runs: listed.flatMap(({target, runs}) => runs.map(run => ({target, ...run}))), leftovers, problems},
		text: [...linesOf(listed, {isMany, isIncomplete, leftovers}), ...problemLines(problems)].join('\n'),
	};
}

function targetsOf(contractPath: string, options: OptionValues): {readonly targets: readonly Target[]; readonly isMany: boolean} {
	const {owner, repository, issue} = readPartialTarget(options);
	if (issue !== undefined) {
		return {targets: [readTarget(options)], isMany: false};
	}

	if (owner === undefined && repository !== undefined) {
		throw new BailiffError('CLI_USAGE', '--repository names a repository of an owner: give --owner too');
	}

	return {targets: listIssues(evidenceRoot(contractPath), {owner: owner ?? null, repository: repository ?? null}), isMany: true};
}

function readFilter(options: OptionValues): RunFilter {
	const result = options.text('result');
	const commit = options.text('commit');
	const since = options.text('since');
	if (commit !== null && !commitIdPattern.test(commit)) {
		throw new BailiffError('CORE_ID_COMMIT', `--commit ${JSON.stringify(commit)} is not a full commit id: 40 lower-case hexadecimal digits (git rev-parse)`);
	}

	return {
		...(result === 'passed' || result === 'failed' ? {result} : {}),
		...(commit === null ? {} : {commit}),
		...(since === null ? {} : {sinceMs: momentOf(since)}),
	};
}

function momentOf(text: string): number {
	const isMoment = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/.test(text);
	const moment = isMoment ? Date.parse(text) : Number.NaN;
	if (Number.isNaN(moment)) {
		throw new BailiffError('CLI_USAGE', `--since ${JSON.stringify(text)} is no moment: 2026-08-01 (UTC) or 2026-08-01T12:00:00Z was expected`);
	}

	return moment;
}

type Shown = {readonly isMany: boolean; readonly isIncomplete: boolean; readonly leftovers: readonly string[]};

function linesOf(listed: readonly Listed[], {isMany, isIncomplete, leftovers}: Shown): string[] {
	const lines = listed.flatMap(({target, runs}) => runs.map(run => runLine(run, isMany ? target : null)));
	if (isIncomplete) {
		const all = [...lines, ...leftovers.map(name => `leftover     ${visibleLine(name, 800)}`)];
		return all.length === 0 ? ['nothing incomplete'] : all;
	}

	const hint = leftovers.length > 0 ? [`${leftovers.length} left by killed runs: --incomplete shows them`] : [];
	return [...(lines.length === 0 ? ['no runs'] : lines), ...hint];
}

function runLine({run_id: runId, state, result, source_sha: sha, started_at: startedAt}: ListedRun, target: Target | null): string {
	const outcome = state === 'published' ? (result ?? 'unknown') : state;
	const where = target === null ? '' : `  ${visibleLine(nameOf(target), 500)}`;
	return `${outcome.padEnd(11)}  ${(sha ?? '').slice(0, 12).padEnd(12)}  ${(startedAt ?? '').padEnd(24)}  ${visibleLine(runId, 200)}${where}`;
}

function nameOf({owner, repository, issue}: Target): string {
	return `${owner}/${repository}#${issue}`;
}
