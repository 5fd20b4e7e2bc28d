import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {type CliResult, runCli} from '../helpers/run-cli.ts';
import {type WorktreeGround, workedGround, worktreeGround} from '../helpers/worktree-ground.ts';

const eight = Array.from({length: 8}, (_, index) => index);

function worktree(ground: WorktreeGround, verb: string, ...more: string[]): Promise<CliResult> {
	return runCli(['worktree', verb, '--root', ground.root, '--target', 'acme/widget#7', ...more]);
}

function asRole(ground: WorktreeGround, verb: string, ...more: string[]): Promise<CliResult> {
	return worktree(ground, verb, '--profile', ground.profile.directory, ...more);
}

function planFile(ground: WorktreeGround, issue = 7): string {
	const file = path.join(ground.base, `plan-${issue}.json`);
	const commands = [{id: 'show', argv: ['cat', 'a.txt'], timeout_seconds: 60, max_output_bytes: 4096}];
	const plan = {schema: 'verification-plan/v3', owner: 'acme', repository: 'widget', issue, source_sha: ground.source.sha, sandbox: {mode: 'off'}, commands};
	writeFileSync(file, JSON.stringify(plan));
	return file;
}

test('from an approved issue to a delivered commit, and the place is free again', async t => {
	const ground = await worktreeGround(t);
	const {paths} = ground;
	const made = await asRole(ground, 'create', '--json');
	t.is(made.exitCode, 0, made.stdout);
	t.is(made.stderr, '');
	t.like(made.json(), {command: 'worktree create', status: 'ok', complete: true, worktree: {state: 'ready', reused: false}});
	t.is((await worktree(ground, 'path')).stdout, `${paths.checkout}\n`);
	const listed = await runCli(['worktree', 'list', '--root', ground.root, '--target', 'acme/widget']);
	t.is(listed.stdout, 'issue 7: registered, with state file\n');

	const run = await runCli(['run', '--root', ground.root, '--profile', ground.profile.directory, '--plan', planFile(ground), '--run-id', 'r1']);
	t.is(run.exitCode, 0, run.stderr);
	const manifest = JSON.parse(readFileSync(`${paths.verification}/r1/manifest.json`, 'utf8'));
	t.is(manifest.source.checkout, 'canonical');
	t.is(manifest.producer.role, 'impl-agent', 'the role is that of the profile');
	const valid = await runCli(['validate', '--root', ground.root, '--target', 'acme/widget#7', '--run', 'r1', '--require-passed', '--json']);
	t.like(valid.json(), {verdict: 'valid-v3', result: 'passed'});

	const worked = await asRole(ground, 'exec', '--', 'sh', '-c', 'echo more >>a.txt && git commit -qam more && echo done; exit 5');
	t.is(worked.exitCode, 5, 'the exit code of the command is passed on');
	t.is(worked.stdout, 'done\n');
	const quiet = await asRole(ground, 'exec', '--json', '--', 'sh', '-c', 'echo chatter; kill -TERM $$');
	t.is(quiet.exitCode, 143);
	t.like(quiet.json(), {command: 'worktree exec', exec: {exit_code: null, signal: 'SIGTERM'}});
	t.regex(quiet.stderr, /chatter/);

	const kept = await asRole(ground, 'remove');
	t.is(kept.exitCode, 3);
	t.regex(kept.stdout, /1 commits after the base, 1 not at the authority/);
	t.regex(kept.stderr, /CACHE_WORKTREE_UNDELIVERED.*--delivered-branch B/s);
	ground.work('push', '-q', `file://${ground.gitDir}`, 'HEAD:refs/heads/issue-7');
	const removed = await asRole(ground, 'remove', '--delivered-branch', 'issue-7', '--json');
	t.is(removed.exitCode, 0, removed.stdout);
	t.like(removed.json(), {worktree: {state: 'removed'}, evidence: {runs: 1, kept: true}, delivery: {branch: 'issue-7', equal: true}});
	t.false(existsSync(paths.checkout));
	t.true(existsSync(`${paths.verification}/r1/manifest.json`));
	t.is((await asRole(ground, 'create')).exitCode, 0);
});

