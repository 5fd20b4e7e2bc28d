import {visibleText} from '../../core/visible-text.ts';
import type {Report, ReportCommand, ReportOutput} from './report-schema.ts';

/**
 * A report as JUnit XML: one test case a command, and where the run failed by itself one more, so that no reader counts only passed cases of it.
 *
 * Shape: strict XML 1.0; characters that XML cannot carry are written visibly (`\x1b`). Pure. Source: E-VIEW-1, facts/evidence.md case 63.
 */
export function renderJunit(report: Report): string {
	const {owner, repository, issue} = report.target;
	const count = (outcome: ReportCommand['outcome']): number => report.commands.filter(command => command.outcome === outcome).length;
	const isFault = report.run_fault !== null;
	const totals = attributes({
		tests: report.commands.length + (isFault ? 1 : 0),
		failures: count('failed'),
		errors: count('error') + (isFault ? 1 : 0),
		skipped: count('not_executed'),
		time: seconds(report.duration_ms),
	});
	const suite = `${owner}/${repository}#${issue}`;
	return [
		'<?xml version="1.0" encoding="UTF-8"?>',
		`<testsuites${attributes({name: 'bailiff'})}${totals}>`,
		`\t<testsuite${attributes({name: suite})}${totals}${attributes({timestamp: report.started_at})}>`,
		'\t\t<properties>',
		...propertiesOf(report).map(([name, value]) => `\t\t\t<property${attributes({name, value})}/>`),
		'\t\t</properties>',
		...report.commands.map(command => testCase(command, suite)),
		...(report.run_fault === null ? [] : [faultCase(report.run_fault, suite)]),
		'\t</testsuite>',
		'</testsuites>',
		'',
	].join('\n');
}

function propertiesOf(report: Report): Array<[string, string]> {
	return [
		['verdict', report.verdict],
		['run_id', report.run_id],
		['source_sha', report.source.sha],
		['source_tree', report.source.tree],
		['plan_sha256', report.plan.sha256],
		['manifest_sha256', report.manifest.sha256],
		['sandbox', report.environment.sandbox.mode],
	];
}

function testCase(command: ReportCommand, suite: string): string {
	const open = `\t\t<testcase${attributes({name: command.id, classname: suite, time: seconds(command.record?.duration_ms ?? 0)})}>`;
	return `${open}${verdictElement(command)}${command.outputs.map(output => outputElement(output)).join('')}</testcase>`;
}

function verdictElement({outcome, message, record}: ReportCommand): string {
	const about = {message: message ?? '', type: record?.execution_status ?? 'not_executed'};
	switch (outcome) {
		case 'passed':
			return '';
		case 'failed':
			return `<failure${attributes(about)}>${escapeXml(message ?? '')}</failure>`;
		case 'error':
			return `<error${attributes(about)}>${escapeXml(message ?? '')}</error>`;
		case 'not_executed':
			return `<skipped${attributes({message: message ?? ''})}/>`;
		default:
			return outcome satisfies never;
	}
}

function outputElement({stream, text, withheld, path, sha256, bytes}: ReportOutput): string {
	const name = stream === 'out' ? 'system-out' : 'system-err';
	const about = `${path}: ${bytes} bytes, sha256 ${sha256}\n`;
	if (text === null) {
		return `<${name}>${escapeXml(`${about}[not shown: ${withheld ?? ''}]`)}</${name}>`;
	}

	const middle = text.omitted_bytes === 0 ? '' : `\n[${text.omitted_bytes} bytes are left out here]\n`;
	return `<${name}>${escapeXml(`${about}${text.head}${middle}${text.tail}`)}</${name}>`;
}

function faultCase(message: string, suite: string): string {
	const open = `\t\t<testcase${attributes({name: '(the run itself)', classname: suite, time: seconds(0)})}>`;
	return `${open}<error${attributes({message, type: 'run'})}>${escapeXml(message)}</error></testcase>`;
}

function attributes(values: Readonly<Record<string, string | number>>): string {
	return Object.entries(values)
		.map(([name, value]) => ` ${name}="${escapeXml(String(value)).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')}"`)
		.join('');
}

const entities: Readonly<Record<string, string>> = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;'};

function escapeXml(text: string): string {
	return visibleText(text)
		.replaceAll(/[\ufffe\uffff]/g, character => `\\u${character.charCodeAt(0).toString(16)}`)
		.replaceAll(/[&<>"']/g, character => entities[character] ?? '');
}

function seconds(durationMs: number): string {
	return (durationMs / 1000).toFixed(3);
}
