import {existsSync, mkdirSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {listWorktrees} from '../../cache/index.ts';
import {workedGround} from '../helpers/worktree-ground.ts';

test('C-LOCK-5: worktrees are named by registration and state file alone; no checkout is opened', async t => {
	const ground = await workedGround(t);
	const {paths} = ground;
	const {request} = ground.mirror;
	t.deepEqual((await listWorktrees(request)).worktrees, [{issue: 7, registered: true, state_file: true}]);
	// What nobody may open: a pipe, at which a reader would wait for ever.
	renameSync(`${paths.checkout}/a.txt`, `${paths.root}/a.txt`);
	mkdirSync(path.join(paths.worktrees, 'issue-9'), {mode: 0o700});
	writeFileSync(path.join(paths.worktrees, 'issue-9/state.json'), 'no state', {mode: 0o600});
	mkdirSync(path.join(paths.worktrees, 'issue-10'), {mode: 0o700});
	rmSync(paths.state);
	const report = await listWorktrees(request);
	t.is(report.status, 'ok');
	t.true(report.complete);
	t.deepEqual(report.locks, []);
	t.deepEqual(report.worktrees, [
		{issue: 7, registered: true, state_file: false},
		{issue: 9, registered: false, state_file: true},
	]);
	t.true(existsSync(paths.checkout));
	const absent = await listWorktrees({...request, name: {owner: 'acme', repository: 'gadget'}});
	t.is(absent.error?.code, 'CACHE_ABSENT');
});
