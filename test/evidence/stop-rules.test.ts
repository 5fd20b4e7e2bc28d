import test from 'ava';
import type {CommandRecord, Manifest, Stop} from '../../evidence/index.ts';
import {mayContinueAfter, stopProblems} from '../../evidence/stop-rules.ts';
import {example, exampleManifest} from '../helpers/example-run.ts';

const termination = {term_sent: true, kill_sent: false, direct_child_reaped: true, group_cleanup_completed: true};
const otherSha = '0'.repeat(40);

/** p passed, f another exit code, t timeout, k death by signal, s secret in a passed command. */
function command(index: number, kind: string): CommandRecord {
	const base = exampleManifest().commands[kind === 't' ? 1 : 0];
	if (base === undefined) {
		throw new Error('the example has commands');
	}

	const record = {...base, index, id: `c${index}`};
	switch (kind) {
		case 'f':
			return {...record, exit_code: 1, passed: false};
		case 'k':
			return {...record, exit_code: null, signal: 'SIGKILL', passed: false};
		case 's':
			return {...record, output: {...record.output, redactions: [{offset: 0, length: 10, rule: 'jwt'}]}};
		default:
			return record;
	}
}

type Run = {
	readonly kinds: string;
	readonly planned?: number;
	readonly failFast?: boolean;
	readonly stop?: Partial<Stop> | null;
	readonly result?: 'passed' | 'failed';
	readonly drift?: boolean;
	readonly redactions?: number;
};

function pointersOf(run: Run): string[] {
	const commands = run.kinds.split('').map((kind, index) => command(index, kind));
	const base = exampleManifest();
	const stop =
		run.stop === undefined || run.stop === null
			? null
			: ({reason: 'command_failed', command: null, errno: null, stage: null, signal: null, termination: null, ...run.stop} satisfies Stop);
	const manifest: Manifest = {
		...base,
		commands,
		stop,
		result: run.result ?? 'failed',
		source: {...base.source, head_after: run.drift === true ? otherSha : example.sha},
		secret_scan: {...base.secret_scan, redactions: run.redactions ?? run.kinds.split('').filter(kind => kind === 's').length},
	};
	const plan = {fail_fast: run.failFast ?? true, commands: Array.from({length: run.planned ?? commands.length}, (_, index) => ({id: `c${index}`}))};
	return stopProblems(manifest, plan).map(problem => problem.pointer);
}

function named(index: number): {command: {index: number; id: string}} {
	return {command: {index, id: `c${index}`}};
}

const consistent: ReadonlyArray<readonly [string, Run]> = [
	['every command passed', {kinds: 'pp', result: 'passed'}],
	['the last command of the plan failed', {kinds: 'pf'}],
	['the last command of the plan timed out', {kinds: 'pt'}],
	['a failure ended the plan', {kinds: 'pf', planned: 3, stop: {reason: 'command_failed', ...named(1)}}],
	['a death by signal ended a plan that goes on after exit codes', {kinds: 'k', planned: 2, failFast: false, stop: {reason: 'command_failed', ...named(0)}}],
	['a timeout ended a plan that goes on after exit codes', {kinds: 't', planned: 2, failFast: false, stop: {reason: 'command_failed', ...named(0)}}],
	['a plan went on after an exit code', {kinds: 'fp', failFast: false}],
	['the second command did not start', {kinds: 'p', planned: 2, stop: {reason: 'start_failed', ...named(1), errno: 'ENOENT', stage: 'chdir'}}],
	['no command was executed', {kinds: '', planned: 1, stop: {reason: 'start_failed', ...named(0), errno: 'EAGAIN', stage: 'fork'}}],
	['a signal came between two commands', {kinds: 'p', planned: 2, stop: {reason: 'interrupted', signal: 'SIGINT'}}],
	['a signal came after the last command', {kinds: 'p', stop: {reason: 'interrupted', signal: 'SIGHUP'}}],
	['a signal came while a timeout was ended', {kinds: 'pt', stop: {reason: 'interrupted', signal: 'SIGTERM'}}],
	['a signal ended the second command', {kinds: 'p', planned: 2, stop: {reason: 'interrupted', signal: 'SIGTERM', ...named(1), termination}}],
	['an internal error took the second command', {kinds: 'p', planned: 2, stop: {reason: 'internal_error', ...named(1), termination}}],
	['a secret in the last command of the plan', {kinds: 'ps', stop: {reason: 'secret_detected', ...named(1)}}],
	['a secret ended the plan', {kinds: 's', planned: 2, stop: {reason: 'secret_detected', ...named(0)}}],
	['a secret and drift: the secret goes first', {kinds: 's', planned: 2, drift: true, stop: {reason: 'secret_detected', ...named(0)}}],
	['drift after the last command', {kinds: 'p', drift: true, stop: {reason: 'source_drift', ...named(0)}}],
	['a failure with drift: drift goes first', {kinds: 'f', planned: 2, drift: true, stop: {reason: 'source_drift', ...named(0)}}],
];

for (const [title, run] of consistent) {
	test(`stopProblems() finds nothing where ${title}`, t => {
		t.deepEqual(pointersOf(run), []);
	});
}

