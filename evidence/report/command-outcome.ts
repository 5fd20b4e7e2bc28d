import type {CommandRecord, Stop} from '../manifest-schema.ts';
import {bytesText, durationText} from './amounts.ts';
import type {ReportCommand} from './report-schema.ts';

/** What became of a command, and why it did not pass. */
export type CommandOutcome = Pick<ReportCommand, 'outcome' | 'message'>;

/**
 * The outcome of one command of the plan in the words of test formats: `failed` ended by itself and otherwise than expected, `error` was ended or could not run.
 *
 * Shape: `record` is null for a command that is not in the executed prefix; `stop` may name it all the same. Pure.
 */
export function commandOutcome(index: number, record: CommandRecord | null, stop: Stop | null): CommandOutcome {
	if (record === null) {
		return stop?.command?.index === index
			? {outcome: 'error', message: stopMessage(stop)}
			: {outcome: 'not_executed', message: 'not executed: the run had ended before'};
	}

	if (record.passed) {
		return {outcome: 'passed', message: null};
	}

	return {outcome: record.execution_status === 'completed' ? 'failed' : 'error', message: recordMessage(record)};
}

/** How the child ended: `exit 1`, `SIGTERM` or `not reaped`. */
export function endText({signal, exit_code: exitCode}: CommandRecord): string {
	return signal ?? (exitCode === null ? 'not reaped' : `exit ${exitCode}`);
}

/** Why a run ended before the end of its plan, as a sentence without its subject. */
export function stopMessage(stop: Stop): string {
	switch (stop.reason) {
		case 'interrupted':
			return `interrupted by ${stop.signal ?? 'a signal'}`;
		case 'secret_detected':
			return 'a secret was found in the output and replaced by [REDACTED]: the run ended there';
		case 'source_drift':
			return 'the checkout was no longer the commit that was to be checked: the run ended there';
		case 'internal_error':
			return 'an error of the runner itself ended the run';
		case 'start_failed':
			return `could not be started: ${stop.errno ?? 'unknown'} at ${stop.stage ?? 'an unknown stage'}`;
		case 'command_failed':
			return 'did not pass, and the run ended there';
		default:
			return stop.reason satisfies never;
	}
}

function recordMessage(record: CommandRecord): string {
	const end = endText(record);
	switch (record.execution_status) {
		case 'completed':
			return record.signal === null ? `ended with exit code ${record.exit_code}, expected was ${record.expected_exit_code}` : `died by ${record.signal}`;
		case 'timeout':
			return `ran past its deadline of ${durationText(record.timeout_seconds * 1000)} and was ended (${end})`;
		case 'output_limit':
			return `wrote more than its limit of ${bytesText(record.max_output_bytes)} and was ended (${end})`;
		case 'descendant_cleanup':
			return `left processes behind that had to be ended (outside of its group: ${record.escaped})`;
		case 'cleanup_failed':
			return 'what it started could not be shown to be gone';
		default:
			return record.execution_status satisfies never;
	}
}
