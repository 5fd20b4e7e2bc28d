import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {closeSync, openSync} from 'node:fs';
import test from 'ava';
import {catalogue} from '../../cli/catalogue/index.ts';
import {version} from '../../core/version.ts';
import {cliPath, runCli} from '../helpers/run-cli.ts';

test('--version answers in text and in JSON', async t => {
	t.is((await runCli(['--version'])).stdout, `${version}\n`);
	t.deepEqual((await runCli(['--version', '--json'])).json(), {version});
});

test('--help lists every command and ends with 0; --help --json is one object', async t => {
	const {exitCode, stdout, stderr} = await runCli(['--help']);
	t.is(exitCode, 0);
	t.is(stderr, '');
	for (const {path} of catalogue) {
		t.regex(stdout, new RegExp(`^  ${path.split(' ')[0]}\\b`, 'm'));
	}

	t.regex(String((await runCli(['plan', 'check', '--help', '--json'])).json()['help']), /Usage: bailiff plan check/);
});

for (const argv of [[], ['paln'], ['plan'], ['plan', 'check', '--jsno'], ['completion', 'tcsh']]) {
	test(`wrong use ends with 2, says why on stderr and in JSON on stdout: bailiff ${argv.join(' ')}`, async t => {
		const plain = await runCli(argv);
		t.is(plain.exitCode, 2);
		t.is(plain.stdout, '');
		t.regex(plain.stderr, /^bailiff: CLI_USAGE: .*\n/);
		t.regex(plain.stderr, /bailiff --help/);
		const json = await runCli([...argv, '--json']);
		t.is(json.exitCode, 2);
		t.is(json.stderr, '');
		t.like(json.json(), {error: {code: 'CLI_USAGE'}});
	});
}

test('a reader that closes stdout early is no error', async t => {
	const child = spawn('sh', ['-c', `"$0" "$1" completion fish; echo $? >&2`, process.execPath, cliPath], {stdio: ['ignore', 'pipe', 'pipe']});
	child.stdout.destroy();
	let stderr = '';
	for await (const chunk of child.stderr) {
		stderr += String(chunk);
	}

	t.is(stderr, '0\n');
});

test('an answer that cannot be written ends with 4 and says so', async t => {
	const full = openSync('/dev/full', 'w');
	const child = spawn(process.execPath, [cliPath, '--version'], {stdio: ['ignore', full, 'pipe']});
	const ended = once(child, 'close');
	let stderr = '';
	for await (const chunk of child.stderr ?? []) {
		stderr += String(chunk);
	}

	t.regex(stderr, /CLI_OUTPUT_FAILED: .*ENOSPC.*make room/);
	t.is((await ended)[0], 4);
	closeSync(full);
});

test('a crash outside of any command ends with 70, never with the 1 of a plain no', async t => {
	const planted = 'setInterval(() => {if (process.listenerCount("uncaughtExceptionMonitor") > 0) throw new Error("planted")}, 1)';
	const env = {NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(planted)}`};
	const argv = ['plan', 'check', 'test/vectors/plans/good-minimal.json'];
	const plain = await runCli(argv, {env});
	t.is(plain.exitCode, 70);
	t.is(plain.stdout, '');
	t.regex(plain.stderr, /Error: planted\n {4}at /);
	const json = await runCli([...argv, '--json'], {env});
	t.is(json.exitCode, 70);
	t.like(json.json(), {error: {code: 'BUG'}});
});
