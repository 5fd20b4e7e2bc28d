import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import type {ExecutionContext} from 'ava';
import {createWorktree, issuePaths, resumeWorktree, syncMirror, worktreeStatus} from '../../cache/index.ts';
import {isHeld} from '../../cache/staging.ts';
import type {ErrorCode} from '../../core/errors.ts';
import {addLocalApproval, writeLocalIssue} from '../../publish/local/index.ts';
import {eventually} from './eventually.ts';
import {cliPath} from './run-cli.ts';
import {gitAsWorker, type WorktreeGround, worktreeGround} from './worktree-ground.ts';

/** What a killed create or remove may leave, besides "as before" and "complete". Each has a page in docs/recovery.md. */
const namedStates: ReadonlySet<ErrorCode> = new Set(['CACHE_STALE_GIT_LOCK', 'CACHE_WORKTREE_MISMATCH', 'CACHE_WORKTREE_PARTIAL', 'CACHE_WORKTREE_UNLOCKED']);
const files = 1200;

/**
 * Kills bailiff, or a git that it started, at random moments of create and remove. After each: the worktree is as before, complete, or in a named state;
 * another issue's worktree and the evidence of this one are untouched; the locks are free as soon as no git child lives; what a person may do makes the
 * place free again. Source: C-RM-1, C-RM-2, C-RM-4, C-HARD-5.
 */
export async function killWorktrees(t: ExecutionContext, rounds: number): Promise<void> {
	const ground = await manyFilesGround(t);
	const other = await otherWorktree(t, ground);
	const tally: Record<string, number> = {};
	for (let round = 0; round < rounds; round++) {
		const what = await killOnce(ground, round % 2 === 0 ? 'bailiff' : 'git');
		await eventually(`the locks to be free after round ${round}`, () => !isHeld(ground.paths.issueLock) && !isHeld(ground.paths.repositoryLock));
		t.is(readFileSync(other, 'utf8'), 'precious', `round ${round}: another issue’s worktree was touched`);
		t.deepEqual(readdirSync(ground.paths.verification), ['kept'], `round ${round}: evidence was touched`);
		const found = await judge(t, ground, round);
		tally[`${what} -> ${found}`] = (tally[`${what} -> ${found}`] ?? 0) + 1;
	}

	t.log(JSON.stringify(tally));
}

async function manyFilesGround(t: ExecutionContext): Promise<WorktreeGround> {
	const ground = await worktreeGround(t);
	for (let file = 0; file < files; file++) {
		const place = path.join(ground.source.path, `d${file % 20}`, `${file}.txt`);
		mkdirSync(path.dirname(place), {recursive: true});
		writeFileSync(place, `${file} ${'x'.repeat(400)}\n`);
	}

	ground.source.git('add', '-A');
	ground.commit('many files');
	t.is((await syncMirror(ground.mirror.request)).status, 'ok');
	mkdirSync(ground.paths.worktrees, {mode: 0o700});
	mkdirSync(ground.paths.issue, {mode: 0o700});
	mkdirSync(ground.paths.verification, {mode: 0o700});
	writeFileSync(path.join(ground.paths.verification, 'kept'), '');
	return ground;
}

/** The worktree of issue 8 with a file that nobody may touch; its path. */
async function otherWorktree(t: ExecutionContext, {directory, target, request, root}: WorktreeGround): Promise<string> {
	const other = {...target, issue: 8};
	await writeLocalIssue({directory, target: other}, {title: 'Other', body: 'other', login: 'maintainer', state: 'open'});
	await addLocalApproval({directory, target: other}, {kind: 'implementation', login: 'maintainer', base: null, branch: null, headSha: null});
	t.is((await createWorktree({...request, target: other})).status, 'ok');
	const file = path.join(issuePaths(root, other).checkout, 'precious.txt');
	writeFileSync(file, 'precious');
	return file;
}

