import test from 'ava';
import type {CommandRecord, OutputFile, Termination} from '../../evidence/index.ts';
import {timeProblems, truthTableProblems} from '../../evidence/truth-table.ts';
import {exampleManifest} from '../helpers/example-run.ts';

type Change = Partial<Omit<CommandRecord, 'termination' | 'output'>> & {termination?: Partial<Termination>; output?: Partial<OutputFile>};

function record(change: Change): CommandRecord {
	const [base] = exampleManifest().commands;
	if (base === undefined) {
		throw new Error('the example has commands');
	}

	return {...base, ...change, termination: {...base.termination, ...change.termination}, output: {...base.output, ...change.output}};
}

const ended = {exit_code: 0, signal: null, passed: false} as const;
const killed = {term_sent: true, kill_sent: true};
const unreaped = {exit_code: null, signal: null, resources: null, passed: false} as const;

const consistent: ReadonlyArray<readonly [title: string, change: Change]> = [
	['a completed command with the expected exit code', {}],
	['a completed command with another exit code', {exit_code: 3, passed: false}],
	['a completed command whose expected exit code is not 0', {exit_code: 3, expected_exit_code: 3}],
	['a death by signal', {exit_code: null, signal: 'SIGSEGV', passed: false}],
	['a death by a real-time signal', {exit_code: null, signal: 'SIGRTMIN+30', passed: false}],
	['a timeout that ended by TERM', {...ended, execution_status: 'timeout', trigger: 'timeout', termination: {term_sent: true}, duration_ms: 60_000}],
	['a timeout that trapped TERM and exited 0', {...ended, execution_status: 'timeout', trigger: 'timeout', termination: killed, duration_ms: 60_000}],
	['a timeout that was rounded down by a millisecond', {...ended, execution_status: 'timeout', trigger: 'timeout', termination: killed, duration_ms: 59_999}],
	[
		'an output limit',
		{
			...ended,
			execution_status: 'output_limit',
			trigger: 'output_limit',
			termination: {term_sent: true},
			max_output_bytes: 20,
			output: {seen_bytes: 21, complete: false},
		},
	],
	['a descendant that was cleaned up', {...ended, execution_status: 'descendant_cleanup', trigger: 'descendant', termination: {term_sent: true}, escaped: 2}],
	[
		'a cleanup that failed before the child was reaped',
		{...unreaped, execution_status: 'cleanup_failed', trigger: 'descendant', termination: {...killed, direct_child_reaped: false}},
	],
	[
		'a cleanup that failed after the child was reaped',
		{...ended, execution_status: 'cleanup_failed', trigger: 'output_limit', termination: {...killed, group_cleanup_completed: false}},
	],
	[
		'a KILL without TERM where the supervisor was gone',
		{...ended, execution_status: 'cleanup_failed', trigger: 'internal', termination: {kill_sent: true, group_cleanup_completed: false}},
	],
	[
		'a redaction that makes the output longer than its limit',
		{max_output_bytes: 9, output: {bytes: 10, seen_bytes: 8, redactions: [{offset: 0, length: 10, rule: 'known-value'}]}},
	],
	['an output that was dropped', {output: {bytes: 10, complete: false, redactions: [{offset: 0, length: 10, rule: 'known-value'}]}}],
	['a literal [REDACTED] that no redaction names', {output: {bytes: 10, seen_bytes: 10}}],
];

for (const [title, change] of consistent) {
	test(`truthTableProblems() finds nothing in ${title}`, t => {
		t.deepEqual(truthTableProblems(record(change), 0), []);
	});
}

