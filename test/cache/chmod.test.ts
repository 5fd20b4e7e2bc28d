import {chmodSync, linkSync, mkdirSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {canonicalPlaceOf} from '../../cache/canonical-modes.ts';
import {giveCanonicalMode, initRoot, repositoryPaths} from '../../cache/index.ts';
import {codeOf} from '../helpers/refusal.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

function ground(t: Parameters<typeof temporaryDirectory>[0]) {
	const {paths: root} = initRoot(path.join(temporaryDirectory(t), 'root'));
	const paths = repositoryPaths(root.root, {owner: 'acme', repository: 'widget'});
	mkdirSync(paths.locks, {recursive: true, mode: 0o700});
	return paths;
}

test('giveCanonicalMode() gives exactly the canonical mode, also where nothing may be done with the place yet', t => {
	const paths = ground(t);
	chmodSync(paths.owner, 0o000);
	chmodSync(paths.owner, 0o2775);
	t.deepEqual(giveCanonicalMode(paths.contract, paths.owner, 0o700), {path: paths.owner, before: '2775', after: '0700'});
	t.is(statSync(paths.owner).mode & 0o7777, 0o700);
	writeFileSync(paths.repositoryLock, '');
	chmodSync(paths.repositoryLock, 0o000);
	t.is(giveCanonicalMode(paths.contract, paths.repositoryLock, 0o600).after, '0600');
});

test('giveCanonicalMode() refuses what is no place of the layout, another mode, and whatever is not what it seems', t => {
	const paths = ground(t);
	const give = (place: string, mode: number) => codeOf(() => giveCanonicalMode(paths.contract, place, mode));
	t.is(give(paths.owner, 0o755), 'CACHE_MODE_NOT_CANONICAL');
	t.is(give(paths.contract, 0o600), 'CACHE_MODE_NOT_CANONICAL');
	t.is(give(`${paths.repositories}/../harness`, 0o700), 'CACHE_MODE_NOT_CANONICAL');
	t.is(give(`${paths.mirror}/config`, 0o600), 'CACHE_MODE_NOT_CANONICAL');
	t.is(give(paths.worktrees, 0o700), 'CACHE_PATH_MISSING');
	writeFileSync(paths.repositoryLock, '', {mode: 0o644});
	linkSync(paths.repositoryLock, `${paths.locks}/other`);
	t.is(give(paths.repositoryLock, 0o600), 'CACHE_PATH_UNTRUSTED');
	t.is(statSync(paths.repositoryLock).mode & 0o777, 0o644, 'a file with two names keeps its mode');
	symlinkSync(paths.locks, paths.worktrees);
	t.is(give(paths.worktrees, 0o700), 'CACHE_PATH_UNTRUSTED');
	symlinkSync(paths.owner, `${paths.repositories}/linked`);
	t.is(give(`${paths.repositories}/linked/widget`, 0o700), 'CACHE_PATH_UNTRUSTED');
});

for (const [place, mode] of [
	['', 0o700],
	['.locks/acme/widget.bootstrap.lock', 0o600],
	['acme/widget/worktrees/issue-7', 0o700],
	['acme/widget/worktrees/issue-7/verification/ledger.jsonl', 0o600],
	['acme/widget/worktrees/issue-7/verification/run-1', 0o700],
	['acme/widget/worktrees/issue-7/runtime/w-1/handle.json', 0o600],
	['acme/widget/worktrees/issue-7/state.json', 0o600],
	['acme/widget/worktrees/issue-7/checkout', null],
	['acme/widget/repository.git', null],
	['acme/widget/worktrees/issue-0', null],
	['acme/.staging-1', null],
] as const) {
	test(`the canonical mode of repositories/${place} is ${mode === null ? 'not defined' : mode.toString(8)}`, t => {
		t.is(canonicalPlaceOf({repositories: '/r/repositories'}, `/r/repositories${place === '' ? '' : `/${place}`}`)?.mode ?? null, mode);
	});
}