test('eight creations at once on one issue: one makes it, whoever waits learns that it is there, whoever does not learns who holds the lock', async t => {
	const ground = await worktreeGround(t);
	const results = await Promise.all(eight.map(index => asRole(ground, 'create', '--json', ...(index < 4 ? ['--lock-timeout', '60'] : []))));
	const answers = results.map(result => result.json() as {status: string; error: {code: string} | null});
	t.is(answers.filter(({status}) => status === 'ok').length, 1, results.map(({stdout}) => stdout).join('\n'));
	for (const [index, {status, error}] of answers.entries()) {
		if (status !== 'ok') {
			t.is(results[index]?.exitCode, 3);
			t.true(error?.code === 'CACHE_WORKTREE_EXISTS' || (index >= 4 && error?.code === 'CACHE_LOCK_BUSY'), JSON.stringify(error));
		}
	}

	const status = (await worktree(ground, 'status', '--json')).json();
	t.like(status, {worktree: {state: 'ready'}, problems: []});
});

test('eight workflows at once on one issue: each works alone, and nobody is forgotten', async t => {
	const ground = await workedGround(t);
	const script = 'test ! -e .busy && touch .busy && sleep 0.05 && rm .busy && git commit -q --allow-empty -m step';
	const results = await Promise.all(eight.map(() => asRole(ground, 'exec', '--lock-timeout', '120', '--', 'sh', '-c', script)));
	t.deepEqual(
		results.map(({exitCode}) => exitCode),
		eight.map(() => 0),
		results.map(({stderr}) => stderr).join('\n'),
	);
	t.like((await worktree(ground, 'status', '--json')).json(), {worktree: {state: 'ready', commits_after_base: 8}});
});

test('a run by the target alone needs a profile, a worktree, and a mirror that agrees with its authority', async t => {
	const ground = await workedGround(t);
	const plan = planFile(ground);
	const withProfile = ['--profile', ground.profile.directory, '--json'];
	t.is((await runCli(['run', '--root', ground.root, '--plan', plan])).exitCode, 2);
	const absent = await runCli(['run', '--root', ground.root, '--plan', planFile(ground, 8), ...withProfile]);
	t.is(absent.exitCode, 3);
	t.like(absent.json(), {error: {code: 'CACHE_WORKTREE_ABSENT'}});
	t.false(existsSync(path.join(ground.paths.worktrees, 'issue-8')), 'nothing is laid out for it');
	ground.commit('second');
	const behind = await runCli(['run', '--root', ground.root, '--plan', plan, ...withProfile]);
	t.is(behind.exitCode, 3);
	t.like(behind.json(), {error: {code: 'CACHE_DEFAULT_BRANCH_MISMATCH'}});
	t.false(existsSync(`${ground.paths.verification}/ledger.jsonl`));
});

for (const [title, args] of [
	['a base without its source', ['create', '--profile', '/p', '--base', '0'.repeat(40)]],
	['a source that is none', ['create', '--profile', '/p', '--base', '0'.repeat(40), '--base-source', 'me']],
	['both a delivery and a discard', ['remove', '--profile', '/p', '--delivered-branch', 'b', '--discard', '0'.repeat(40)]],
	['a record without a workflow', ['status', '--record', 'before']],
	['exec without a command', ['exec', '--profile', '/p']],
	['renew without a digest', ['renew', '--profile', '/p']],
	['create without a profile', ['create']],
] as const) {
	test(`wrong use: ${title}`, async t => {
		const [verb, ...more] = args;
		const result = await runCli(['worktree', verb, '--root', '/nowhere', '--target', 'acme/widget#7', ...more]);
		t.is(result.exitCode, 2, result.stderr);
	});
}
