import {BailiffError} from '../core/errors.ts';
import {runIdProblem, type Target} from '../core/ids.ts';
import {closing} from '../core/safe-file.ts';
import {type Attempts, countAttempts} from './ledger-check.ts';
import type {CommandRecord, Manifest, OutputFile, Stop} from './manifest-schema.ts';
import {outputPaths} from './output-paths.ts';
import {ProblemList} from './problem-list.ts';
import type {Problem} from './problems.ts';
import {evidenceModes} from './run-files.ts';
import {type RunReading, readRun} from './run-reader.ts';
import {type OpenVerification, openVerification, readLedger, type VerificationPlace} from './verification-directory.ts';

/** One output and where it lies. */
export type ShownOutput = {
	/** Run-relative. */
	readonly path: string;
	/** Absolute. */
	readonly file: string;
	readonly bytes: number;
	readonly seen_bytes: number;
	readonly complete: boolean;
	readonly redactions: number;
};

/** One command of the plan: what was to run, and what came of it (null when it was not executed). */
export type ShownCommand = {
	readonly index: number;
	readonly id: string;
	readonly argv: readonly string[];
	readonly cwd: string;
	readonly purpose: CommandRecord['purpose'];
	readonly timeout_seconds: number;
	readonly expected_exit_code: number;
	readonly executed: null | {
		readonly passed: boolean;
		readonly execution_status: CommandRecord['execution_status'];
		readonly trigger: CommandRecord['trigger'];
		readonly exit_code: number | null;
		readonly signal: string | null;
		readonly termination: CommandRecord['termination'];
		readonly started_at_ms: number;
		readonly duration_ms: number;
		readonly resources: CommandRecord['resources'];
		readonly sandbox: CommandRecord['sandbox'];
		readonly output: ShownOutput;
		/** stderr of split streams. */
		readonly error_output: ShownOutput | null;
		readonly trace: {readonly path: string; readonly file: string; readonly bytes: number};
	};
};

/** A run for people and tools. Outputs are hostile text: whoever prints them escapes them. */
export type ShownRun = {
	readonly run_id: string;
	readonly target: Target;
	/** Absolute path of the run directory. */
	readonly artifact_root: string;
	readonly manifest_sha256: string;
	readonly result: 'passed' | 'failed';
	readonly stop: Stop | null;
	readonly source: Manifest['source'];
	readonly environment: Manifest['environment'];
	readonly producer: Manifest['producer'];
	readonly started_at: string;
	readonly finished_at: string;
	readonly plan: {readonly path: string; readonly file: string; readonly sha256: string; readonly bytes: number};
	readonly commands: readonly ShownCommand[];
	readonly attempts: Attempts | null;
	/** What the run contradicts in itself; source and arguments are not looked at (that is validateRun). */
	readonly problems: readonly Problem[];
};

/** Which output of a command: stdout (or both streams combined), or stderr of split streams. */
export type OutputChoice = {readonly commandId: string; readonly stream: 'out' | 'err'};

/**
 * Reads one run with everything that a person asks about it.
 *
 * Refuses: EVIDENCE_RUN_NOT_FOUND when there is no readable manifest of that run (`details.problems` says why).
 * Source: E-VIEW-1.
 */
export function showRun(place: VerificationPlace, runId: string): ShownRun {
	return withRun(place, runId, (opened, problems) => {
		const run = readRun(opened.directory, {uid: opened.uid, problems, runId, scan: null});
		const {manifest, manifestSha256} = run;
		if (manifest === null || manifestSha256 === null) {
			throw notFound(runId, problems);
		}

		const ledger = readLedger(opened.directory, {uid: opened.uid, problems});
		const attempts =
			ledger === null || ledger.problems.length > 0 ? null : countAttempts(ledger, {planSha256: manifest.plan.sha256, sourceSha: manifest.source.sha});
		return {
			run_id: manifest.run_id,
			target: manifest.target,
			artifact_root: `${place.verificationDir}/${runId}`,
			manifest_sha256: manifestSha256,
			result: manifest.result,
			stop: manifest.stop,
			source: manifest.source,
			environment: manifest.environment,
			producer: manifest.producer,
			started_at: manifest.started_at,
			finished_at: manifest.finished_at,
			plan: {...manifest.plan, file: `${place.verificationDir}/${runId}/plan.json`},
			commands: shownCommands(run, manifest, `${place.verificationDir}/${runId}`),
			attempts,
			problems: problems.all(),
		};
	});
}

/**
 * The stored bytes of one output, held against the digest of the manifest.
 *
 * Refuses: EVIDENCE_RUN_NOT_FOUND (no such run, command or stream), CORE_FILE_CHANGED (other bytes than the manifest names), CORE_FILE_ codes.
 * Source: E-VIEW-1, E-READ-6.
 */
