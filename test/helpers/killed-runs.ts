import {spawn} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {existsSync, readdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import type {ExecutionContext} from 'ava';
import {eventually} from './eventually.ts';
import {layGround} from './planned-run.ts';
import {cliPath, runCli} from './run-cli.ts';
import {markedProcesses, markName} from './supervised.ts';

/** Commands that fork, leave their group, ignore TERM, write and wait: whatever could outlive its runner. */
const lines = ['echo started', '(trap "" TERM; sleep 60) & setsid sleep 60 & (setsid sh -c "sleep 60 & sleep 60" &); yes | head -c 300000; sleep 60'];

/**
 * Starts runs and kills bailiff with SIGKILL at a random moment, `rounds` times. After each nobody of the run lives, and no run stands under
 * its id unless it is whole; at the end a run goes through and the ledger says what became of every attempt (R-MECH-4, E-PUB-3, E-LED-1).
 */
export async function killRuns(t: ExecutionContext, directory: string, rounds: number): Promise<void> {
	const ground = layGround(directory);
	const mark = `killed-${randomBytes(6).toString('hex')}`;
	const plan = path.join(directory, 'plan.json');
	writeFileSync(plan, planText(ground.repository.sha, mark));
	const place = ['--root', ground.root, '--repo-root', ground.repository.path];
	let whole = 0;
	for (let round = 0; round < rounds; round++) {
		const child = spawn(process.execPath, [cliPath, 'run', ...place, '--plan', plan, '--run-id', `r${round}`], {stdio: 'ignore'});
		const ended = once(child, 'exit');
		const delayMs = Math.random() * 2000;
		await Promise.race([sleep(delayMs), ended]);
		child.kill('SIGKILL');
		await ended;
		await eventually(`nobody to be left of round ${round}, killed after ${delayMs.toFixed(0)} ms`, () => markedProcesses(mark).length === 0);
		if (existsSync(path.join(verificationOf(ground.root), `r${round}`))) {
			whole++;
			const answer = await runCli(['validate', ...place, '--target', 'acme/widget#7', '--run', `r${round}`, '--json']);
			t.is(answer.json()['verdict'], 'valid-v3', answer.stdout);
		}
	}

	t.log(`${whole} of ${rounds} runs were published before the kill`);
	writeFileSync(plan, planText(ground.repository.sha, mark, ['exit 0']));
	const last = await runCli(['run', ...place, '--plan', plan, '--run-id', 'last', '--json']);
	t.is(last.exitCode, 0, last.stderr);
	const answer = await runCli(['validate', ...place, '--target', 'acme/widget#7', '--run', 'last', '--json']);
	t.is(answer.json()['verdict'], 'valid-v3', answer.stdout);
	t.deepEqual(
		readdirSync(verificationOf(ground.root)).filter(name => !name.startsWith('.staging-') && !/^r\d+$|^last$|^ledger\.jsonl$/.test(name)),
		[],
	);
}

function planText(sha: string, mark: string, commands: readonly string[] = lines): string {
	return JSON.stringify({
		schema: 'verification-plan/v3',
		owner: 'acme',
		repository: 'widget',
		issue: 7,
		source_sha: sha,
		sandbox: {mode: 'off'},
		commands: commands.map((line, index) => ({
			id: `c${index}`,
			argv: ['sh', '-c', line],
			env: {[markName]: mark},
			timeout_seconds: 1,
			max_output_bytes: 1_048_576,
		})),
	});
}

function verificationOf(root: string): string {
	return path.join(root, 'repositories/acme/widget/worktrees/issue-7/verification');
}
