import {chmodSync, existsSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import type {ErrorCode} from '../../core/errors.ts';
import type {Stop} from '../../evidence/index.ts';
import {createRunControl} from '../../runner/run-control.ts';
import type {RunEvent} from '../../runner/run-events.ts';
import {eventually} from '../helpers/eventually.ts';
import {layGround, type RunChange, runCommands, type TestCommand} from '../helpers/planned-run.ts';
import {refusalLater} from '../helpers/refusal.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const shell = (id: string, line: string, more: Readonly<Record<string, unknown>> = {}): TestCommand => ({id, argv: ['sh', '-c', line], ...more});

test('a plan whose commands all pass is published as passed and validates', async t => {
	const ground = layGround(temporaryDirectory(t));
	const events: RunEvent[] = [];
	const {manifest, answer, output} = await runCommands(
		ground,
		[shell('first', 'echo one'), shell('second', 'echo two >&2; exit 3', {expected_exit_code: 3, purpose: 'red'})],
		{
			onEvent: event => events.push(event),
		},
	);
	t.is(manifest.result, 'passed');
	t.is(manifest.stop, null);
	t.deepEqual(
		manifest.commands.map(command => [command.id, command.exit_code, command.passed]),
		[
			['first', 0, true],
			['second', 3, true],
		],
	);
	t.is(output('output/000.log'), 'one\n');
	t.is(output('output/001.log'), 'two\n');
	t.deepEqual([answer.verdict, answer.result, answer.problems], ['valid-v3', 'passed', []]);
	t.deepEqual(
		events.map(event => event.type),
		['run-started', 'command-started', 'command-ended', 'command-started', 'command-ended', 'published'],
	);
});

test('the environment of a command is exactly what the contract names, and home and temporary directory are gone afterwards', async t => {
	const ground = layGround(temporaryDirectory(t));
	process.env['BAILIFF_TEST_CANARY'] = 'must-not-arrive';
	const {output} = await runCommands(ground, [{id: 'env', argv: ['env'], env: {CI: 'true', TZ: 'Asia/Seoul'}}], {plan: {path: '/usr/bin:/bin'}});
	const env = new Map(
		output('output/000.log')
			.trim()
			.split('\n')
			.map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
	);
	t.deepEqual([...env.keys()].toSorted(), ['CI', 'HOME', 'LANG', 'LC_ALL', 'PATH', 'TMPDIR', 'TZ']);
	t.is(env.get('PATH'), '/usr/bin:/bin');
	t.is(env.get('TZ'), 'Asia/Seoul');
	t.false(existsSync(env.get('HOME') ?? '/'));
	t.false(existsSync(env.get('TMPDIR') ?? '/'));
});

type StopCase = {
	readonly title: string;
	readonly commands: readonly TestCommand[];
	readonly change?: RunChange;
	readonly executed: readonly string[];
	readonly stop: Partial<Stop> | null;
};

const stopCases: readonly StopCase[] = [
	{
		title: 'the first failed command ends the plan',
		commands: [shell('ok', 'exit 0'), shell('bad', 'exit 1'), shell('never', 'exit 0')],
		executed: ['ok', 'bad'],
		stop: {reason: 'command_failed', command: {index: 1, id: 'bad'}},
	},
	{
		title: 'a failed last command leaves no stop',
		commands: [shell('ok', 'exit 0'), shell('bad', 'exit 1')],
		executed: ['ok', 'bad'],
		stop: null,
	},
	{
		title: 'without fail_fast a plain exit-code mismatch goes on',
		commands: [shell('bad', 'exit 1'), shell('ok', 'exit 0')],
		change: {plan: {fail_fast: false}},
		executed: ['bad', 'ok'],
		stop: null,
	},
	{
		title: 'without fail_fast a death by signal still ends the plan',
		commands: [shell('killed', 'kill -9 $$'), shell('never', 'exit 0')],
		change: {plan: {fail_fast: false}},
		executed: ['killed'],
		stop: {reason: 'command_failed', command: {index: 0, id: 'killed'}},
	},
	{
		title: 'without fail_fast a timeout still ends the plan',
		commands: [shell('slow', 'sleep 60', {timeout_seconds: 0.2}), shell('never', 'exit 0')],
		change: {plan: {fail_fast: false}},
		executed: ['slow'],
		stop: {reason: 'command_failed', command: {index: 0, id: 'slow'}},
	},
	{
		title: 'a cwd that is not there is a failed start with its errno, not a status',
		commands: [shell('ok', 'exit 0'), shell('lost', 'exit 0', {cwd: 'no/such'})],
		executed: ['ok'],
		stop: {reason: 'start_failed', command: {index: 1, id: 'lost'}, errno: 'ENOENT', stage: 'chdir'},
	},
	{
		title: 'a produced program that was not produced is a failed start at its own turn',
		commands: [shell('ok', 'exit 0'), {id: 'made', argv: ['./made'], produced: true}],
		executed: ['ok'],
		stop: {reason: 'start_failed', command: {index: 1, id: 'made'}, errno: 'ENOENT', stage: 'resolve'},
	},
	{
		title: 'a program without an interpreter says so',
		commands: [{id: 'script', argv: ['./script']}],
		executed: [],
		stop: {reason: 'start_failed', command: {index: 0, id: 'script'}, errno: 'ENOENT', stage: 'interpreter'},
	},
	{
		title: 'a change of a tracked file is drift',
		commands: [shell('edit', 'echo changed > a.txt'), shell('never', 'exit 0')],
		executed: ['edit'],
		stop: {reason: 'source_drift', command: {index: 0, id: 'edit'}},
	},
	{
		title: 'a secret in the output ends the plan even if the command passed',
		commands: [shell('leak', 'printf open; printf sesame'), shell('never', 'exit 0')],
		change: {known: ['opensesame']},
		executed: ['leak'],
		stop: {reason: 'secret_detected', command: {index: 0, id: 'leak'}},
	},
];

for (const {title, commands, change, executed, stop} of stopCases) {
	test(`stop: ${title}`, async t => {
		const ground = layGround(temporaryDirectory(t), {'a.txt': 'a\n', script: '#!/no/such/interpreter\n'});
		const {manifest, answer} = await runCommands(ground, commands, change);
		t.is(manifest.result, 'failed');
		t.deepEqual(
			manifest.commands.map(command => command.id),
			[...executed],
		);
		t.like(manifest.stop ?? {reason: null}, stop ?? {reason: null});
		t.deepEqual(validity(answer), manifest.stop?.reason === 'source_drift' ? ['invalid', ['EVIDENCE_SOURCE_BYTES']] : ['valid-v3', []]);
	});
}

test('a produced program is found and digested at its own start', async t => {
	const ground = layGround(temporaryDirectory(t), {'.gitignore': 'made\n'});
	const {manifest} = await runCommands(ground, [
		shell('make', 'printf "#!/bin/sh\\necho made\\n" > made; chmod +x made'),
		{id: 'made', argv: ['./made'], produced: true},
	]);
	t.is(manifest.result, 'passed');
	t.is(manifest.commands[1]?.executable.path, 'made');
	t.regex(manifest.commands[1]?.executable.sha256 ?? '', /^[0-9a-f]{64}$/);
});

const refusals: ReadonlyArray<{readonly title: string; readonly code: ErrorCode; readonly commands: readonly TestCommand[]; readonly change?: RunChange}> = [
	{
		title: 'a sandbox that would let commands write everywhere',
		code: 'RUN_SANDBOX_PATH',
		commands: [shell('a', 'exit 0')],
		change: {plan: {sandbox: {mode: 'required', filesystem: {write: ['/']}}}},
	},
	{title: 'a missing program refuses the whole plan', code: 'RUN_EXECUTABLE_MISSING', commands: [shell('a', 'exit 0'), {id: 'b', argv: ['no-such-program']}]},
	{title: 'a sensitive value in argv refuses the run', code: 'RUN_SECRET_IN_PLAN', commands: [shell('a', 'echo opensesame')], change: {known: ['opensesame']}},
	{
		title: 'another commit than that of the checkout is refused',
		code: 'RUN_SOURCE_MISMATCH',
		commands: [shell('a', 'exit 0')],
		change: {plan: {source_sha: '1'.repeat(40)}},
	},
	{title: 'a run id that is no run id is refused', code: 'CORE_ID_RUN', commands: [shell('a', 'exit 0')], change: {runId: '../x'}},
	{
		title: 'a sensitive value in the run id is refused',
		code: 'RUN_SECRET_IN_PLAN',
		commands: [shell('a', 'exit 0')],
		change: {runId: 'opensesame', known: ['opensesame']},
	},
	{title: 'a limit that nothing here binds is refused', code: 'RUN_SANDBOX_LIMIT', commands: [shell('a', 'exit 0', {limits: {tmp_bytes: 1_000_000}})]},
];

for (const {title, code, commands, change} of refusals) {
	test(`refused before anything runs: ${title}`, async t => {
		const ground = layGround(temporaryDirectory(t));
		const error = await refusalLater(async () => runCommands(ground, commands, change));
		t.is(error?.code ?? null, code);
		t.deepEqual(publishedNames(ground.root), []);
	});
}

test('an untracked file refuses the run and is named', async t => {
	const ground = layGround(temporaryDirectory(t));
	writeFileSync(path.join(ground.repository.path, 'stray.txt'), 'x');
	const error = await refusalLater(async () => runCommands(ground, [shell('a', 'exit 0')]));
	t.is(error?.code, 'RUN_CHECKOUT_DIRTY');
	t.regex(error?.message ?? '', /stray\.txt/);
});

test('a run id is used once, also after a failed run', async t => {
	const ground = layGround(temporaryDirectory(t));
	await runCommands(ground, [shell('a', 'exit 1')], {runId: 'once'});
	const error = await refusalLater(async () => runCommands(ground, [shell('a', 'exit 0')], {runId: 'once'}));
	t.is(error?.code, 'EVIDENCE_RUN_EXISTS');
	t.deepEqual(publishedNames(ground.root), ['once']);
});

test('an interrupt ends the running command, publishes what ran before, and names command, signal and termination', async t => {
	const directory = temporaryDirectory(t);
	const ground = layGround(directory);
	const control = createRunControl();
	const mark = path.join(directory, 'running');
	const run = runCommands(ground, [shell('ok', 'exit 0'), shell('long', `touch '${mark}'; sleep 60`), shell('never', 'exit 0')], {control});
	await eventually('the long command to run', () => existsSync(mark));
	control.interrupt('SIGTERM');
	const {manifest, answer} = await run;
	t.deepEqual(
		manifest.commands.map(command => command.id),
		['ok'],
	);
	t.like(manifest.stop, {reason: 'interrupted', command: {index: 1, id: 'long'}, signal: 'SIGTERM'});
	t.like(manifest.stop?.termination, {term_sent: true, direct_child_reaped: true, group_cleanup_completed: true});
	t.deepEqual(validity(answer), ['valid-v3', []]);
});

test('an interrupt before the first command makes a valid, failed run of no command', async t => {
	const ground = layGround(temporaryDirectory(t));
	const control = createRunControl();
	control.interrupt('SIGHUP');
	const {manifest, answer} = await runCommands(ground, [shell('a', 'exit 0')], {control});
	t.deepEqual(manifest.commands, []);
	t.like(manifest.stop, {reason: 'interrupted', command: null, signal: 'SIGHUP', termination: null});
	t.deepEqual(validity(answer), ['valid-v3', []]);
});

const attacks = [
	['a command that kills its supervisor is a failed cleanup', 'kill -9 $PPID; sleep 60', ['cleanup_failed']],
	['a command that stops its supervisor is ended all the same', 'kill -STOP $PPID; sleep 60', ['timeout', 'cleanup_failed']],
] as const;
for (const [title, line, statuses] of attacks) {
	test(title, async t => {
		const ground = layGround(temporaryDirectory(t));
		const {manifest, answer} = await runCommands(ground, [shell('attack', line, {timeout_seconds: 1}), shell('never', 'exit 0')]);
		t.true(statuses.some(status => status === manifest.commands[0]?.execution_status));
		t.false(manifest.commands[0]?.passed);
		t.like(manifest.stop, {reason: 'command_failed', command: {index: 0, id: 'attack'}});
		t.deepEqual(validity(answer), ['valid-v3', []]);
	});
}

test('where the evidence cannot be written nothing is published and the next run notes the attempt', async t => {
	const ground = layGround(temporaryDirectory(t));
	const blocked = await refusalLater(async () =>
		runCommands(ground, [shell('full', `chmod 0500 '${ground.root}'; rm -rf '${verification(ground.root)}'/.staging-*`)], {runId: 'lost'}),
	);
	t.is(blocked?.code, 'EVIDENCE_WRITE_FAILED');
	chmodSync(ground.root, 0o755);
	t.deepEqual(publishedNames(ground.root), []);
	const {answer} = await runCommands(ground, [shell('ok', 'exit 0')]);
	t.deepEqual(answer.attempts, {same_plan_and_source: 1, failed: 0, unfinished: 0});
	t.regex(readFileSync(path.join(verification(ground.root), 'ledger.jsonl'), 'utf8'), /"event":"abandoned".*"run_id":"lost"/);
});

function validity(answer: {readonly verdict: string; readonly problems: ReadonlyArray<{readonly code: string}>}): [string, string[]] {
	return [answer.verdict, answer.problems.map(problem => problem.code)];
}

function verification(root: string): string {
	return path.join(root, 'repositories/acme/widget/worktrees/issue-7/verification');
}

function publishedNames(root: string): string[] {
	return existsSync(verification(root)) ? readdirSync(verification(root)).filter(name => name !== 'ledger.jsonl') : [];
}