export function readRunOutput(place: VerificationPlace, runId: string, choice: OutputChoice): Buffer {
	return withRun(place, runId, (opened, problems) => {
		const {manifest} = readRun(opened.directory, {uid: opened.uid, problems, runId, scan: null});
		const index = manifest?.commands.findIndex(command => command.id === choice.commandId) ?? -1;
		const command = manifest?.commands[index];
		const output = choice.stream === 'out' ? command?.output : command?.extra_outputs[0];
		if (manifest === null || command === undefined || output === undefined) {
			throw manifest === null ? notFound(runId, problems) : outputNotFound(manifest, choice);
		}

		const paths = outputPaths(index);
		return readStored(opened, runId, {...output, path: choice.stream === 'out' ? paths.output : paths.errorOutput});
	});
}

function readStored({directory, uid}: OpenVerification, runId: string, output: OutputFile): Buffer {
	return closing(directory.enter(runId), run =>
		closing(run.enter('output'), outputs => {
			const name = output.path.slice('output/'.length);
			const file = outputs.readFile(name, {maxBytes: output.bytes, bytes: output.bytes, mode: evidenceModes.file, uid});
			if (file.sha256 !== output.sha256) {
				throw new BailiffError('CORE_FILE_CHANGED', `${output.path} of the run ${runId} is not the file whose digest the manifest names`, {
					details: {path: output.path},
				});
			}

			return file.bytes;
		}),
	);
}

function withRun<T>(place: VerificationPlace, runId: string, use: (opened: OpenVerification, problems: ProblemList) => T): T {
	const problems = new ProblemList();
	const opened = runIdProblem(runId) === null ? openVerification(place, problems) : null;
	if (opened === null) {
		throw notFound(runId, problems);
	}

	return closing(opened.directory, () => use(opened, problems));
}

function shownCommands({plan}: RunReading, manifest: Manifest, runDirectory: string): ShownCommand[] {
	// A plan that cannot be read is a problem of its own; what was executed is shown all the same.
	const planned = plan?.commands ?? manifest.commands;
	return planned.map(({id, argv, cwd, purpose, timeout_seconds, expected_exit_code}, index) => {
		const record = manifest.commands[index];
		const executed = record === undefined ? null : executedOf(record, runDirectory);
		return {index, id, argv, cwd, purpose, timeout_seconds, expected_exit_code, executed};
	});
}

function executedOf(record: CommandRecord, runDirectory: string): ShownCommand['executed'] {
	const [errorOutput] = record.extra_outputs;
	return {
		passed: record.passed,
		execution_status: record.execution_status,
		trigger: record.trigger,
		exit_code: record.exit_code,
		signal: record.signal,
		termination: record.termination,
		started_at_ms: record.started_at_ms,
		duration_ms: record.duration_ms,
		resources: record.resources,
		sandbox: record.sandbox,
		output: shownOutput(record.output, runDirectory),
		error_output: errorOutput === undefined ? null : shownOutput(errorOutput, runDirectory),
		trace: {path: record.trace.path, file: `${runDirectory}/${record.trace.path}`, bytes: record.trace.bytes},
	};
}

function shownOutput({path, bytes, seen_bytes, complete, redactions}: OutputFile, runDirectory: string): ShownOutput {
	return {path, file: `${runDirectory}/${path}`, bytes, seen_bytes, complete, redactions: redactions.length};
}

/** Says which outputs there are. */
function outputNotFound({run_id: runId, commands}: Manifest, {commandId, stream}: OutputChoice): BailiffError {
	const isThere = commands.some(({id}) => id === commandId);
	const shown = commands.slice(0, 10).map(({id}) => id);
	const executed = commands.length === 0 ? 'none' : `${shown.join(', ')}${commands.length > shown.length ? ` and ${commands.length - shown.length} more` : ''}`;
	const why = isThere
		? `the command ${JSON.stringify(commandId)} of the run ${runId} has no stream ${stream} of its own: both streams are in out`
		: `the run ${runId} executed no command ${JSON.stringify(commandId)}, executed were: ${executed}`;
	return new BailiffError('EVIDENCE_RUN_NOT_FOUND', why, {details: {run_id: runId, command: commandId, stream}});
}

function notFound(runId: string, problems: ProblemList): BailiffError {
	const found = problems.all().map(({code, path, pointer, message}) => ({code, path, pointer, message}));
	const first = found[0] === undefined ? '' : `: ${found[0].message}`;
	return new BailiffError('EVIDENCE_RUN_NOT_FOUND', `there is no run ${JSON.stringify(runId)} to show${first}`, {
		details: {problems: found},
	});
}
