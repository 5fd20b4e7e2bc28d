import {chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {worktreeStatus} from '../../cache/index.ts';
import {LockSession} from '../../cache/lock-session.ts';
import {type Inspection, inspectWorktree} from '../../cache/worktree-inspect.ts';
import type {UnfinishedOperation} from '../../cache/worktree-report.ts';
import {makeRepository} from '../helpers/repository.ts';
import {type WorktreeGround, workedGround} from '../helpers/worktree-ground.ts';

async function inspect({git, paths}: WorktreeGround): Promise<Inspection> {
	return inspectWorktree(git, {paths, admin: {name: 'checkout', path: `${paths.mirror}/worktrees/checkout`}});
}

test('authority.md 6: what a worker left is listed by kind, whatever its name', async t => {
	const ground = await workedGround(t);
	const {paths, work} = ground;
	const at = (name: string) => path.join(paths.checkout, name);
	writeFileSync(at('.gitignore'), 'ignored/\n');
	work('add', '.gitignore');
	writeFileSync(at('a.txt'), 'changed\n');
	writeFileSync(at('new\nline "x" ü.txt'), '');
	mkdirSync(at('ignored'));
	writeFileSync(at('ignored/deep.txt'), '');
	const found = await inspect(ground);
	t.deepEqual(found.staged, ['.gitignore']);
	t.deepEqual(found.unstaged, ['a.txt']);
	t.deepEqual(found.untracked, ['new\nline "x" ü.txt']);
	t.deepEqual(found.ignored, ['ignored/']);
	t.deepEqual(found.counts, {staged: 1, unstaged: 1, untracked: 1, ignored: 1});
	t.is(found.unfinished, null);
	t.deepEqual(found.git_locks, []);
	t.true(found.detached);
});

test('authority.md 6: at most 100 paths are listed, the count is exact', async t => {
	const ground = await workedGround(t);
	for (let file = 0; file < 250; file++) {
		writeFileSync(path.join(ground.paths.checkout, `f${file}`), '');
	}

	const found = await inspect(ground);
	t.is(found.untracked?.length, 100);
	t.is(found.counts.untracked, 250);
});

test('C-RM-3: marks that hide changes are found, although git status shows nothing', async t => {
	const ground = await workedGround(t);
	const {paths, work} = ground;
	work('update-index', '--assume-unchanged', 'a.txt');
	writeFileSync(path.join(paths.checkout, 'a.txt'), 'hidden\n');
	const assumed = await inspect(ground);
	t.deepEqual(assumed.hidden_flags, ['a.txt']);
	t.is(assumed.counts.unstaged, 0);
	work('update-index', '--no-assume-unchanged', 'a.txt');
	rmSync(path.join(paths.checkout, 'a.txt'));
	work('update-index', '--skip-worktree', 'a.txt');
	const skipped = await inspect(ground);
	t.deepEqual(skipped.hidden_flags, ['a.txt']);
	t.is(skipped.counts.unstaged, 0);
});

test('facts 21, 22: LFS pointers are counted, submodules are named and never entered', async t => {
	const ground = await workedGround(t);
	const {paths, work} = ground;
	const at = (name: string) => path.join(paths.checkout, name);
	writeFileSync(at('.gitattributes'), '*.bin filter=lfs diff=lfs merge=lfs -text\n');
	writeFileSync(at('x.bin'), `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12\n`);
	work('add', '-A');
	work('update-index', '--add', '--cacheinfo', `160000,${ground.source.sha},sub`);
	work('commit', '-qm', 'lfs and a submodule');
	const trap = path.join(ground.base, 'trap');
	const inner = makeRepository(at('sub'), {'s.txt': 's\n', '.gitattributes': '*.txt filter=trap\n'});
	inner.git('config', 'filter.trap.clean', `touch ${trap}; cat`);
	writeFileSync(at('sub/s.txt'), 'changed\n');
	const found = await inspect(ground);
	t.is(found.lfs_pointers, 1);
	t.deepEqual(found.gitlinks, ['sub']);
	t.false(existsSync(trap), 'the clean filter of a submodule ran');
});

test('C-REUSE-1: each unfinished operation is named', async t => {
	const ground = await workedGround(t);
	const admin = `${ground.paths.mirror}/worktrees/checkout`;
	const cases: ReadonlyArray<readonly [name: string, operation: UnfinishedOperation]> = [
		['MERGE_HEAD', 'merge'],
		['CHERRY_PICK_HEAD', 'cherry-pick'],
		['REVERT_HEAD', 'revert'],
		['BISECT_LOG', 'bisect'],
		['BISECT_START', 'bisect'],
		['rebase-merge/', 'rebase'],
		['rebase-apply/', 'rebase'],
		['sequencer/', 'sequencer'],
	];
	for (const [name, operation] of cases) {
		const place = path.join(admin, name);
		if (name.endsWith('/')) {
			mkdirSync(place);
		} else {
			writeFileSync(place, `${ground.source.sha}\n`);
		}

		t.is((await inspect(ground)).unfinished, operation, name);
		rmSync(place, {recursive: true});
	}

	mkdirSync(`${admin}/rebase-apply`);
	writeFileSync(`${admin}/rebase-apply/applying`, '');
	t.is((await inspect(ground)).unfinished, 'am');
});

test('facts 2, 3: leftover lock files of git are named', async t => {
	const ground = await workedGround(t);
	const admin = `${ground.paths.mirror}/worktrees/checkout`;
	writeFileSync(`${admin}/index.lock`, '');
	mkdirSync(`${admin}/refs/bisect`, {recursive: true});
	writeFileSync(`${admin}/refs/bisect/bad.lock`, '');
	t.deepEqual((await inspect(ground)).git_locks, ['index.lock', 'refs/bisect/bad.lock']);
});

test('C-HARD-3: nothing that a worker planted in the checkout ever runs', async t => {
	const ground = await workedGround(t);
	const {paths, base, work} = ground;
	const trap = path.join(base, 'trap');
	const program = path.join(base, 'planted');
	writeFileSync(program, `#!/bin/sh\ntouch ${trap}\n`);
	chmodSync(program, 0o755);
	writeFileSync(path.join(paths.checkout, '.gitattributes'), '* filter=planted diff=planted merge=planted\n');
	writeFileSync(path.join(paths.checkout, '.gitconfig'), `[core]\n\tfsmonitor = ${program}\n`);
	work('add', '-A');
	const planted = makeRepository(path.join(base, 'hostile'), {x: 'x'});
	for (const [key, value] of [
		['core.fsmonitor', program],
		['core.hooksPath', base],
		['filter.planted.clean', program],
		['filter.planted.smudge', program],
		['filter.planted.process', program],
		['diff.external', program],
		['core.pager', program],
		['alias.status', `!${program}`],
	] as const) {
		planted.git('config', key, value);
	}

	for (const hook of ['post-index-change', 'post-checkout', 'reference-transaction']) {
		writeFileSync(path.join(planted.path, '.git/hooks', hook), readFileSync(program), {mode: 0o755});
	}

	writeFileSync(path.join(paths.checkout, 'a.txt'), 'changed\n');
	const before = readFileSync(`${paths.checkout}/.git`);
	writeFileSync(`${paths.checkout}/.git`, `gitdir: ${planted.path}/.git\n`);
	const report = await worktreeStatus({...ground.request});
	t.is(report.worktree.state, 'mismatch');
	t.is(report.worktree.counts, null, 'nothing was read by way of a .git that is not ours');
	t.false(existsSync(trap));
	writeFileSync(`${paths.checkout}/.git`, before);
	const whole = await worktreeStatus(ground.request);
	t.is(whole.worktree.state, 'ready');
	t.deepEqual(whole.worktree.unstaged, ['a.txt']);
	t.false(existsSync(trap), 'a planted program ran');
});

test('C-HARD-2: with a planted setting in the mirror no git opens the worktree', async t => {
	const ground = await workedGround(t);
	const trap = path.join(ground.base, 'trap');
	ground.work('config', 'core.fsmonitor', `touch ${trap}`);
	ground.work('config', 'filter.x.clean', `touch ${trap}; cat`);
	rmSync(trap, {force: true});
	const report = await worktreeStatus(ground.request);
	t.is(report.problems[0]?.code, 'CACHE_FOREIGN_CONFIG');
	t.is(report.cache.state, 'unusable');
	t.is(report.worktree.counts, null);
	t.false(existsSync(trap));
	t.like(report, {status: 'ok', complete: false, worktree: {state: null}}, 'what was not looked at is neither absent nor damaged');
	t.is(report.problems.length, 1);
	const record = await worktreeStatus({...ground.request, record: {runId: 'w-1', label: 'a'}});
	t.like(record, {status: 'refused', error: {code: 'CACHE_FOREIGN_CONFIG'}, worktree: {state: null}});
});

test('C-FC: while the lock of the issue is held, status names what does not fit and hands out no command that would remove it', async t => {
	const ground = await workedGround(t);
	rmSync(ground.paths.state);
	const free = await worktreeStatus(ground.request);
	t.like(free, {worktree: {state: 'partial'}});
	t.regex(free.problems[0]?.remedy ?? '', /worktree unlock/);
	const locks = new LockSession(ground.paths);
	await locks.issue(ground.paths.issueLock);
	try {
		const held = await worktreeStatus(ground.request);
		t.like(held, {worktree: {state: 'partial'}});
		t.is(held.problems[0]?.code, 'CACHE_WORKTREE_PARTIAL');
		t.is(held.problems[0]?.remedy, null);
		t.regex(held.problems[0]?.message ?? '', /look again/);
	} finally {
		await locks.release();
	}
});
