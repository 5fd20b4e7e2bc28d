import {readFileSync} from 'node:fs';
import test from 'ava';
import {mirrorStatus, syncMirror, verifyMirror} from '../../cache/index.ts';
import {mirroredGround, mirrorGround, refusedSync} from '../helpers/mirror-ground.ts';

test('sync brings new commits, prunes, pins the branch and says so', async t => {
	const ground = await mirroredGround(t);
	ground.source.git('push', '-q', ground.gitDir, 'HEAD:refs/heads/gone');
	t.is((await syncMirror(ground.request)).status, 'ok');
	ground.source.git('push', '-q', ground.gitDir, ':refs/heads/gone');
	const sha = ground.commit('second');
	const report = await syncMirror(ground.request);
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.deepEqual(report.locks, ['repository']);
	t.like(report.default_branch, {provider_sha: sha, local_sha: sha, equal: true, witness_equal: true, attempts: 1});
	t.is(report.cache.refs, 1);
	t.like(JSON.parse(readFileSync(ground.paths.refsRecord, 'utf8')), {pinned_sha: sha, pending: null, verified: [['refs/heads/main', sha]]});
	t.is((await verifyMirror(ground.request, {isFull: true})).status, 'ok');
	t.is((await mirrorStatus(ground.request)).cache.state, 'usable');
});

test('sync without a mirror refuses with CACHE_ABSENT, status answers with absent', async t => {
	const ground = await mirrorGround(t);
	const report = await syncMirror(ground.request);
	t.is(report.error?.code, 'CACHE_ABSENT');
	t.is(report.status, 'refused');
	const status = await mirrorStatus(ground.request);
	t.like(status, {status: 'ok', error: null, problems: []});
	t.is(status.cache.state, 'absent');
});

test('sync refuses a ref that a worker made, and does not prune it', async t => {
	const ground = await mirroredGround(t);
	const sha = ground.commit('second');
	const env = {gitDir: ground.paths.mirror};
	await ground.git.run({command: ['update-ref', 'refs/heads/mine', ground.source.sha], ...env});
	const report = await refusedSync(t, ground, 'CACHE_FOREIGN_REF');
	t.regex(report.problems[0]?.remedy ?? '', /update-ref -d refs\/heads\/mine/);
	const {stdout} = await ground.git.run({command: ['rev-parse', 'refs/heads/mine'], ...env});
	t.is(stdout.toString().trim(), ground.source.sha);
	t.not(sha, ground.source.sha);
});
