import {execFileSync, spawnSync} from 'node:child_process';
import test from 'ava';
import {cliPath} from '../helpers/run-cli.ts';
import {RunGround} from '../helpers/run-ground.ts';

/** What a terminal of 80 columns receives of a call, both streams; the exit code is that of the call. */
function onTerminal(args: readonly string[], env: Readonly<Record<string, string>>): {readonly shown: string; readonly exitCode: number | null} {
	const line = [process.execPath, cliPath, ...args].map(word => `'${word}'`).join(' ');
	const {stdout, status} = spawnSync('script', ['-qefc', `stty cols 80; ${line}`, '/dev/null'], {
		env: {PATH: process.env['PATH'], TERM: 'xterm', ...env},
		input: '',
		encoding: 'utf8',
	});
	return {shown: stdout, exitCode: status};
}

function hasScript(): boolean {
	try {
		execFileSync('script', ['-qefc', 'true', '/dev/null'], {stdio: 'ignore'});
		return true;
	} catch {
		return false;
	}
}

// A terminal comes from script(1).
if (hasScript()) {
	test('on a terminal the running command is redrawn in one line, in colour unless NO_COLOR', async t => {
		const ground = await RunGround.make(t);
		const plan = ground.plan([{id: 'short', argv: ['sleep', '0.5']}]);
		const {shown, exitCode} = onTerminal(ground.runArguments(plan), {});
		t.is(exitCode, 0, shown);
		t.true(shown.split('\r\u001b[2K[1/1] short  ').length > 3, shown);
		t.regex(shown, / of 60 s/);
		t.regex(shown, /short: \u001b\[32mpassed\u001b\[39m/);
		t.regex(onTerminal(ground.runArguments(plan), {NO_COLOR: '1'}).shown, /short: passed/);
	});

	test('a terminal that cannot redraw gets plain lines', async t => {
		const ground = await RunGround.make(t);
		const {shown} = onTerminal(ground.runArguments(ground.plan([{id: 'short', argv: ['true']}])), {TERM: 'dumb'});
		t.false(shown.includes('\u001b'), shown);
		t.regex(shown, /short: started, deadline 60 s/);
	});

	test('run --json on a terminal is one object and nothing else', async t => {
		const ground = await RunGround.make(t);
		const {shown} = onTerminal(ground.runArguments(ground.plan([{id: 'short', argv: ['true']}]), '--json'), {});
		t.regex(shown, /^\{[^\n]*\}\r\n$/);
	});

	test('a stored output is escaped on a terminal and whole in a pipe', async t => {
		const ground = await RunGround.make(t);
		await ground.run(ground.plan([{id: 'hostile', argv: ['printf', String.raw`\033]0;title\007x`]}]), '--run-id', 'r1');
		const show = ['evidence', 'show', '--root', ground.root, '--target', 'acme/widget#7', '--run', 'r1', '--output', 'hostile'];
		t.is(onTerminal(show, {}).shown, '\\x1b]0;title\\x07x\r\n');
		t.is(execFileSync(process.execPath, [cliPath, ...show], {encoding: 'utf8'}), '\u001b]0;title\u0007x');
	});
}
