import {type ChildProcessByStdio, spawn} from 'node:child_process';
import {once} from 'node:events';
import type {Readable} from 'node:stream';
import test from 'ava';
import {cliPath} from '../helpers/run-cli.ts';
import {RunGround} from '../helpers/run-ground.ts';

type Running = {
	readonly child: ChildProcessByStdio<null, Readable, Readable>;
	readonly stdout: () => string;
	readonly stderr: () => string;
	readonly saw: (pattern: RegExp) => Promise<void>;
};

/** Starts the built command line and lets a test wait for what it says on stderr. */
function start(args: readonly string[]): Running {
	const child = spawn(process.execPath, [cliPath, ...args], {env: {PATH: process.env['PATH']}, stdio: ['ignore', 'pipe', 'pipe']});
	const texts = {stdout: '', stderr: ''};
	child.stdout.on('data', chunk => {
		texts.stdout += String(chunk);
	});
	child.stderr.on('data', chunk => {
		texts.stderr += String(chunk);
	});
	return {
		child,
		stdout: () => texts.stdout,
		stderr: () => texts.stderr,
		async saw(pattern) {
			while (!pattern.test(texts.stderr)) {
				await once(child.stderr, 'data');
			}
		},
	};
}

for (const [signal, expected] of [
	['SIGINT', 130],
	['SIGTERM', 143],
	['SIGHUP', 129],
] as const) {
	test(`${signal} ends the command in order, what ran before is published as failed, exit ${expected}`, async t => {
		const ground = await RunGround.make(t);
		const plan = ground.plan([
			{id: 'first', argv: ['true']},
			{id: 'long', argv: ['sleep', '60']},
		]);
		const running = start(ground.runArguments(plan, '--run-id', 'r1'));
		const closed = once(running.child, 'close');
		await running.saw(/long: started/);
		running.child.kill(signal);
		const [exitCode] = await closed;
		t.is(exitCode, expected, running.stderr());
		t.regex(running.stderr(), new RegExp(`bailiff: ${signal}: ending the run in order`));
		t.regex(running.stdout(), new RegExp(`^failed: run r1, 1 of 1 executed commands passed\nstopped: interrupted at long \\(${signal}\\)\n`));
		const validated = await ground.validate('r1', '--json');
		t.like(validated.json(), {verdict: 'valid-v3', result: 'failed'});
	});
}

test('a second SIGINT kills a command that ignores the first', async t => {
	const ground = await RunGround.make(t, {'deaf.sh': "trap '' TERM INT\necho deaf\nwhile :; do sleep 1; done\n"});
	const running = start(ground.runArguments(ground.plan([{id: 'deaf', argv: ['sh', 'deaf.sh']}]), '--run-id', 'r1'));
	const closed = once(running.child, 'close');
	await running.saw(/deaf: started/);
	running.child.kill('SIGINT');
	running.child.kill('SIGINT');
	t.is((await closed)[0], 130, running.stderr());
});

test('SIGTSTP does not stop a run', async t => {
	const ground = await RunGround.make(t);
	const running = start(ground.runArguments(ground.plan([{id: 'short', argv: ['sleep', '1']}]), '--run-id', 'r1'));
	const closed = once(running.child, 'close');
	await running.saw(/short: started/);
	running.child.kill('SIGTSTP');
	running.child.kill('SIGTSTP');
	t.is((await closed)[0], 0, running.stderr());
	t.is(running.stderr().match(/SIGTSTP is ignored/g)?.length, 1);
});

test('two runs of one issue: the second refuses at once, or waits as long as it was told', async t => {
	const ground = await RunGround.make(t);
	const first = start(ground.runArguments(ground.plan([{id: 'long', argv: ['sleep', '60']}]), '--run-id', 'r1'));
	const firstClosed = once(first.child, 'close');
	await first.saw(/long: started/);
	const plan = ground.plan([{id: 'quick', argv: ['true']}]);
	const refused = await ground.run(plan, '--run-id', 'r2');
	t.is(refused.exitCode, 3);
	t.regex(refused.stderr, /^bailiff: CACHE_LOCK_BUSY: .*issue-7\.lock/);
	const waiting = start(ground.runArguments(plan, '--run-id', 'r3', '--lock-timeout', '60'));
	const waitingClosed = once(waiting.child, 'close');
	await waiting.saw(/waiting up to 60 s for the issue lock .*issue-7\.lock/);
	first.child.kill('SIGTERM');
	t.is((await firstClosed)[0], 143);
	t.is((await waitingClosed)[0], 0, waiting.stderr());
});

test('a signal while waiting for the lock runs nothing and ends by the signal', async t => {
	const ground = await RunGround.make(t);
	const first = start(ground.runArguments(ground.plan([{id: 'long', argv: ['sleep', '60']}]), '--run-id', 'r1'));
	const firstClosed = once(first.child, 'close');
	await first.saw(/long: started/);
	const waiting = start(ground.runArguments(ground.plan([{id: 'quick', argv: ['true']}]), '--run-id', 'r2', '--lock-timeout', '60'));
	const waitingClosed = once(waiting.child, 'close');
	await waiting.saw(/waiting up to/);
	waiting.child.kill('SIGTERM');
	t.is((await waitingClosed)[0], 143, waiting.stderr());
	t.regex(waiting.stderr(), /CLI_INTERRUPTED: SIGTERM arrived before the run began: nothing was run/);
	first.child.kill('SIGINT');
	t.is((await firstClosed)[0], 130);
});
