import {visibleLine} from '../../core/visible-text.ts';
import {type ListedRun, listRuns} from '../../evidence/list.ts';
import {isNotice} from '../../evidence/problem-list.ts';
import {readContractPath, readTarget} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {evidencePlace} from '../evidence-place.ts';
import {exitCodes} from '../exit-codes.ts';
import {problemLines} from '../problem-lines.ts';

/** `bailiff evidence list`: the runs of an issue, or with --incomplete what never became one (E-VIEW-1, E-PUB-3). */
export async function evidenceList(call: CommandCall): Promise<Reply> {
	const {options} = call;
	const {runs: all, leftovers, problems} = listRuns(evidencePlace(readContractPath(options), readTarget(options)));
	const isIncomplete = options.flag('incomplete');
	const runs = isIncomplete ? all.filter(({state}) => state === 'unfinished' || state === 'abandoned') : all;
	const shown = isIncomplete
		? [...runs.map(run => runLine(run)), ...leftovers.map(name => `leftover     ${visibleLine(name, 200)}`)]
		: runs.map(run => runLine(run));
	const hint = !isIncomplete && leftovers.length > 0 ? [`${leftovers.length} left by killed runs: --incomplete shows them`] : [];
	return {
		exitCode: problems.every(problem => isNotice(problem)) ? exitCodes.yes : exitCodes.no,
		json: {runs: runs.map(run => ({...run})), leftovers: [...leftovers], problems: [...problems]},
		text: [...(shown.length === 0 ? [isIncomplete ? 'nothing incomplete' : 'no runs'] : shown), ...hint, ...problemLines(problems)].join('\n'),
	};
}

function runLine({run_id: runId, state, result, source_sha: sha, started_at: startedAt}: ListedRun): string {
	const outcome = state === 'published' ? (result ?? 'unknown') : state;
	return `${outcome.padEnd(11)}  ${(sha ?? '').slice(0, 12).padEnd(12)}  ${(startedAt ?? '').padEnd(24)}  ${visibleLine(runId, 200)}`;
}
