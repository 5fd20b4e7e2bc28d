import {readFileSync, writeFileSync} from 'node:fs';
import test from 'ava';
import {type CacheReport, restoreConfig, syncMirror} from '../../cache/index.ts';
import {mirroredGround, refusedSync} from '../helpers/mirror-ground.ts';

test('restore-config writes our own config again, only over the one that was looked at', async t => {
	const ground = await mirroredGround(t);
	const config = `${ground.paths.mirror}/config`;
	const own = readFileSync(config, 'utf8');
	writeFileSync(config, `${own}[core]\n\thooksPath = .husky/_\n`);
	const refused = await refusedSync(t, ground, 'CACHE_FOREIGN_CONFIG');
	const sha256 = shownDigest(refused);
	t.true(refused.problems[0]?.remedy?.endsWith(`--expect-sha256 ${sha256}`));

	const wrong = await restoreConfig(ground.request, {expectSha256: '0'.repeat(64)});
	t.is(wrong.error?.code, 'CACHE_CONFIG_CHANGED');
	t.is(wrong.status, 'refused');
	const restored = await restoreConfig(ground.request, {expectSha256: sha256});
	t.is(restored.status, 'ok', JSON.stringify(restored.error));
	t.is(readFileSync(config, 'utf8'), own);
	t.is((await syncMirror(ground.request)).status, 'ok');
});

test('restore-config gives way to a git that works on the config', async t => {
	const ground = await mirroredGround(t);
	const config = `${ground.paths.mirror}/config`;
	writeFileSync(config, `${readFileSync(config, 'utf8')}[user]\n\tname = x\n`);
	const sha256 = shownDigest(await refusedSync(t, ground, 'CACHE_FOREIGN_CONFIG'));
	writeFileSync(`${config}.lock`, '');
	const report = await restoreConfig(ground.request, {expectSha256: sha256});
	t.is(report.error?.code, 'CACHE_STALE_GIT_LOCK');
	t.is(readFileSync(`${config}.lock`, 'utf8'), '', 'the lock of another is left');
});

function shownDigest(report: CacheReport): string {
	const shown = report.problems[0]?.details['sha256'];
	return typeof shown === 'string' ? shown : 'none';
}