const contradictions: ReadonlyArray<readonly [string, Run, readonly string[]]> = [
	['a run that did not pass says passed', {kinds: 'pf', result: 'passed'}, ['/result']],
	['a run that passed says failed', {kinds: 'pp', result: 'failed'}, ['/result']],
	[
		'nothing was executed and it says passed',
		{kinds: '', planned: 1, result: 'passed', stop: {reason: 'start_failed', ...named(0), errno: 'EAGAIN', stage: 'fork'}},
		['/result'],
	],
	['a pass with drift', {kinds: 'p', drift: true, result: 'passed'}, ['/stop', '/result']],
	['a pass with a redaction', {kinds: 's', result: 'passed'}, ['/stop', '/result']],
	['commands remain without a stop', {kinds: 'p', planned: 2}, ['/stop']],
	['a failure with commands left has no stop', {kinds: 'f', planned: 2}, ['/stop']],
	['nothing was executed and nothing says why', {kinds: '', planned: 1}, ['/stop']],
	['more commands than the plan has', {kinds: 'pp', planned: 1}, ['/commands']],
	['a command runs after a failure', {kinds: 'fp'}, ['/commands/1']],
	['a command runs after a timeout although exit codes do not stop', {kinds: 'tp', failFast: false}, ['/commands/1']],
	['a command runs after a death by signal although exit codes do not stop', {kinds: 'kp', failFast: false}, ['/commands/1']],
	['a command runs after a secret', {kinds: 'sp', stop: {reason: 'secret_detected', ...named(1)}}, ['/commands/1']],
	['a failed start after a failure', {kinds: 'f', planned: 2, stop: {reason: 'start_failed', ...named(1), errno: 'ENOENT', stage: 'exec'}}, ['/stop/command']],
	['command_failed although nothing failed', {kinds: 'p', planned: 2, stop: {reason: 'command_failed', ...named(0)}}, ['/stop/reason']],
	['command_failed on the last command of the plan', {kinds: 'f', stop: {reason: 'command_failed', ...named(0)}}, ['/stop/reason']],
	[
		'command_failed where the plan goes on after exit codes',
		{kinds: 'f', planned: 2, failFast: false, stop: {reason: 'command_failed', ...named(0)}},
		['/stop/reason'],
	],
	['command_failed although a secret goes first', {kinds: 's', planned: 2, stop: {reason: 'command_failed', ...named(0)}}, ['/stop/reason', '/stop/reason']],
	['command_failed although drift goes first', {kinds: 'f', planned: 2, drift: true, stop: {reason: 'command_failed', ...named(0)}}, ['/stop/reason']],
	['secret_detected without a redaction', {kinds: 'p', stop: {reason: 'secret_detected', ...named(0)}}, ['/stop/reason']],
	['source_drift without drift', {kinds: 'p', stop: {reason: 'source_drift', ...named(0)}}, ['/stop/reason']],
	['command_failed without its command', {kinds: 'f', planned: 2, stop: {reason: 'command_failed'}}, ['/stop/command']],
	['command_failed names another command', {kinds: 'pf', planned: 3, stop: {reason: 'command_failed', ...named(0)}}, ['/stop/command']],
	['command_failed with an errno', {kinds: 'f', planned: 2, stop: {reason: 'command_failed', ...named(0), errno: 'EIO'}}, ['/stop/errno']],
	['start_failed without errno and stage', {kinds: 'p', planned: 2, stop: {reason: 'start_failed', ...named(1)}}, ['/stop/errno', '/stop/stage']],
	[
		'start_failed names a command of the prefix',
		{kinds: 'p', planned: 2, stop: {reason: 'start_failed', ...named(0), errno: 'EIO', stage: 'exec'}},
		['/stop/command'],
	],
	[
		'start_failed names a command that the plan does not have',
		{kinds: 'p', stop: {reason: 'start_failed', ...named(1), errno: 'EIO', stage: 'exec'}},
		['/stop/command'],
	],
	['interrupted without a signal', {kinds: 'p', planned: 2, stop: {reason: 'interrupted'}}, ['/stop/signal']],
	[
		'interrupted in a command without its termination',
		{kinds: 'p', planned: 2, stop: {reason: 'interrupted', signal: 'SIGINT', ...named(1)}},
		['/stop/termination'],
	],
	['a termination without a command', {kinds: 'p', planned: 2, stop: {reason: 'interrupted', signal: 'SIGINT', termination}}, ['/stop/termination']],
	['a redaction count that is not the sum', {kinds: 'p', redactions: 1}, ['/secret_scan/redactions']],
];

for (const [title, run, pointers] of contradictions) {
	test(`stopProblems() refuses: ${title}`, t => {
		t.deepEqual(pointersOf(run), [...pointers]);
	});
}

test('stopProblems() refuses a gap in the prefix and a foreign id', t => {
	const manifest = exampleManifest();
	const [first, second] = manifest.commands;
	if (first === undefined || second === undefined) {
		t.fail();
		return;
	}

	const plan = {fail_fast: true, commands: [{id: 'unit'}, {id: 'soak'}]};
	t.deepEqual(stopProblems(manifest, plan), []);
	t.deepEqual(
		stopProblems({...manifest, commands: [first, {...second, index: 2, id: 'other'}]}, plan).map(problem => [problem.code, problem.pointer]),
		[
			['EVIDENCE_PREFIX', '/commands/1/index'],
			['EVIDENCE_PREFIX', '/commands/1/id'],
		],
	);
});

test('mayContinueAfter() follows fail_fast for exit codes only', t => {
	t.deepEqual(
		['p', 'f', 't', 'k', 's'].map(kind => [mayContinueAfter(command(0, kind), true), mayContinueAfter(command(0, kind), false)]),
		[
			[true, true],
			[false, true],
			[false, false],
			[false, false],
			[false, false],
		],
	);
});
