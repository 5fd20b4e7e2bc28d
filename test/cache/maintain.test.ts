import test from 'ava';
import {FileLock, maintainMirror, syncMirror} from '../../cache/index.ts';
import {mirroredGround} from '../helpers/mirror-ground.ts';

test('maintain packs the mirror into one pack and drops nothing that no ref reaches', async t => {
	const ground = await mirroredGround(t);
	const {git, paths} = ground;
	for (const text of ['second', 'third', 'fourth']) {
		ground.commit(text);
		t.is((await syncMirror(ground.request)).status, 'ok');
	}

	const lost = (await git.run({command: ['hash-object', '-w', '--stdin'], gitDir: paths.mirror, input: Buffer.from('reached by nobody')})).stdout
		.toString()
		.trim();
	const report = await maintainMirror(ground.request);
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.is(report.cache.packs, 1);
	t.true(report.complete);
	t.is((await git.run({command: ['cat-file', '-t', lost], gitDir: paths.mirror})).stdout.toString().trim(), 'blob');
});

test('maintain refuses while an issue is worked on', async t => {
	const ground = await mirroredGround(t);
	const busy = await FileLock.acquire(`${ground.paths.locks}/issue-9.lock`);
	const free = await FileLock.acquire(`${ground.paths.locks}/issue-3.lock`);
	free.close();
	const report = await maintainMirror(ground.request);
	busy.close();
	t.is(report.error?.code, 'CACHE_LOCK_BUSY');
	t.is(report.status, 'refused');
	t.is((await maintainMirror(ground.request)).status, 'ok');
});
