import type {JsonValue} from '../../core/errors.ts';
import {visibleJson} from '../../core/visible-text.ts';
import type {Report, ReportCommand, ReportOutput} from './report-schema.ts';

const specVersion = '0.0.0';
const statusOf = {passed: 'passed', failed: 'failed', error: 'failed', not_executed: 'skipped'} as const;

/**
 * A report as CTRF (Common Test Report Format) JSON: one test a command, totals counted from the tests, and where the run failed by itself one more test.
 *
 * Pure. Source: E-VIEW-1, CTRF 0.0.0.
 */
export function renderCtrf(report: Report): string {
	const startMs = Date.parse(report.started_at);
	const tests = [...report.commands.map(command => testOf(command, report)), ...(report.run_fault === null ? [] : [faultOf(report.run_fault)])];
	const count = (status: string): number => tests.filter(test => test.status === status).length;
	const document: JsonValue = {
		reportFormat: 'CTRF',
		specVersion,
		runId: report.run_id,
		timestamp: report.finished_at,
		generatedBy: `bailiff ${report.generator.version}`,
		results: {
			tool: {name: 'bailiff', version: report.producer.version},
			summary: {
				tests: tests.length,
				passed: count('passed'),
				failed: count('failed'),
				skipped: count('skipped'),
				pending: 0,
				other: 0,
				start: startMs,
				stop: Date.parse(report.finished_at),
				duration: report.duration_ms,
			},
			tests,
			extra: {
				verdict: report.verdict,
				reasons: report.reasons,
				source: report.source,
				plan_sha256: report.plan.sha256,
				manifest_sha256: report.manifest.sha256,
				attempts: report.attempts,
			},
		},
	};
	return `${visibleJson(JSON.stringify(document, null, '\t'))}\n`;
}

type CtrfTest = {readonly [key: string]: JsonValue} & {readonly status: 'passed' | 'failed' | 'skipped'};

function testOf(command: ReportCommand, report: Report): CtrfTest {
	const {record, outcome, message} = command;
	const startMs = Date.parse(report.started_at) + (record?.started_at_ms ?? 0);
	return {
		name: command.id,
		status: statusOf[outcome],
		rawStatus: record === null ? outcome : `${outcome} (${record.execution_status})`,
		duration: record?.duration_ms ?? 0,
		...(record === null ? {} : {start: startMs, stop: startMs + record.duration_ms}),
		suite: [`${report.target.owner}/${report.target.repository}#${report.target.issue}`],
		...(message === null ? {} : {message}),
		...linesOf(command, 'out'),
		...linesOf(command, 'err'),
		extra: {
			argv: command.argv,
			cwd: command.cwd,
			purpose: command.purpose,
			expected_exit_code: command.expected_exit_code,
			exit_code: record?.exit_code ?? null,
			signal: record?.signal ?? null,
			timeout_seconds: command.timeout_seconds,
			outputs: command.outputs.map(({path, sha256, bytes, withheld}) => ({path, sha256, bytes, withheld})),
		},
	};
}

function linesOf({outputs}: ReportCommand, stream: ReportOutput['stream']): {readonly [key: string]: JsonValue} {
	const text = outputs.find(output => output.stream === stream)?.text ?? null;
	if (text === null) {
		return {};
	}

	const lines = [...text.head.split('\n'), ...(text.omitted_bytes === 0 ? [] : [`[${text.omitted_bytes} bytes are left out here]`, ...text.tail.split('\n')])];
	return {[stream === 'out' ? 'stdout' : 'stderr']: lines};
}

function faultOf(message: string): CtrfTest {
	return {name: '(the run itself)', status: 'failed', rawStatus: 'run', duration: 0, message};
}
