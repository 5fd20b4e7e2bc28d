import {visibleLine} from '../../core/visible-text.ts';
import {durationText} from './amounts.ts';
import {endText} from './command-outcome.ts';
import type {Report, ReportCommand, ReportOutput} from './report-schema.ts';

/** How much of it a Markdown text holds. */
export type MarkdownLimits = {
	/** Rows of the table of commands. */
	readonly maxRows: number;
	/** Failing commands whose output is shown. */
	readonly maxOutputs: number;
	/** Last lines of each of them. */
	readonly maxLines: number;
};

/** For a file that a person opens. */
export const fileMarkdownLimits: MarkdownLimits = {maxRows: 256, maxOutputs: 20, maxLines: 100};

const words = {passed: 'passed', failed: '**failed**', error: '**error**', not_executed: 'not executed'} as const;
const maxLineLength = 500;

/**
 * A report as GitHub Flavored Markdown. Whatever comes from a run stands in code, so that nothing of it is a link, a mention, an image or HTML.
 *
 * Pure. Source: E-VIEW-1.
 */
export function renderMarkdown(report: Report, limits: MarkdownLimits = fileMarkdownLimits): string {
	const {owner, repository, issue} = report.target;
	const rows = report.commands.slice(0, limits.maxRows);
	const failing = report.commands.filter(({outcome, outputs}) => (outcome === 'failed' || outcome === 'error') && outputs.length > 0);
	return [
		`# ${report.verdict}: verification of ${codeSpan(`${owner}/${repository}#${issue}`)}`,
		'',
		...report.reasons.map(reason => `- ${codeSpan(reason)}`),
		'',
		...factLines(report),
		'',
		'| # | command | outcome | ended | time | deadline |',
		'| ---: | --- | --- | --- | ---: | ---: |',
		...rows.map(command => row(command)),
		...(report.commands.length > rows.length ? ['', `${report.commands.length - rows.length} more commands are not listed here.`] : []),
		...failing.slice(0, limits.maxOutputs).flatMap(command => outputLines(command, limits.maxLines)),
		...(failing.length > limits.maxOutputs ? ['', `The outputs of ${failing.length - limits.maxOutputs} more failing commands are not shown here.`] : []),
		...problemSection(report),
		'',
		'This text tells what the record says and proves nothing. `bailiff validate` and `bailiff evidence inspect` hold the record against git.',
		'',
	].join('\n');
}

/** Text as inline code, on one line and safe inside a table. */
export function codeSpan(text: string): string {
	const line = visibleLine(text, maxLineLength);
	const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map(run => run.length));
	const fence = '`'.repeat(longest + 1);
	const padding = line === '' || /^[` ]|[` ]$/.test(line) ? ' ' : '';
	// Within a table the bar is read before the code.
	return `${fence}${padding}${line.replaceAll('|', '\\|')}${padding}${fence}`;
}

function factLines(report: Report): string[] {
	const {attempts, environment, source} = report;
	return [
		`- commit ${codeSpan(source.sha)}, tree ${codeSpan(source.tree)}`,
		`- run ${codeSpan(report.run_id)}, ${report.started_at}, took ${durationText(report.duration_ms)}`,
		`- manifest sha256 ${codeSpan(report.manifest.sha256)}`,
		`- sandbox ${environment.sandbox.mode}, containment ${environment.containment}`,
		...(attempts === null
			? ['- attempts: unknown, the ledger cannot be read']
			: [`- attempts with this plan on this commit: ${attempts.same_plan_and_source} (${attempts.failed} failed, ${attempts.unfinished} never ended)`]),
	];
}

function row({index, id, outcome, record, timeout_seconds: timeoutSeconds}: ReportCommand): string {
	const end = record === null ? '' : endText(record);
	const time = record === null ? '' : durationText(record.duration_ms);
	return `| ${index + 1} | ${codeSpan(id)} | ${words[outcome]} | ${end} | ${time} | ${durationText(timeoutSeconds * 1000)} |`;
}

function outputLines(command: ReportCommand, maxLines: number): string[] {
	return [
		'',
		`## ${command.index + 1}. ${codeSpan(command.id)}`,
		'',
		codeSpan(command.message ?? ''),
		'',
		codeSpan(command.argv.join(' ')),
		...command.outputs.flatMap(output => ['', ...fenced(output, maxLines)]),
	];
}

function fenced(output: ReportOutput, maxLines: number): string[] {
	const {text} = output;
	const about = `${codeSpan(output.path)}, sha256 ${codeSpan(output.sha256)}`;
	if (text === null) {
		return [`${about}: not shown (${output.withheld ?? ''}).`];
	}

	const all = `${text.head}${text.omitted_bytes === 0 ? '' : '\n'}${text.tail}`.split('\n');
	const lines = all.slice(-maxLines).map(line => visibleLine(line.replaceAll('\t', '    '), maxLineLength));
	const longest = Math.max(2, ...lines.flatMap(line => line.match(/`+/g) ?? []).map(run => run.length));
	const fence = '`'.repeat(longest + 1);
	const isCut = all.length > lines.length || text.omitted_bytes > 0;
	return [`${about}${isCut ? `, its last ${lines.length} lines` : ''}:`, '', `${fence}text`, ...lines, fence];
}

function problemSection({problems}: Report): string[] {
	return problems.length === 0
		? []
		: [
				'',
				'## Problems',
				'',
				...problems.map(({code, path, pointer, message}) => `- ${code} ${codeSpan([path, pointer].filter(Boolean).join(' '))}: ${codeSpan(message)}`),
			];
}
