import {chmodSync, mkdirSync, readdirSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {probeGit, probeRoot} from '../../cache/cache-probes.ts';
import {initRoot} from '../../cache/root.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

test('git is found with its version', async t => {
	t.like(await probeGit(), {id: 'git', state: 'ok'});
});

test('a sound root is tried to the last primitive, and nothing stays behind', t => {
	const {paths} = initRoot(path.join(temporaryDirectory(t), 'root'));
	const probes = probeRoot(paths.contract);
	t.deepEqual(
		probes.map(({id, state}) => `${id} ${state}`),
		['root ok', 'repositories ok', 'root-writable ok', 'rename-no-replace ok', 'flock ok', 'syncfs ok'],
	);
	t.deepEqual(readdirSync(paths.root), ['harness']);
	mkdirSync(paths.repositories, {mode: 0o700});
	t.true(probeRoot(paths.contract).every(({state}) => state === 'ok'));
	t.deepEqual(readdirSync(paths.repositories), []);
});

test('what a run would refuse fails here with the code of the refusal', t => {
	const {paths} = initRoot(path.join(temporaryDirectory(t), 'root'));
	t.like(probeRoot(`${paths.root}/none`)[0], {id: 'root', state: 'fail'});
	mkdirSync(paths.repositories);
	chmodSync(paths.repositories, 0o777);
	const probes = probeRoot(paths.contract);
	t.like(probes.at(-1), {id: 'repositories', state: 'fail'});
	t.regex(probes.at(-1)?.seen ?? '', /^CACHE_PATH_UNTRUSTED: /);
});
