import type {CommandRecord, Manifest, OutputFile, Status, Trigger} from './manifest-schema.ts';
import type {Problem, ProblemCode} from './problems.ts';
import {signalName} from './wait-status.ts';

/** What one status word demands of the other fields; null leaves the field free. */
type Row = {readonly triggers: readonly (Trigger | null)[]; readonly termSent: boolean | null; readonly killSent: boolean | null};

/** The rows of shapes.ts. Reaping, cleanup, exit and pass are checked beside it: they do not differ by a plain value. */
const rows: Readonly<Record<Status, Row>> = {
	completed: {triggers: [null], termSent: false, killSent: false},
	timeout: {triggers: ['timeout'], termSent: true, killSent: null},
	output_limit: {triggers: ['output_limit'], termSent: true, killSent: null},
	descendant_cleanup: {triggers: ['descendant'], termSent: true, killSent: null},
	cleanup_failed: {triggers: ['timeout', 'output_limit', 'descendant', 'internal'], termSent: null, killSent: null},
};

/** Every name that a signal of Linux (1 to 64) has in a manifest. */
const signalNames: ReadonlySet<string | null> = new Set(Array.from({length: 64}, (_, at) => signalName(at + 1)));

/** What a dropped output holds: exactly these ten bytes (shapes.ts: OutputFile). */
export const redactedText = '[REDACTED]';

type Fault = {readonly code: ProblemCode; readonly pointer: string; readonly message: string};

/**
 * Everything in which one executed command contradicts the truth table of shapes.ts; pointers start at `/commands/<index>`.
 *
 * Pure: looks at the record alone. Source: E-V3-5, R-STATUS, shapes.ts (truth table, CommandRecord, OutputFile).
 */
export function truthTableProblems(command: CommandRecord, index: number): Problem[] {
	const faults = [
		...rowFaults(command),
		...killFaults(command),
		...endFaults(command),
		...passFaults(command),
		...durationFaults(command),
		...resourceFaults(command),
		...outputFaults(command),
	];
	return faults.map(({code, pointer, message}) => ({code, path: 'manifest.json', pointer: `/commands/${index}${pointer}`, message}));
}

/**
 * Everything in which the times of a run are out of order: commands one after another, all between start and finish of the run.
 *
 * Every difference may be off by 1 ms, because each time is rounded down on its own. Source: E-V3-5, shapes.ts.
 */
export function timeProblems(manifest: Pick<Manifest, 'started_at' | 'finished_at' | 'commands'>): Problem[] {
	const problems: Problem[] = [];
	const report = (pointer: string, message: string): void => {
		problems.push({code: 'EVIDENCE_TIME', path: 'manifest.json', pointer, message});
	};

	const startedMs = Date.parse(manifest.started_at);
	const finishedMs = Date.parse(manifest.finished_at);
	for (const [name, value] of [
		['started_at', startedMs],
		['finished_at', finishedMs],
	] as const) {
		if (Number.isNaN(value) || new Date(value).toISOString() !== manifest[name]) {
			report(`/${name}`, 'this is no moment of the calendar');
		}
	}

	let previousEndMs = 0;
	for (const [index, command] of manifest.commands.entries()) {
		if (command.started_at_ms + 1 < previousEndMs) {
			report(`/commands/${index}/started_at_ms`, `the command starts at ${command.started_at_ms} ms, before the one before it ended (${previousEndMs} ms)`);
		}

		previousEndMs = command.started_at_ms + command.duration_ms;
	}

	if (finishedMs - startedMs + 1 < previousEndMs) {
		report('/finished_at', `the run ends ${finishedMs - startedMs} ms after its start, before its last command did (${previousEndMs} ms)`);
	}

	return problems;
}

/** True for an output that was dropped because a hit had no exact byte range (E-V3-7). */
export function isDropped(output: OutputFile): boolean {
	const [first] = output.redactions;
	return output.bytes === redactedText.length && !output.complete && output.redactions.length === 1 && first !== undefined && first.offset === 0;
}

function rowFaults({execution_status: status, trigger, termination, escaped}: CommandRecord): Fault[] {
	const row = rows[status];
	const faults: Fault[] = [];
	if (!row.triggers.includes(trigger)) {
		faults.push(contradiction('/trigger', `${status} has the trigger ${row.triggers.join(' or ')}, not ${trigger}`));
	}

	if (row.termSent !== null && termination.term_sent !== row.termSent) {
		faults.push(contradiction('/termination/term_sent', `${status} means that TERM was ${row.termSent ? '' : 'not '}sent`));
	}

	if (row.killSent !== null && termination.kill_sent !== row.killSent) {
		faults.push(contradiction('/termination/kill_sent', `${status} means that KILL was not sent`));
	}

	const isClean = termination.direct_child_reaped && termination.group_cleanup_completed;
	if (isClean === (status === 'cleanup_failed')) {
		faults.push(
			contradiction('/termination', isClean ? 'cleanup_failed means that something was left' : `${status} means that the child was reaped and nobody was left`),
		);
	}

	if (status === 'completed' && escaped !== 0) {
		faults.push(contradiction('/escaped', 'completed means that no process had to be signalled'));
	}

	return faults;
}

