import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import type {ExecutionContext} from 'ava';
import {bootstrapMirror, type CacheReport, mirrorStatus, syncMirror, verifyMirror} from '../../cache/index.ts';
import {isHeld} from '../../cache/staging.ts';
import type {ErrorCode} from '../../core/errors.ts';
import {eventually} from './eventually.ts';
import {type MirrorGround, mirrorGround} from './mirror-ground.ts';
import {cliPath} from './run-cli.ts';

/** The states that a killed bootstrap or sync may leave, besides "as before" and "complete". Each has a page in docs/recovery.md. */
const namedStates: ReadonlySet<ErrorCode> = new Set(['CACHE_SYNC_UNFINISHED', 'CACHE_STALE_GIT_LOCK', 'CACHE_DEFAULT_BRANCH_MISMATCH']);
const files = 400;

/** What was killed, and how often. */
type Tally = Record<string, number>;

/**
 * Kills bailiff, or a git that it started, at random moments of bootstrap and sync. After each: the mirror is as before, complete, or in a named state;
 * nothing foreign is gone; the locks are free as soon as no git child lives; a person's remedy and one more sync make it whole. Source: C-BOOT-8, C-HARD-4, 5, 8.
 */
export async function killMirrors(t: ExecutionContext, rounds: number): Promise<void> {
	const ground = await mirrorGround(t);
	const sentinel = path.join(ground.paths.owner, `.staging-${'f'.repeat(32)}`);
	const tally: Tally = {};
	for (let round = 0; round < rounds; round++) {
		enlarge(ground, round);
		if (round % 3 === 2 && existsSync(ground.paths.repository)) {
			// As a person moves a mirror away: what comes next is a bootstrap.
			renameSync(ground.paths.repository, path.join(ground.base, `away-${round}`));
			rmSync(path.join(ground.base, `away-${round}`), {recursive: true});
		}

		const what = await killOnce(ground, round % 2 === 0 ? 'bailiff' : 'git');
		await eventually(`the locks to be free after round ${round}`, () => !isHeld(ground.paths.repositoryLock) && !isHeld(ground.paths.bootstrapLock));
		if (existsSync(sentinel)) {
			t.deepEqual(readdirSync(sentinel), ['kept'], `round ${round}: something foreign was removed`);
		} else if (existsSync(ground.paths.owner)) {
			mkdirSync(sentinel, {mode: 0o700});
			writeFileSync(path.join(sentinel, 'kept'), '');
		}

		const found = await judge(t, ground, round);
		count(tally, `${what} -> ${found}`);
	}

	t.log(JSON.stringify(tally));
	t.is((await verifyMirror(ground.request, {isFull: true})).status, 'ok');
}

/** Starts bootstrap or sync and kills at a random moment; says what was done. */
async function killOnce(ground: MirrorGround, victim: 'bailiff' | 'git'): Promise<string> {
	const verb = existsSync(ground.paths.mirror) ? 'sync' : 'bootstrap';
	const args = ['cache', verb, '--root', ground.root, '--profile', ground.profile.directory, '--target', 'acme/widget'];
	const child = spawn(process.execPath, [cliPath, ...args], {stdio: 'ignore'});
	const ended = once(child, 'exit');
	await Promise.race([sleep(150 + Math.random() * 700), ended]);
	if (victim === 'bailiff') {
		child.kill('SIGKILL');
		await ended;
		return `${verb}, bailiff killed`;
	}

	let killed = false;
	while (child.exitCode === null && !killed) {
		killed = killGitOf(child.pid ?? 0);
		await sleep(1);
	}

	await ended;
	if (!killed && child.exitCode !== 0) {
		throw new Error(`${verb} ended with ${child.exitCode ?? 'a signal'} although nobody was killed`);
	}

	return `${verb}, ${killed ? 'git' : 'nobody'} killed`;
}

/** Kills one child of this very process; git alone is ever among them. */
function killGitOf(pid: number): boolean {
	const children = childrenOf(pid).filter(child => commandOf(child) === 'git');
	const victim = children[Math.floor(Math.random() * children.length)];
	if (victim === undefined) {
		return false;
	}

	try {
		process.kill(victim, 'SIGKILL');
		return true;
	} catch {
		return false;
	}
}

function childrenOf(pid: number): number[] {
	return readOr(`/proc/${pid}/task/${pid}/children`)
		.split(' ')
		.filter(word => /^\d+$/.test(word))
		.map(Number);
}

function commandOf(pid: number): string {
	return readOr(`/proc/${pid}/comm`).trim();
}

function readOr(file: string): string {
	try {
		return readFileSync(file, 'utf8');
	} catch {
		return '';
	}
}

/** Looks at what was left, does what a person would, and sees it whole. */
async function judge(t: ExecutionContext, ground: MirrorGround, round: number): Promise<string> {
	if (!existsSync(ground.paths.mirror)) {
		const report = await bootstrapMirror(ground.request);
		t.is(report.status, 'ok', `round ${round}: ${JSON.stringify(report.error)}`);
		return 'absent';
	}

	const status = await mirrorStatus(ground.request);
	const unnamed = status.problems.filter(({code}) => !namedStates.has(code));
	t.deepEqual(unnamed, [], `round ${round}`);
	for (const {code, path: place} of status.problems) {
		if (code === 'CACHE_STALE_GIT_LOCK' && place !== null) {
			rmSync(path.join(ground.paths.repository, place));
		}
	}

	const report = await syncMirror(ground.request);
	t.is(report.status, 'ok', `round ${round}: ${JSON.stringify(report.error)}`);
	return named(status);
}

function named(status: CacheReport): string {
	return status.problems.length === 0
		? 'complete'
		: status.problems
				.map(({code}) => code)
				.toSorted()
				.join('+');
}

function count(tally: Tally, key: string): void {
	tally[key] = (tally[key] ?? 0) + 1;
}

/** A commit that takes git a moment to bring over. */
function enlarge(ground: MirrorGround, round: number): void {
	const directory = path.join(ground.source.path, `r${round % 5}`);
	mkdirSync(directory, {recursive: true});
	for (let file = 0; file < files; file++) {
		writeFileSync(path.join(directory, `${file}.txt`), `${round} ${file} ${'x'.repeat(200)}\n`);
	}

	ground.source.git('add', '-A');
	ground.source.git('commit', '-q', '-m', `round ${round}`);
	ground.source.git('push', '-q', ground.gitDir, 'HEAD:refs/heads/main', `HEAD:refs/heads/r${round}`);
}
