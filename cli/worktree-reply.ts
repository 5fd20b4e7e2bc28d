import type {WorktreeReport} from '../cache/index.ts';
import type {JsonValue} from '../core/errors.ts';
import {visibleLine} from '../core/visible-text.ts';
import {exitCodeOfReport, noteLines} from './cache-reply.ts';
import type {Reply} from './command-spec.ts';

const maxNamed = 10;

/** The reply of a command on a worktree: the report whole, whatever became of it. Source: authority.md section 6. */
export function replyOfWorktree(report: WorktreeReport): Reply {
	const notes = noteLines(report);
	return {
		exitCode: exitCodeOfReport(report),
		json: worktreeJson(report),
		text: worktreeLines(report).join('\n'),
		...(notes.length === 0 ? {} : {note: notes.join('\n')}),
	};
}

/** The report as JSON. */
export function worktreeJson(report: WorktreeReport): {readonly [key: string]: JsonValue} {
	const {drift} = report.issue;
	return {
		...report,
		error: report.error === null ? null : {...report.error},
		problems: report.problems.map(problem => ({...problem})),
		identity: report.identity === null ? null : {...report.identity},
		repository: {...report.repository},
		cache: {...report.cache},
		issue: {...report.issue, drift: drift === null ? null : {old: {...drift.old}, new: {...drift.new}}},
		worktree: {...report.worktree, counts: report.worktree.counts === null ? null : {...report.worktree.counts}},
		evidence: {...report.evidence},
		delivery: report.delivery === null ? null : {...report.delivery},
	};
}

function worktreeLines(report: WorktreeReport): string[] {
	const {command, status, repository, issue, worktree, evidence, delivery} = report;
	return [
		`${status}: ${command} ${repository.owner}/${repository.repository}#${issue.number}: ${stateText(worktree)}`,
		...(worktree.state === 'absent' || worktree.state === 'removed' ? [] : [`worktree ${worktree.path}`]),
		...commitLines(report),
		...(worktree.counts === null ? [] : pathLines(worktree)),
		...(issue.drift === null ? [] : [`the issue changed: ${issue.drift.old.updated_at} to ${issue.drift.new.updated_at}`]),
		...(evidence.runs + evidence.runtime === 0
			? []
			: [`evidence: ${evidence.runs} runs, ${evidence.runtime} runtimes${evidence.kept === true ? ', kept' : ''}`]),
		...(delivery === null
			? []
			: [`${delivery.branch} is at ${delivery.provider_sha ?? 'no commit'} at the authority${delivery.equal ? ', as HEAD' : ', HEAD is not'}`]),
	];
}

function stateText({state, reused}: WorktreeReport['worktree']): string {
	return `${state ?? 'not looked at'}${reused === null ? '' : reused ? ', goes on' : ', made'}`;
}

function commitLines({worktree}: WorktreeReport): string[] {
	const {base_sha: base, head_sha: head, commits_after_base: after, undelivered_commits: undelivered} = worktree;
	return [
		...(base === null ? [] : [`base ${base}${worktree.base_source === null ? '' : ` (${worktree.base_source})`}`]),
		...(head === null ? [] : [`HEAD ${head}${after === null ? '' : `, ${after} commits after the base, ${undelivered ?? 0} not at the authority`}`]),
	];
}

function pathLines(worktree: WorktreeReport['worktree']): string[] {
	return (['staged', 'unstaged', 'untracked', 'ignored'] as const).flatMap(kind => {
		const count = worktree.counts?.[kind] ?? 0;
		const shown = (worktree[kind] ?? []).slice(0, maxNamed).map(name => visibleLine(name, 200));
		return count === 0 ? [] : [`${count} ${kind}: ${shown.join(', ')}${count > shown.length ? ', ...' : ''}`];
	});
}
