import {chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {type CheckCacheReport, checkCache, type RepositoryPaths} from '../../cache/index.ts';
import {FileLock} from '../../cache/lock.ts';
import {brokerGround} from '../helpers/broker-ground.ts';
import {type MirrorGround, mirroredGround} from '../helpers/mirror-ground.ts';

const target = {owner: 'acme', repository: 'widget', issue: 7};

function check({request}: MirrorGround): CheckCacheReport {
	return checkCache({contractPath: request.contractPath, target});
}

test('a sound cache is said to be so without a lock, a git or a change, also while somebody holds its lock', async t => {
	const ground = await mirroredGround(t);
	const lock = await FileLock.acquire(ground.paths.repositoryLock);
	const names = (): readonly string[] => readdirSync(ground.root, {recursive: true, encoding: 'utf8'}).toSorted();
	const before = names();
	const report = check(ground);
	lock.close();
	t.deepEqual(report, {
		command: 'review check-cache',
		status: 'ok',
		error: null,
		problems: [],
		locks: [],
		complete: true,
		repository: {owner: 'acme', repository: 'widget', id: null},
		cache: {path: ground.paths.mirror, state: 'usable'},
		issue: {number: 7},
		worktree: {path: path.join(ground.paths.worktrees, 'issue-7/checkout'), state: 'absent'},
	});
	t.deepEqual(names(), before);
});

test('without a mirror it is refused with CACHE_ABSENT, and a path that is no root by its own code', t => {
	const {contractPath, root} = brokerGround(t);
	const report = checkCache({contractPath, target});
	t.is(report.status, 'refused');
	t.is(report.error?.code, 'CACHE_ABSENT');
	t.is(report.cache.state, 'absent');
	t.false(existsSync(path.join(root, 'repositories')));
	renameSync(contractPath, `${contractPath}.away`);
	t.is(checkCache({contractPath, target}).error?.code, 'CACHE_ROOT_INVALID');
});

type Damage = readonly [what: string, damage: (paths: RepositoryPaths) => void, path: string];
const damages: readonly Damage[] = [
	['a directory that others may enter', ({locks}) => chmodSync(locks, 0o755), 'locks'],
	['a lock file that others may read', ({repositoryLock}) => chmodSync(repositoryLock, 0o644), 'locks/repository.lock'],
	['a record that others may write', ({refsRecord}) => chmodSync(refsRecord, 0o666), 'locks/refs.json'],
	['an object directory that others may write', ({mirror}) => chmodSync(`${mirror}/objects`, 0o777), 'repository.git/objects'],
	['a link inside of the mirror', ({mirror}) => symlinkSync('/etc/passwd', `${mirror}/description`), 'repository.git/description'],
	[
		'a mirror that is a link',
		({mirror}) => {
			renameSync(mirror, `${mirror}.away`);
			symlinkSync(`${mirror}.away`, mirror);
		},
		'repository.git',
	],
	[
		'a worktree directory that is a link',
		({worktrees}) => {
			mkdirSync(worktrees, {recursive: true, mode: 0o700});
			symlinkSync('/tmp', `${worktrees}/issue-7`);
		},
		'worktrees/issue-7',
	],
	[
		'a state file that others may read',
		({worktrees}) => {
			mkdirSync(`${worktrees}/issue-7`, {recursive: true, mode: 0o700});
			writeFileSync(`${worktrees}/issue-7/state.json`, '{}', {mode: 0o644});
		},
		'worktrees/issue-7/state.json',
	],
];
for (const [what, damage, place] of damages) {
	test(`${what} is a no that names the place, and stays as it is`, async t => {
		const ground = await mirroredGround(t);
		damage(ground.paths);
		const file = path.join(ground.paths.repository, place);
		const before = lstatSync(file);
		const report = check(ground);
		t.is(report.status, 'no');
		t.is(report.error?.code, 'CACHE_PATH_UNTRUSTED');
		t.deepEqual(
			report.problems.map(problem => problem.path),
			[place],
		);
		t.is(lstatSync(file).mode, before.mode);
		t.is(lstatSync(file).ino, before.ino);
	});
}

test('another issue is not looked at', async t => {
	const ground = await mirroredGround(t);
	mkdirSync(`${ground.paths.worktrees}/issue-8`, {recursive: true, mode: 0o700});
	chmodSync(`${ground.paths.worktrees}/issue-8`, 0o777);
	t.is(check(ground).status, 'ok');
});
