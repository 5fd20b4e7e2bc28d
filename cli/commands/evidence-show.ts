import {shellWord} from '../../cache/remedy.ts';
import {visibleLine, visibleText} from '../../core/visible-text.ts';
import {readRunOutput, type ShownCommand, type ShownRun, showRun} from '../../evidence/show.ts';
import {actionsJobOf, fencedForJob} from '../actions-job.ts';
import {readContractPath, readTarget} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {evidencePlace} from '../evidence-place.ts';
import {exitCodes} from '../exit-codes.ts';
import {isStdoutFile} from '../output.ts';
import {problemLines} from '../problem-lines.ts';
import {sandboxLine} from '../sandbox-line.ts';

/** `bailiff evidence show`: one run, or with --output the stored bytes of one command: escaped on a terminal, as they are into a pipe (E-VIEW-1). */
export async function evidenceShow(call: CommandCall): Promise<Reply> {
	const {options} = call;
	const place = evidencePlace(readContractPath(options), readTarget(options));
	const runId = options.required('run');
	const commandId = options.text('output');
	const stream = options.text('stream') === 'err' ? 'err' : 'out';
	if (commandId === null) {
		const run = showRun(place, runId);
		return {exitCode: exitCodes.yes, json: toJson(run), text: describe(run)};
	}

	const bytes = readRunOutput(place, runId, {commandId, stream});
	return {
		exitCode: exitCodes.yes,
		json: {run_id: runId, command: commandId, stream, bytes: bytes.length, base64: bytes.toString('base64')},
		text: process.stdout.isTTY ? visibleText(bytes.toString('utf8')) : fencedForJob(bytes, actionsJobOf(process.env), isStdoutFile()),
	};
}

function toJson(run: ShownRun): Reply['json'] {
	return {...run, problems: [...run.problems]};
}

function describe(run: ShownRun): string {
	const {owner, repository, issue} = run.target;
	const {same_plan_and_source: attempts, failed, unfinished} = run.attempts ?? {same_plan_and_source: null, failed: 0, unfinished: 0};
	return [
		`${run.result}: run ${run.run_id} of ${owner}/${repository}#${issue} on ${run.source.sha}`,
		`${run.started_at} to ${run.finished_at}, sandbox ${run.environment.sandbox.mode}, checkout ${run.source.checkout}`,
		...(attempts === null ? [] : [`attempts with this plan on this commit: ${attempts} (${failed} failed, ${unfinished} never ended)`]),
		...(run.stop === null ? [] : [`stopped: ${run.stop.reason}${run.stop.command === null ? '' : ` at ${run.stop.command.id}`}`]),
		'',
		...run.commands.flatMap(command => commandLines(command)),
		'',
		`evidence ${run.artifact_root}`,
		`manifest sha256 ${run.manifest_sha256}`,
		...problemLines(run.problems),
	].join('\n');
}

function commandLines({index, id, argv, executed}: ShownCommand): string[] {
	const heading = `[${index + 1}] ${id}: ${visibleLine(argv.map(argument => shellWord(argument)).join(' '), 200)}`;
	if (executed === null) {
		return [heading, '    not executed'];
	}

	const end = executed.signal ?? (executed.exit_code === null ? 'not reaped' : `exit ${executed.exit_code}`);
	const outputs = [executed.output, ...(executed.error_output === null ? [] : [executed.error_output])];
	return [
		heading,
		`    ${executed.passed ? 'passed' : 'failed'}: ${executed.execution_status}, ${end}, ${executed.duration_ms} ms`,
		...(executed.sandbox === null ? [] : [`    ${sandboxLine(executed.sandbox)}`]),
		...outputs.map(({path, bytes, redactions}) => `    ${path}: ${bytes} bytes${redactions === 0 ? '' : `, ${redactions} redacted`}`),
	];
}
