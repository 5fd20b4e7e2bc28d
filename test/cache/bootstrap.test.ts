import {chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {bootstrapMirror, FileLock, openRunPlace} from '../../cache/index.ts';
import {mirroredGround, mirrorGround} from '../helpers/mirror-ground.ts';

test('bootstrap makes a bare mirror with its record, and reads everything again', async t => {
	const ground = await mirrorGround(t);
	const report = await bootstrapMirror(ground.request);
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.deepEqual(report.locks, ['bootstrap', 'repository']);
	t.true(report.complete);
	t.like(report.identity, {account_id: 2, role: 'impl-agent', authenticated: 'file-ownership'});
	t.like(report.cache, {state: 'usable', reused: false, bare: true, object_format: 'sha1', origin_identity: 'acme/widget', staging_leftovers: []});
	t.like(report.default_branch, {name: 'main', provider_sha: ground.source.sha, local_sha: ground.source.sha, equal: true, witness_equal: true, attempts: 1});
	t.like(report.credential, {used: false, channel: 'none', left: false});
	const record = JSON.parse(readFileSync(ground.paths.refsRecord, 'utf8'));
	t.like(record, {schema: 'bailiff.mirror/v1', pinned_sha: ground.source.sha, pending: null});
	t.is(statSync(ground.paths.repository).mode & 0o7777, 0o700);
	t.deepEqual(readdirSync(ground.paths.owner), ['widget']);
	t.deepEqual(readdirSync(ground.paths.locks).toSorted(), ['refs.json', 'repository.lock']);
});

test('bootstrap on an existing mirror goes over to sync', async t => {
	const ground = await mirroredGround(t);
	const sha = ground.commit('second');
	const report = await bootstrapMirror(ground.request);
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.like(report.cache, {reused: true, state: 'usable'});
	t.is(report.default_branch.local_sha, sha);
});

test('bootstrap publishes into a directory that runs made, and leaves them alone', async t => {
	const ground = await mirrorGround(t);
	const place = await openRunPlace({contractPath: ground.request.contractPath, target: ground.target});
	await place.lock.release();
	writeFileSync(path.join(place.paths.verification, 'kept'), 'evidence');
	const report = await bootstrapMirror(ground.request);
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.true(existsSync(path.join(place.paths.verification, 'kept')));
	t.true(existsSync(ground.paths.mirror));
	t.deepEqual(readdirSync(ground.paths.owner), ['widget']);
});

test('bootstrap publishes into a directory that a killed run made and left empty', async t => {
	const ground = await mirrorGround(t);
	mkdirSync(ground.paths.repository, {recursive: true, mode: 0o700});
	const report = await bootstrapMirror(ground.request);
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.deepEqual(readdirSync(ground.paths.owner), ['widget']);
});

test('bootstrap waits for the repository lock of a directory that runs made, or refuses', async t => {
	const ground = await mirrorGround(t);
	const place = await openRunPlace({contractPath: ground.request.contractPath, target: ground.target});
	await place.lock.release();
	const lock = await FileLock.acquire(ground.paths.repositoryLock);
	const report = await bootstrapMirror(ground.request);
	lock.close();
	t.is(report.error?.code, 'CACHE_LOCK_BUSY');
	t.is(report.status, 'refused');
	t.false(existsSync(ground.paths.mirror));
	t.deepEqual(readdirSync(ground.paths.owner), ['widget'], 'its staging is gone');
});

test('bootstrap refuses a directory with anything else in it', async t => {
	const ground = await mirrorGround(t);
	mkdirSync(path.join(ground.paths.repository, 'notes'), {recursive: true, mode: 0o700});
	chmodSync(ground.paths.repositories, 0o700);
	const report = await bootstrapMirror(ground.request);
	t.is(report.error?.code, 'CACHE_TARGET_OCCUPIED');
	t.deepEqual(readdirSync(ground.paths.repository), ['notes']);
});

test('bootstrap names the record that a killed publication left without its mirror', async t => {
	const ground = await mirrorGround(t);
	const place = await openRunPlace({contractPath: ground.request.contractPath, target: ground.target});
	await place.lock.release();
	writeFileSync(ground.paths.refsRecord, '{}', {mode: 0o600});
	const report = await bootstrapMirror(ground.request);
	t.is(report.error?.code, 'CACHE_MIRROR_PARTIAL');
	t.is(report.problems[0]?.remedy, `rm -- ${ground.paths.refsRecord}`);
});
