import {existsSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {type ExecRequest, execInWorktree, resumeWorktree} from '../../cache/index.ts';
import {isHeld} from '../../cache/staging.ts';
import {gitAsWorker, isRefused, type WorktreeGround, workedGround} from '../helpers/worktree-ground.ts';

function exec({request, profile}: WorktreeGround, script: string, more: Partial<ExecRequest> = {}): ReturnType<typeof execInWorktree> {
	const {openAuthority: _unasked, ...rest} = request;
	return execInWorktree({...rest, profile, argv: ['sh', '-c', script], environment: {PATH: '/usr/bin:/bin'}, stdout: 'stderr', ...more});
}

test('C-DEL-1, C-WT-4: what the worktree held before and after is recorded, the exit code is data, and the authority has what it had', async t => {
	const ground = await workedGround(t);
	const atAuthority = () => gitAsWorker(ground.gitDir, ['for-each-ref']);
	const refs = atAuthority();
	const {end, report, records} = await exec(ground, 'echo b >b.txt && git add b.txt && git commit -qm more && exit 7', {runId: 'w-1'});
	t.deepEqual(end, {exitCode: 7, signal: null, startErrno: null});
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.true(report.complete);
	t.is(records.length, 2);
	const [before, after] = records.map(file => JSON.parse(readFileSync(file, 'utf8')));
	t.is(before.worktree.head_sha, ground.source.sha);
	t.is(after.worktree.head_sha, ground.work('rev-parse', 'HEAD').trim());
	t.is(after.worktree.commits_after_base, 1);
	t.deepEqual(readdirSync(ground.paths.runtime), ['w-1']);
	t.is(atAuthority(), refs);
	t.is(ground.work('log', '-1', '--format=%an <%ae> %cn').trim(), 'impl-agent <impl-agent@localhost> impl-agent');
});

test('C-HARD-2, C-CRED-2: the command gets HUSKY=0, no git variable and no credential of ours', async t => {
	const ground = await workedGround(t);
	const seen = path.join(ground.base, 'seen');
	const environment = {PATH: '/usr/bin:/bin', KEEP: 'kept', GIT_DIR: '/elsewhere', GIT_INDEX_FILE: '/elsewhere', GITEA_TOKEN: 'secret', GH_TOKEN: 'secret'};
	const {end} = await exec(ground, `env >${seen}; pwd >>${seen}`, {environment});
	t.is(end?.exitCode, 0);
	const text = readFileSync(seen, 'utf8');
	t.regex(text, /^HUSKY=0$/m);
	t.regex(text, /^KEEP=kept$/m);
	t.notRegex(text, /GIT_DIR|GIT_INDEX_FILE|TOKEN|secret/);
	t.true(text.trimEnd().endsWith(ground.paths.checkout));
});

test('C-LOCK-4, C-HARD-5: the issue lock is held for as long as the command runs, by the command too, and free afterwards', async t => {
	const ground = await workedGround(t);
	const {paths} = ground;
	const go = path.join(ground.base, 'go');
	const running = exec(ground, `touch ${go}.started; readlink /proc/self/fd/3 >${go}.fd; while ! [ -e ${go} ]; do sleep 0.05; done`, {
		onStarted() {
			// What follows must not depend on it.
		},
	});
	while (!existsSync(`${go}.fd`)) {
		await new Promise(resolve => {
			setTimeout(resolve, 10);
		});
	}

	isRefused(t, await resumeWorktree(ground.request), 'CACHE_LOCK_BUSY');
	t.true(isHeld(paths.issueLock));
	t.false(isHeld(paths.repositoryLock), 'other issues go on');
	writeFileSync(go, '');
	await running;
	t.is(readFileSync(`${go}.fd`, 'utf8').trim(), paths.issueLock);
	t.is((await resumeWorktree(ground.request)).status, 'ok');
});

test('an unfinished operation can be finished here; what is not whole is refused before anything runs', async t => {
	const ground = await workedGround(t);
	const merge = `${ground.paths.mirror}/worktrees/checkout/MERGE_HEAD`;
	writeFileSync(merge, `${ground.source.sha}\n`);
	const {report} = await exec(ground, 'git merge --abort || git reset -q --merge');
	t.is(report.status, 'ok', JSON.stringify(report.error));
	ground.work('switch', '-qc', 'mine');
	const trap = path.join(ground.base, 'trap');
	const attached = await exec(ground, `touch ${trap}`);
	isRefused(t, attached.report, 'CACHE_WORKTREE_ATTACHED');
	t.is(attached.end, null);
	t.false(existsSync(trap));
});

test('a command that does not start is a refusal, one that dies of a signal says so', async t => {
	const ground = await workedGround(t);
	const missing = await exec(ground, '', {argv: ['no-such-program']});
	isRefused(t, missing.report, 'RUN_EXECUTABLE_MISSING');
	const killed = await exec(ground, 'kill -KILL $$');
	t.deepEqual(killed.end, {exitCode: null, signal: 'SIGKILL', startErrno: null});
	let stop: ((name: NodeJS.Signals) => void) | null = null;
	const asked = exec(ground, 'sleep 60', {
		onStarted: signal => {
			stop = signal;
			signal('SIGTERM');
		},
	});
	t.deepEqual((await asked).end, {exitCode: null, signal: 'SIGTERM', startErrno: null});
	t.not(stop, null);
});

test('C-HARD-2: a command that wrote in the config of the mirror is told so, and nothing of the worktree is claimed that was not read', async t => {
	const ground = await workedGround(t);
	const {report, end} = await exec(ground, 'git config core.hooksPath /elsewhere');
	t.is(end?.exitCode, 0);
	t.deepEqual(
		report.problems.map(({code}) => code),
		['CACHE_FOREIGN_CONFIG'],
	);
	t.like(report, {status: 'ok', complete: false, worktree: {state: null, head_sha: null}});
});