const contradictions: ReadonlyArray<readonly [title: string, change: Change, pointers: readonly string[]]> = [
	['completed with a trigger', {trigger: 'timeout'}, ['/trigger']],
	['completed with TERM', {termination: {term_sent: true}}, ['/termination/term_sent']],
	['completed with KILL', {termination: {term_sent: true, kill_sent: true}}, ['/termination/term_sent', '/termination/kill_sent']],
	['completed with a child that was not reaped', {...unreaped, termination: {direct_child_reaped: false}}, ['/termination']],
	['completed with somebody left', {termination: {group_cleanup_completed: false}}, ['/termination']],
	['completed with an escaped process', {escaped: 1}, ['/escaped']],
	['completed without an end of output', {output: {complete: false}}, ['/output/complete']],
	['neither exit code nor signal', {exit_code: null, passed: false}, ['/signal']],
	['both exit code and signal', {signal: 'SIGTERM'}, ['/exit_code']],
	['a signal that Linux does not have', {exit_code: null, signal: 'SIGFOO', passed: false}, ['/signal']],
	['a pass with another exit code', {exit_code: 1}, ['/passed']],
	['a failure with the expected exit code', {passed: false}, ['/passed']],
	['a pass by signal', {exit_code: null, signal: 'SIGTERM'}, ['/passed']],
	['a timeout without trigger', {...ended, execution_status: 'timeout', termination: killed, duration_ms: 60_000}, ['/trigger']],
	[
		'a timeout with the trigger of another status',
		{...ended, execution_status: 'timeout', trigger: 'descendant', termination: killed, duration_ms: 60_000},
		['/trigger'],
	],
	['a timeout without TERM', {...ended, execution_status: 'timeout', trigger: 'timeout', duration_ms: 60_000}, ['/termination/term_sent']],
	['a timeout that passed', {execution_status: 'timeout', trigger: 'timeout', termination: killed, duration_ms: 60_000}, ['/passed']],
	['a timeout before its deadline', {...ended, execution_status: 'timeout', trigger: 'timeout', termination: killed, duration_ms: 59_998}, ['/duration_ms']],
	[
		'a timeout that left somebody',
		{...ended, execution_status: 'timeout', trigger: 'timeout', termination: {...killed, group_cleanup_completed: false}, duration_ms: 60_000},
		['/termination'],
	],
	[
		'KILL without TERM',
		{...ended, execution_status: 'cleanup_failed', trigger: 'timeout', termination: {kill_sent: true, group_cleanup_completed: false}, duration_ms: 60_000},
		['/termination/kill_sent'],
	],
	[
		'an output limit that was not crossed',
		{...ended, execution_status: 'output_limit', trigger: 'output_limit', termination: killed, output: {complete: false}},
		['/output/seen_bytes'],
	],
	[
		'an output limit with a complete output',
		{...ended, execution_status: 'output_limit', trigger: 'output_limit', termination: killed, max_output_bytes: 19, output: {bytes: 19, seen_bytes: 20}},
		['/output/seen_bytes', '/output/bytes', '/output/complete'],
	],
	[
		'a failed cleanup with nobody left',
		{...ended, execution_status: 'cleanup_failed', trigger: 'timeout', termination: killed, duration_ms: 60_000},
		['/termination'],
	],
	['a failed cleanup without trigger', {...unreaped, execution_status: 'cleanup_failed', termination: {...killed, direct_child_reaped: false}}, ['/trigger']],
	[
		'an exit code of a child that was not reaped',
		{...ended, execution_status: 'cleanup_failed', trigger: 'internal', termination: {...killed, direct_child_reaped: false}},
		['/exit_code'],
	],
	['more bytes than the limit', {max_output_bytes: 19, output: {bytes: 20}}, ['/output/seen_bytes', '/output/bytes']],
	['more bytes than were seen', {output: {bytes: 21}}, ['/output/bytes']],
	['fewer bytes than were seen in a complete output', {output: {bytes: 19}}, ['/output/bytes']],
	['a redaction beyond the file', {output: {redactions: [{offset: 11, length: 10, rule: 'jwt'}]}}, ['/output/redactions/0/offset']],
	[
		'redactions that overlap',
		{
			output: {
				redactions: [
					{offset: 0, length: 10, rule: 'jwt'},
					{offset: 9, length: 10, rule: 'jwt'},
				],
			},
		},
		['/output/redactions/1/offset'],
	],
	['a reaped child without resources', {resources: null}, ['/resources']],
	[
		'a peak without a sample',
		{resources: {user_us: 0, system_us: 0, max_rss_bytes: 0, peak_group_rss_bytes: 1, samples: 0}},
		['/resources/peak_group_rss_bytes'],
	],
	[
		'samples without a peak',
		{resources: {user_us: 0, system_us: 0, max_rss_bytes: 0, peak_group_rss_bytes: null, samples: 1}},
		['/resources/peak_group_rss_bytes'],
	],
];

for (const [title, change, pointers] of contradictions) {
	test(`truthTableProblems() refuses ${title}`, t => {
		const found = truthTableProblems(record(change), 4);
		t.deepEqual(found.map(problem => problem.pointer).toSorted(), pointers.map(pointer => `/commands/4${pointer}`).toSorted());
	});
}

test('split streams share one limit', t => {
	const {output} = record({});
	const split = {...record({max_output_bytes: 39}), extra_outputs: [{...output, path: 'output/000.err'}]};
	t.deepEqual(
		truthTableProblems(split, 0).map(problem => problem.message),
		['40 bytes were stored, the limit is 39'],
	);
});

test('timeProblems() finds nothing in the example', t => {
	t.deepEqual(timeProblems(exampleManifest()), []);
});

test('timeProblems() allows one millisecond of rounding and no second one', t => {
	const manifest = exampleManifest();
	const [first, second] = manifest.commands;
	if (first === undefined || second === undefined) {
		t.fail();
		return;
	}

	const end = first.started_at_ms + first.duration_ms;
	const commandsAt = (startedAtMs: number): CommandRecord[] => [first, {...second, started_at_ms: startedAtMs}];
	t.deepEqual(timeProblems({...manifest, commands: commandsAt(end - 1)}), []);
	t.deepEqual(
		timeProblems({...manifest, commands: commandsAt(end - 2)}).map(problem => problem.pointer),
		['/commands/1/started_at_ms'],
	);
	t.deepEqual(timeProblems({...manifest, finished_at: '2026-08-01T12:00:01.527Z'}), []);
	t.deepEqual(
		timeProblems({...manifest, finished_at: '2026-08-01T12:00:01.526Z'}).map(problem => problem.pointer),
		['/finished_at'],
	);
});

test('timeProblems() refuses a day that no calendar has', t => {
	const manifest = {...exampleManifest(), started_at: '2026-02-30T12:00:00.000Z'};
	t.deepEqual(
		timeProblems(manifest).map(problem => problem.pointer),
		['/started_at'],
	);
});
