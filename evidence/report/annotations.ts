import type {Report, ReportCommand} from './report-schema.ts';

/** One remark that a forge shows beside a job. */
export type Annotation = {readonly level: 'error' | 'warning'; readonly title: string; readonly message: string};

/** GitHub shows ten of a kind for each step and drops the rest without a word. */
export const maxAnnotations = 10;
const maxTailLines = 5;
const maxTailLength = 2000;

/**
 * At most ten remarks about a run, the worst first; where there are more, the last one says how many.
 *
 * Pure; texts are safe to show and not yet escaped for any protocol. Source: E-VIEW-3.
 */
export function annotationsOf(report: Report): Annotation[] {
	const all = [...faultAnnotations(report), ...report.commands.filter(isFailing).map(command => commandAnnotation(command)), ...attemptAnnotations(report)];
	if (all.length <= maxAnnotations) {
		return all;
	}

	const left = all.length - (maxAnnotations - 1);
	return [
		...all.slice(0, maxAnnotations - 1),
		{level: 'error', title: `${left} more`, message: `${left} more remarks stand in the report of run ${report.run_id}`},
	];
}

function isFailing({outcome}: ReportCommand): boolean {
	return outcome === 'failed' || outcome === 'error';
}

function faultAnnotations({run_fault: fault, verdict}: Report): Annotation[] {
	return fault === null ? [] : [{level: 'error', title: verdict === 'unsound' ? 'the record contradicts itself' : 'the run failed', message: fault}];
}

function commandAnnotation({id, message, outputs}: ReportCommand): Annotation {
	const lines = outputs.flatMap(({text}) =>
		text === null
			? []
			: `${text.head}\n${text.tail}`
					.split('\n')
					.filter(line => line.trim() !== '')
					.slice(-maxTailLines),
	);
	return {level: 'error', title: id, message: [message ?? '', ...lines].join('\n').slice(0, maxTailLength).toWellFormed()};
}

/** Runs of the same plan on the same commit that did not pass, this one not counted. */
function attemptAnnotations({attempts, commands, verdict}: Report): Annotation[] {
	if (attempts === null || commands.length === 0) {
		return [];
	}

	const failed = attempts.failed - (verdict === 'passed' ? 0 : 1);
	return failed + attempts.unfinished <= 0
		? []
		: [
				{
					level: 'warning',
					title: 'earlier attempts',
					message: `the same plan was run on this commit before: ${failed} failed, ${attempts.unfinished} never ended`,
				},
			];
}