async function killOnce(ground: WorktreeGround, victim: 'bailiff' | 'git'): Promise<string> {
	const {paths, root, profile} = ground;
	const verb = existsSync(paths.state) ? 'remove' : 'create';
	const args = ['worktree', verb, '--root', root, '--profile', profile.directory, '--target', 'acme/widget#7'];
	const child = spawn(process.execPath, [cliPath, ...args, ...(verb === 'remove' ? ['--delivered-branch', 'main'] : [])], {stdio: 'ignore'});
	const ended = once(child, 'exit');
	const pid = child.pid ?? 0;
	// Every second time at any moment, else while git makes or removes the checkout.
	if (Math.random() < 0.5) {
		await Promise.race([sleep(150 + Math.random() * 700), ended]);
	} else {
		await gitAtWork(pid, () => child.exitCode !== null || child.signalCode !== null);
		await Promise.race([sleep(Math.random() * (verb === 'create' ? 300 : 100)), ended]);
	}

	const killed = child.exitCode === null ? kill(victim === 'bailiff' ? pid : gitsOf(pid).at(-1)) : false;
	await ended;
	return `${verb}, ${killed ? victim : 'nobody'} killed`;
}

async function gitAtWork(pid: number, isOver: () => boolean): Promise<void> {
	while (!isOver() && !gitsOf(pid).some(git => /\0worktree\0(?:add|remove)\0/.test(readOr(`/proc/${git}/cmdline`)))) {
		await sleep(2);
	}
}

/** The gits that this very process started, in the order of their start. */
function gitsOf(pid: number): number[] {
	return readOr(`/proc/${pid}/task/${pid}/children`)
		.split(' ')
		.filter(word => /^\d+$/.test(word))
		.map(Number)
		.filter(child => readOr(`/proc/${child}/comm`).trim() === 'git');
}

function kill(pid: number | undefined): boolean {
	try {
		return pid !== undefined && process.kill(pid, 'SIGKILL');
	} catch {
		return false;
	}
}

function readOr(file: string): string {
	try {
		return readFileSync(file, 'utf8');
	} catch {
		return '';
	}
}

/** Looks at what was left; where it is a named state, does what docs/recovery.md tells a person who sees nothing worth keeping. */
async function judge(t: ExecutionContext, ground: WorktreeGround, round: number): Promise<string> {
	const status = await worktreeStatus(ground.request);
	const {state, counts} = status.worktree;
	t.deepEqual(
		status.problems.filter(({code}) => !namedStates.has(code)),
		[],
		`round ${round}`,
	);
	if (status.problems.length === 0 && (state === 'absent' || state === 'ready')) {
		t.deepEqual(counts, state === 'absent' ? null : {staged: 0, unstaged: 0, untracked: 0, ignored: 0}, `round ${round}`);
		if (state === 'ready') {
			t.is((await resumeWorktree(ground.request)).status, 'ok', `round ${round}`);
		}

		return state;
	}

	mendAsPerson(ground);
	const mended = await worktreeStatus(ground.request);
	t.is(mended.worktree.state, 'absent', `round ${round}: ${JSON.stringify(mended.problems)}`);
	t.deepEqual(mended.problems, [], `round ${round}`);
	return `${state} (${[...new Set(status.problems.map(({code}) => code))].toSorted().join('+')})`;
}

function mendAsPerson({paths}: WorktreeGround): void {
	const attempt = (...args: string[]): void => {
		try {
			gitAsWorker(paths.repository, [`--git-dir=${paths.mirror}`, ...args]);
		} catch {
			// It may not be registered, or not locked, any more.
		}
	};
	for (const name of ['packed-refs.lock', 'config.lock']) {
		rmSync(`${paths.mirror}/${name}`, {force: true});
	}

	attempt('worktree', 'unlock', paths.checkout);
	rmSync(paths.checkout, {recursive: true, force: true});
	attempt('worktree', 'remove', paths.checkout);
	for (const left of readdirSync(paths.issue).filter(entry => entry !== 'verification')) {
		rmSync(path.join(paths.issue, left));
	}
}