function killFaults({execution_status: status, trigger, termination}: CommandRecord): Fault[] {
	const isSupervisorGone = status === 'cleanup_failed' && trigger === 'internal';
	return termination.kill_sent && !termination.term_sent && !isSupervisorGone ? [contradiction('/termination/kill_sent', 'KILL is sent after TERM only')] : [];
}

function endFaults({exit_code: exitCode, signal, termination}: CommandRecord): Fault[] {
	const faults: Fault[] = [];
	const ends = Number(exitCode !== null) + Number(signal !== null);
	if (ends !== Number(termination.direct_child_reaped)) {
		const wanted = termination.direct_child_reaped ? 'exactly one of exit_code and signal' : 'neither exit_code nor signal, since the child was not reaped';
		faults.push(contradiction(exitCode === null ? '/signal' : '/exit_code', `there must be ${wanted}`));
	}

	if (signal !== null && !signalNames.has(signal)) {
		faults.push(contradiction('/signal', 'this is no signal of Linux'));
	}

	return faults;
}

function passFaults({execution_status: status, exit_code: exitCode, expected_exit_code: expected, passed}: CommandRecord): Fault[] {
	const isPass = status === 'completed' && exitCode === expected;
	return passed === isPass ? [] : [contradiction('/passed', `status and exit code make this ${isPass}`)];
}

function durationFaults({execution_status: status, trigger, duration_ms: durationMs, timeout_seconds: timeoutSeconds}: CommandRecord): Fault[] {
	const isDeadline = status === 'timeout' || (status === 'cleanup_failed' && trigger === 'timeout');
	return isDeadline && durationMs + 1 < 1000 * timeoutSeconds
		? [{code: 'EVIDENCE_TIME', pointer: '/duration_ms', message: `a timeout after ${durationMs} ms is before the deadline of ${timeoutSeconds} s`}]
		: [];
}

function resourceFaults({resources, termination}: CommandRecord): Fault[] {
	if (resources === null) {
		return termination.direct_child_reaped ? [contradiction('/resources', 'a reaped child has its resources recorded')] : [];
	}

	return (resources.samples === 0) === (resources.peak_group_rss_bytes === null)
		? []
		: [contradiction('/resources/peak_group_rss_bytes', 'it is null exactly when no sample was taken')];
}

function outputFaults(command: CommandRecord): Fault[] {
	const streams: ReadonlyArray<readonly [string, OutputFile]> = [
		['/output', command.output],
		...command.extra_outputs.map((output, at) => [`/extra_outputs/${at}`, output] as const),
	];
	const faults = streams.flatMap(([pointer, output]) => [...redactionFaults(output, pointer), ...sizeFaults(command, output, pointer)]);
	const plainBytes = sum(streams.map(([, {redactions, bytes}]) => (redactions.length === 0 ? bytes : 0)));
	if (plainBytes > command.max_output_bytes) {
		faults.push(contradiction('/output/bytes', `${plainBytes} bytes were stored, the limit is ${command.max_output_bytes}`));
	}

	const seenBytes = sum(streams.map(([, output]) => output.seen_bytes));
	if (command.execution_status === 'output_limit' && seenBytes <= command.max_output_bytes) {
		faults.push(contradiction('/output/seen_bytes', `output_limit means that more than ${command.max_output_bytes} bytes were seen, not ${seenBytes}`));
	}

	if (command.execution_status === 'output_limit' && streams.every(([, output]) => output.complete)) {
		faults.push(contradiction('/output/complete', 'output_limit means that an output is not complete'));
	}

	return faults;
}

function sizeFaults(command: CommandRecord, output: OutputFile, pointer: string): Fault[] {
	const faults: Fault[] = [];
	if (command.execution_status === 'completed' && !output.complete && !isDropped(output)) {
		faults.push(contradiction(`${pointer}/complete`, 'completed means that the end of the output was reached'));
	}

	if (output.complete && output.seen_bytes > command.max_output_bytes) {
		faults.push(contradiction(`${pointer}/seen_bytes`, `a complete output has at most ${command.max_output_bytes} bytes, not ${output.seen_bytes}`));
	}

	if (output.redactions.length > 0) {
		return faults;
	}

	if (output.complete ? output.bytes !== output.seen_bytes : output.bytes > output.seen_bytes) {
		faults.push(contradiction(`${pointer}/bytes`, `${output.seen_bytes} bytes were seen and ${output.bytes} are stored`));
	}

	return faults;
}

function redactionFaults(output: OutputFile, pointer: string): Fault[] {
	const faults: Fault[] = [];
	let end = 0;
	for (const [at, redaction] of output.redactions.entries()) {
		if (redaction.offset < end || redaction.offset + redaction.length > output.bytes) {
			faults.push({
				code: 'EVIDENCE_REDACTION',
				pointer: `${pointer}/redactions/${at}/offset`,
				message: 'redactions are in order, do not overlap and lie in the stored file',
			});
		}

		end = redaction.offset + redaction.length;
	}

	return faults;
}

function sum(numbers: readonly number[]): number {
	return numbers.reduce((total, next) => total + next, 0);
}

function contradiction(pointer: string, message: string): Fault {
	return {code: 'EVIDENCE_TRUTH_TABLE', pointer, message};
}
