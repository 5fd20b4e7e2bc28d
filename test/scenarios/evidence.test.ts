import {cpSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {example, RunCopy} from '../helpers/example-run.ts';
import {runCli} from '../helpers/run-cli.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

/** A root that holds the frozen run. */
async function rootWithRun(t: ExecutionContext): Promise<{readonly flags: readonly string[]; readonly verification: string}> {
	const root = path.join(temporaryDirectory(t), 'root');
	await runCli(['init', '--root', root]);
	const verification = path.join(root, 'repositories/acme/widget/worktrees/issue-7/verification');
	mkdirSync(verification, {recursive: true, mode: 0o700});
	const copy = new RunCopy();
	t.teardown(() => copy.remove());
	cpSync(copy.verification, verification, {recursive: true});
	return {flags: ['--root', root, '--target', 'acme/widget#7'], verification};
}

test('evidence list names each run with its outcome; --incomplete what killed runs left', async t => {
	const {flags, verification} = await rootWithRun(t);
	const plain = await runCli(['evidence', 'list', ...flags]);
	t.is(plain.exitCode, 0, plain.stdout);
	t.regex(plain.stdout, new RegExp(`^failed  .*${example.sha.slice(0, 12)}.*${example.runId}\n$`));
	mkdirSync(path.join(verification, '.staging-r2.0123456789abcdef'), {mode: 0o700});
	t.regex((await runCli(['evidence', 'list', ...flags])).stdout, /1 left by killed runs: --incomplete shows them/);
	const incomplete = await runCli(['evidence', 'list', '--incomplete', '--json', ...flags]);
	t.like(incomplete.json(), {runs: [], leftovers: ['.staging-r2.0123456789abcdef']});
});

test('evidence list of an issue without runs is a no that says so', async t => {
	const {flags} = await rootWithRun(t);
	const {exitCode, stdout} = await runCli(['evidence', 'list', ...flags.slice(0, 2), '--target', 'acme/widget#8']);
	t.is(exitCode, 1);
	t.regex(stdout, /^no runs\n {2}EVIDENCE_DIRECTORY_MISSING/);
});

test('evidence show tells a run, and gives the stored bytes of an output unchanged', async t => {
	const {flags, verification} = await rootWithRun(t);
	const show = ['evidence', 'show', ...flags, '--run', example.runId];
	const plain = await runCli(show);
	t.is(plain.exitCode, 0, plain.stderr);
	t.regex(plain.stdout, new RegExp(`^failed: run ${example.runId} of acme/widget#7 on ${example.sha}\n`));
	t.true(plain.stdout.includes(`evidence ${verification}/${example.runId}\n`));
	const json = (await runCli([...show, '--json'])).json();
	t.like(json, {run_id: example.runId, result: 'failed', problems: []});
	const [command] = json['commands'] as Array<{id: string}>;
	const output = await runCli([...show, '--output', command?.id ?? '']);
	t.is(output.exitCode, 0);
	const encoded = (await runCli([...show, '--output', command?.id ?? '', '--json'])).json();
	t.is(Buffer.from(String(encoded['base64']), 'base64').toString(), output.stdout);
});

test('a run or an output that is not there is refused with 3', async t => {
	const {flags} = await rootWithRun(t);
	for (const args of [
		['--run', 'r9'],
		['--run', '../r9'],
		['--run', example.runId, '--output', 'nothing'],
	]) {
		const {exitCode, stderr} = await runCli(['evidence', 'show', ...flags, ...args]);
		t.is(exitCode, 3);
		t.regex(stderr, /^bailiff: EVIDENCE_RUN_NOT_FOUND: /);
	}
});

test('an output that was changed is not shown', async t => {
	const {flags, verification} = await rootWithRun(t);
	const show = ['evidence', 'show', ...flags, '--run', example.runId];
	const [command] = (await runCli([...show, '--json'])).json()['commands'] as Array<{id: string}>;
	writeFileSync(path.join(verification, example.runId, 'output/000.log'), 'other');
	t.not((await runCli([...show, '--output', command?.id ?? ''])).exitCode, 0);
});

test('evidence list filters by result, commit and time, and lists many issues where none is named', async t => {
	const {flags} = await rootWithRun(t);
	const list = async (...args: string[]): Promise<unknown> => (await runCli(['evidence', 'list', ...flags, ...args, '--json'])).json()['runs'];
	const found = [{target: {owner: 'acme', repository: 'widget', issue: 7}, run_id: example.runId, result: 'failed'}];
	for (const args of [
		['--result', 'failed'],
		['--commit', example.sha],
		['--since', '2026-08-01'],
		['--since', '2026-08-01T12:00:00Z'],
	]) {
		t.like(await list(...args), found, args.join(' '));
	}

	for (const args of [
		['--result', 'passed'],
		['--commit', '0'.repeat(40)],
		['--since', '2026-08-01T12:00:00.001Z'],
	]) {
		t.deepEqual(await list(...args), [], args.join(' '));
	}

	const root = flags.slice(0, 2);
	for (const args of [[], ['--owner', 'acme'], ['--owner', 'acme', '--repository', 'widget']]) {
		const many = await runCli(['evidence', 'list', ...root, ...args]);
		t.is(many.exitCode, 0, many.stderr);
		t.regex(many.stdout, new RegExp(`${example.runId} {2}acme/widget#7\n$`));
	}

	t.is((await runCli(['evidence', 'list', ...root, '--owner', 'nobody'])).stdout, 'no runs\n');
	for (const args of [
		['--since', 'yesterday'],
		['--since', '2026-13-01'],
		['--commit', 'abc'],
		['--repository', 'widget'],
		['--result', 'green'],
	]) {
		t.is((await runCli(['evidence', 'list', ...(args[0] === '--repository' ? root : flags), ...args])).exitCode, 2, args.join(' '));
	}
});
