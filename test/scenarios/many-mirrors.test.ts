import {readdirSync} from 'node:fs';
import test from 'ava';
import {mirrorStatus} from '../../cache/index.ts';
import {layOutRepository} from '../../publish/local/index.ts';
import {mirrorGround} from '../helpers/mirror-ground.ts';
import {runCli} from '../helpers/run-cli.ts';

const eight = Array.from({length: 8}, (_, index) => index);

test('eight bootstraps at once: one makes the mirror, every other one waits for it or is told who holds the lock', async t => {
	const ground = await mirrorGround(t);
	const args = ['--root', ground.root, '--profile', ground.profile.directory, '--target', 'acme/widget', '--json'];
	const results = await Promise.all(eight.map(index => runCli(['cache', 'bootstrap', ...args, ...(index < 4 ? ['--lock-timeout', '60'] : [])])));
	const made = results.filter(result => result.stdout.includes('"reused":false'));
	t.is(made.length, 1, results.map(({stdout}) => stdout).join('\n'));
	for (const [index, result] of results.entries()) {
		const {status, error} = result.json();
		if (status === 'ok') {
			t.is(result.exitCode, 0);
		} else {
			t.is(result.exitCode, 3, result.stdout);
			t.true(index >= 4, 'whoever waits gets the lock');
			t.regex(JSON.stringify(error), /CACHE_LOCK_BUSY.*(?:held by|holders)/);
		}
	}

	t.deepEqual(readdirSync(ground.paths.owner), ['widget']);
	t.is((await mirrorStatus(ground.request)).cache.state, 'usable');
});

test('eight syncs at once never meet: each gets a clear answer and the mirror is whole', async t => {
	const ground = await mirrorGround(t);
	const args = ['--root', ground.root, '--profile', ground.profile.directory, '--target', 'acme/widget', '--json'];
	t.is((await runCli(['cache', 'bootstrap', ...args])).exitCode, 0);
	const sha = ground.commit('second');
	const results = await Promise.all(eight.map(() => runCli(['cache', 'sync', ...args, '--lock-timeout', '60'])));
	t.deepEqual(
		results.map(({exitCode}) => exitCode),
		eight.map(() => 0),
	);
	const status = await mirrorStatus(ground.request);
	t.is(status.cache.state, 'usable', JSON.stringify(status.problems));
	t.is(status.default_branch.local_sha, sha);
});

test('several repositories are refreshed side by side with one progress display and one answer', async t => {
	const ground = await mirrorGround(t);
	const names = ['gadget', 'gizmo', 'widget'];
	for (const repository of names.slice(0, 2)) {
		await layOutRepository(
			{directory: ground.directory, ref: {owner: 'acme', repository}, checkout: ground.source.path, defaultBranch: null, logins: []},
			ground.git,
		);
	}

	const place = ['--root', ground.root, '--profile', ground.profile.directory];
	const targets = names.flatMap(name => ['--target', `acme/${name}`]);
	const made = await runCli(['cache', 'bootstrap', ...place, ...targets]);
	t.is(made.exitCode, 0, made.stderr);
	for (const name of names) {
		t.regex(made.stderr, new RegExp(`^acme/${name}: cloning$`, 'm'));
		t.regex(made.stderr, new RegExp(`^\\[[123]/3\\] acme/${name}: ok$`, 'm'));
	}

	const synced = await runCli(['cache', 'sync', ...place, ...targets, '--target', 'acme/absent', '--json']);
	t.is(synced.exitCode, 3);
	t.is(synced.stderr, '');
	t.like(synced.json(), {command: 'cache sync', status: 'refused'});
	t.regex(synced.stdout, /CACHE_AUTHORITY_NOT_FOUND/);
	t.is(synced.stdout.match(/"status":"ok"/g)?.length, 3);
});
