import {execFileSync, spawnSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {cliPath, runCli} from '../helpers/run-cli.ts';
import {RunGround} from '../helpers/run-ground.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const passing = {id: 'unit', argv: ['sh', '-c', 'echo fine']};

test('neither a working directory that is gone nor an odd umask keeps a run from working', async t => {
	const ground = await RunGround.make(t);
	const plan = ground.plan([{id: 'umask', argv: ['sh', '-c', 'umask']}]);
	const script = 'gone=$(mktemp -d); cd "$gone"; rmdir "$gone"; umask 777; exec "$@"';
	const ran = spawnSync('sh', ['-c', script, 'sh', process.execPath, cliPath, ...ground.runArguments(plan, '--run-id', 'odd')], {encoding: 'utf8'});
	t.is(ran.status, 0, ran.stderr);
	t.like((await ground.validate('odd', '--json')).json(), {verdict: 'valid-v3'});
});

test('a plan runs, its evidence is published, and validate says valid-v3', async t => {
	const ground = await RunGround.make(t);
	const plan = ground.plan([passing, {id: 'red', argv: ['sh', '-c', 'exit 3'], purpose: 'red', expected_exit_code: 3}]);
	const {exitCode, stdout, stderr} = await ground.run(plan, '--run-id', 'r1', '--role', 'tester');
	t.is(exitCode, 0, stderr);
	const directory = ground.runDirectory('r1');
	t.regex(
		stdout,
		new RegExp(
			`^passed: run r1, 2 of 2 executed commands passed\nevidence ${directory}\nmanifest sha256 [0-9a-f]{64}\ncheck it: bailiff validate .* --run r1\n$`,
		),
	);
	t.regex(stderr, /^run r1: 2 commands\n\[1\/2\] unit: started, deadline 60 s\n\[1\/2\] unit: passed, .*\n.*\n.*\nrun r1: evidence published, passed\n$/);
	t.deepEqual(readFileSync(path.join(directory, 'plan.json')), readFileSync(plan));
	const validated = await ground.validate('r1', '--require-passed');
	t.is(validated.exitCode, 0, validated.stdout);
	const copied = /^check it: (.*)$/m.exec(stdout)?.[1] ?? '';
	t.is(execFileSync('sh', ['-c', `bailiff() { '${process.execPath}' '${cliPath}' "$@"; }; ${copied}`], {encoding: 'utf8'}), validated.stdout);
	t.regex(validated.stdout, /^valid-v3: the evidence of run r1 holds; the run passed\n/);
	t.like((await ground.validate('r1', '--json')).json(), {
		verdict: 'valid-v3',
		result: 'passed',
		attempts: {same_plan_and_source: 1, failed: 0, unfinished: 0},
		problems: [],
	});
});

test('run --json is one object of the shape RunAnswer, and nothing on stderr', async t => {
	const ground = await RunGround.make(t);
	const result = await ground.run(ground.plan([passing]), '--json');
	t.is(result.exitCode, 0);
	t.is(result.stderr, '');
	const answer = result.json();
	t.deepEqual(Object.keys(answer).toSorted(), ['artifact_root', 'commands', 'manifest', 'manifest_sha256', 'result', 'run_id', 'stop']);
	t.like(answer, {manifest: 'manifest.json', result: 'passed', stop: null, commands: [{id: 'unit', execution_status: 'completed', passed: true}]});
	t.is(path.join(ground.root, String(answer['artifact_root'])), ground.runDirectory(String(answer['run_id'])));
});

test('a failed run ends with 1 and shows the last 20 lines of what failed, made harmless, and where the rest lies', async t => {
	const ground = await RunGround.make(t);
	const script = `for i in $(seq 30); do echo "line $i"; done; printf '\\033[2Jgone\\n'; exit 5`;
	const plan = ground.plan([passing, {id: 'broken', argv: ['sh', '-c', script]}, {id: 'later', argv: ['true']}]);
	const {exitCode, stdout, stderr} = await ground.run(plan, '--run-id', 'r1');
	t.is(exitCode, 1);
	t.regex(stdout, /^failed: run r1, 1 of 2 executed commands passed\nstopped: command_failed at broken\n/);
	t.false(`${stdout}${stderr}`.includes('\u001b'));
	t.true(stderr.includes(`the end of what broken wrote, whole in ${ground.runDirectory('r1')}/output/001.log:\n  | line 12\n`), stderr);
	t.true(stderr.endsWith('  | line 30\n  | \\x1b[2Jgone\n'), stderr);
	const validated = await ground.validate('r1');
	t.is(validated.exitCode, 0, validated.stdout);
	t.is((await ground.validate('r1', '--require-passed')).exitCode, 1);
});

test('of split streams both ends are shown', async t => {
	const ground = await RunGround.make(t);
	const {stderr} = await ground.run(ground.plan([{id: 'two', argv: ['sh', '-c', 'echo out; echo err >&2; exit 1'], streams: 'split'}]));
	t.regex(stderr, /000\.log:\n {2}\| out\n.*000\.err:\n {2}\| err\n/);
});

test('a deadline that is missed is a failed run whose evidence holds', async t => {
	const ground = await RunGround.make(t);
	const {exitCode, stderr} = await ground.run(ground.plan([{id: 'slow', argv: ['sleep', '60'], timeout_seconds: 0.2}]), '--run-id', 'r1');
	t.is(exitCode, 1);
	t.regex(stderr, /\[1\/1\] slow: failed \(timeout\)/);
	t.like((await ground.validate('r1', '--json')).json(), {verdict: 'valid-v3', result: 'failed'});
});

test('a sensitive value in an output is stored redacted, shown nowhere, and fails the run', async t => {
	const ground = await RunGround.make(t, {'secret.sh': 'printf "corr"; printf "ect horse\\n"\n'});
	const sensitive = path.join(ground.directory, 'sensitive');
	writeFileSync(sensitive, 'correct horse\n', {mode: 0o600});
	const plan = ground.plan([{id: 'leak', argv: ['sh', 'secret.sh']}]);
	const {exitCode, stdout, stderr} = await ground.run(plan, '--run-id', 'r1', '--sensitive-file', sensitive);
	t.is(exitCode, 1);
	t.regex(stdout, /stopped: secret_detected at leak/);
	t.regex(stderr, /\| \[REDACTED\]/);
	t.false(`${stdout}${stderr}`.includes('horse'));
});

for (const [title, prepare, more, code, exitCode] of [
	['a checkout with an untracked file', (ground: RunGround) => writeFileSync(path.join(ground.repository.path, 'new'), ''), [], 'RUN_CHECKOUT_DIRTY', 3],
	[
		'another commit than the plan names',
		(ground: RunGround) => ground.repository.git('commit', '-q', '--allow-empty', '-m', 'second'),
		[],
		'RUN_SOURCE_MISMATCH',
		3,
	],
	['an unsafe run id', () => {}, ['--run-id', '../r1'], 'CORE_ID_RUN', 2],
	['a role with a blank', () => {}, ['--role', 'the tester'], 'CLI_USAGE', 2],
	['a lock timeout that is no number', () => {}, ['--lock-timeout', 'soon'], 'CLI_USAGE', 2],
	['a sensitive file that is not there', () => {}, ['--sensitive-file', '/nowhere'], 'RUN_SENSITIVE_FILE', 3],
] as const) {
	test(`run with ${title} is refused with ${code} and leaves no run`, async t => {
		const ground = await RunGround.make(t);
		const plan = ground.plan([passing]);
		prepare(ground);
		const plain = await ground.run(plan, ...more);
		t.is(plain.exitCode, exitCode, plain.stderr);
		t.is(plain.stdout, '');
		t.regex(plain.stderr, new RegExp(`^bailiff: ${code}: .{20}`));
		const json = await ground.run(plan, ...more, '--json');
		t.is(json.exitCode, exitCode);
		t.like(json.json(), {error: {code}});
		const list = await runCli(['evidence', 'list', '--root', ground.root, '--target', 'acme/widget#7', '--json']);
		t.deepEqual(list.json()['runs'], []);
	});
}

for (const [title, commands, code] of [
	['a program that is not there', [{id: 'a', argv: ['no-such-program']}], 'RUN_EXECUTABLE_MISSING'],
	['a secret in argv', [{id: 'a', argv: ['echo', 'ghp_0123456789abcdefghijABCDEFGHIJ456789']}], 'RUN_SECRET_IN_PLAN'],
] as const) {
	test(`a plan with ${title} is refused with ${code}`, async t => {
		const ground = await RunGround.make(t);
		const {exitCode, stderr} = await ground.run(ground.plan(commands));
		t.is(exitCode, 3, stderr);
		t.regex(stderr, new RegExp(`^bailiff: ${code}: `));
		t.false(stderr.includes('ghp_'));
	});
}

test('a run id is never used twice', async t => {
	const ground = await RunGround.make(t);
	const plan = ground.plan([passing]);
	t.is((await ground.run(plan, '--run-id', 'r1')).exitCode, 0);
	const again = await ground.run(plan, '--run-id', 'r1');
	t.is(again.exitCode, 3);
	t.regex(again.stderr, /^bailiff: EVIDENCE_RUN_EXISTS: /);
});

test('a plan file that is no plan, a FIFO or missing is refused before anything is made', async t => {
	const ground = await RunGround.make(t);
	const bad = path.join(temporaryDirectory(t), 'plan.json');
	writeFileSync(bad, '{"schema": 1}');
	for (const [file, code] of [
		[bad, 'EVIDENCE_PLAN_INVALID'],
		['/dev/null', 'CORE_FILE_NOT_REGULAR'],
		['/nowhere', 'CORE_FILE_UNREADABLE'],
	] as const) {
		const {exitCode, stderr} = await ground.run(file);
		t.is(exitCode, 3);
		t.regex(stderr, new RegExp(`^bailiff: ${code}: `));
	}
});
