import test from 'ava';
import type {CommandRecord, Stop} from '../../../evidence/manifest-schema.ts';
import {commandOutcome, endText, stopMessage} from '../../../evidence/report/command-outcome.ts';
import {exampleManifest} from '../../helpers/example-run.ts';

const [record] = exampleManifest().commands;
const failing = (change: Partial<CommandRecord>): CommandRecord => {
	if (record === undefined) {
		throw new Error('the frozen run has commands');
	}

	return {...record, passed: false, ...change};
};

for (const [title, change, outcome, message] of [
	['another exit code', {exit_code: 3}, 'failed', 'ended with exit code 3, expected was 0'],
	['a death by signal', {exit_code: null, signal: 'SIGSEGV'}, 'failed', 'died by SIGSEGV'],
	[
		'a timeout',
		{execution_status: 'timeout', trigger: 'timeout', timeout_seconds: 1.5, exit_code: null, signal: 'SIGKILL'},
		'error',
		'ran past its deadline of 1.5 s and was ended (SIGKILL)',
	],
	['too much output', {execution_status: 'output_limit', max_output_bytes: 2048}, 'error', 'wrote more than its limit of 2 KiB and was ended (exit 0)'],
	[
		'somebody left behind',
		{execution_status: 'descendant_cleanup', escaped: 2},
		'error',
		'left processes behind that had to be ended (outside of its group: 2)',
	],
	['a cleanup that failed', {execution_status: 'cleanup_failed', exit_code: null}, 'error', 'what it started could not be shown to be gone'],
] as const) {
	test(`commandOutcome() of ${title} is ${outcome}`, t => {
		t.deepEqual(commandOutcome(0, failing(change), null), {outcome, message});
	});
}

test('endText() names exit code, signal, or that nobody was reaped', t => {
	t.is(endText(failing({exit_code: 3})), 'exit 3');
	t.is(endText(failing({exit_code: null, signal: 'SIGTERM'})), 'SIGTERM');
	t.is(endText(failing({exit_code: null, signal: null})), 'not reaped');
});

test('stopMessage() has a sentence for each reason', t => {
	const reasons: ReadonlyArray<Stop['reason']> = ['interrupted', 'secret_detected', 'source_drift', 'internal_error', 'start_failed', 'command_failed'];
	const sentences = reasons.map(reason => stopMessage({reason, command: null, errno: null, stage: null, signal: null, termination: null}));
	t.is(new Set(sentences).size, reasons.length);
});
