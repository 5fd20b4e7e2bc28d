import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {eventually} from '../helpers/eventually.ts';
import {cliPath, runCli} from '../helpers/run-cli.ts';
import {RunGround} from '../helpers/run-ground.ts';
import {markedProcesses} from '../helpers/supervised.ts';

// SIGKILL of bailiff at a random moment of a run, again and again below one root (E-PUB-3, R-MECH-4, E-LED-1).
const rounds = Number(process.env['BAILIFF_SOAK_ROUNDS'] ?? 200);

/** Says at what moments a run was killed, so that a green result tells what it covered. */
const seen = {noRun: 0, wholeRun: 0, ended: 0};

test.serial(`${rounds} runs killed at random moments leave nobody and no half run`, async t => {
	t.timeout(30 * 60_000);
	const ground = await RunGround.make(t, {
		'stubborn.sh': "trap '' TERM\nsetsid sleep 300 &\n(trap '' TERM; sleep 300) &\necho started\nsleep 0.2\nkill -9 %1 %2 2>/dev/null\nexit 0\n",
	});
	const planFor = (mark: string): string =>
		ground.plan([
			{id: 'quick', argv: ['true'], env: {BAILIFF_TEST_MARK: mark}},
			{id: 'stubborn', argv: ['bash', 'stubborn.sh'], env: {BAILIFF_TEST_MARK: mark}, timeout_seconds: 1},
			{id: 'last', argv: ['sh', '-c', 'echo done'], env: {BAILIFF_TEST_MARK: mark}},
		]);
	const startedAt = performance.now();
	await ground.run(planFor('whole'), '--run-id', 'whole');
	const wholeMs = performance.now() - startedAt;

	for (let round = 0; round < rounds; round++) {
		const runId = `round-${round}`;
		const mark = `soak-${process.pid}-${round}`;
		const killAfterMs = Math.random() * wholeMs * 1.1;
		const child = spawn(process.execPath, [cliPath, ...ground.runArguments(planFor(mark), '--run-id', runId)], {
			env: {PATH: process.env['PATH']},
			stdio: 'ignore',
		});
		const closed = once(child, 'close');
		await Promise.race([sleep(killAfterMs), closed]);
		child.kill('SIGKILL');
		const [, signal] = await closed;
		const when = `round ${round}, killed after ${killAfterMs.toFixed(0)} of ${wholeMs.toFixed(0)} ms`;
		await eventually(`nobody of ${when} alive`, () => markedProcesses(mark).length === 0);

		const list = (await runCli(['evidence', 'list', '--root', ground.root, '--target', 'acme/widget#7', '--json'])).json();
		const listed = (list['runs'] as Array<{run_id: string; state: string}>).find(({run_id}) => run_id === runId);
		if (existsSync(ground.runDirectory(runId))) {
			const validated = await ground.validate(runId, '--json');
			t.is(validated.json()['verdict'], 'valid-v3', `${when}: ${validated.stdout}`);
			t.true(['published', 'unrecorded'].includes(listed?.state ?? 'not listed'), `${when}: ${listed?.state}`);
			seen[signal === null ? 'ended' : 'wholeRun']++;
		} else {
			t.true([undefined, 'unfinished'].includes(listed?.state), `${when}: ${listed?.state}`);
			t.not(signal, null, when);
			seen.noRun++;
		}
	}

	const after = await ground.run(ground.plan([{id: 'after', argv: ['true']}]), '--run-id', 'after');
	t.is(after.exitCode, 0, after.stderr);
	t.is((await ground.validate('after', '--json')).json()['verdict'], 'valid-v3');
	t.log(JSON.stringify(seen));
	t.true(seen.noRun > rounds / 4, 'too few runs were killed in time');
});
