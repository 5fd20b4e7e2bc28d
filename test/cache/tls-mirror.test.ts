import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {bootstrapMirror, syncMirror} from '../../cache/index.ts';
import {forgeToken, type TlsGround, tlsGround} from '../helpers/tls-authority.ts';

/** Looks for every form of the token in every byte below a directory. */
function searchRoot(t: ExecutionContext, {root, profile}: TlsGround): number {
	const forms = [forgeToken, Buffer.from(forgeToken).toString('base64'), Buffer.from(`${profile.login}:${forgeToken}`).toString('base64')];
	const files = readdirSync(root, {recursive: true, withFileTypes: true}).filter(entry => entry.isFile());
	for (const entry of files) {
		const text = readFileSync(path.join(entry.parentPath, entry.name), 'latin1');
		t.false(
			forms.some(form => text.includes(form)),
			entry.name,
		);
	}

	return files.length;
}

test('a mirror is made and refreshed over TLS; the token stands nowhere in the root or in the report', async t => {
	const ground = await tlsGround(t);
	const made = await bootstrapMirror(ground.request);
	t.is(made.status, 'ok', JSON.stringify(made.error));
	t.like(made.credential, {used: true, channel: 'askpass', left: false});
	t.like(made.default_branch, {equal: true, witness_equal: true, local_sha: ground.source.sha});
	t.is(made.identity?.authenticated, 'token');
	t.true(searchRoot(t, ground) > 5);
	const sha = ground.commit('second');
	const synced = await syncMirror(ground.request);
	t.is(synced.status, 'ok', JSON.stringify(synced.error));
	t.is(synced.default_branch.local_sha, sha);
	searchRoot(t, ground);
	t.false(JSON.stringify([made, synced]).includes(forgeToken));
});

for (const [title, spoil, code] of [
	[
		'a token that the server does not take',
		g => Object.assign(g.server.knobs, {credential: {login: 'impl-agent', token: 'another'}}),
		'CACHE_AUTHORITY_UNAUTHENTICATED',
	],
	[
		'a repository that was renamed',
		g => Object.assign(g.server.knobs, {redirect: {prefix: '/acme/', status: 307, location: '/other/'}}),
		'CACHE_REPOSITORY_MOVED',
	],
	['a server that forbids', g => Object.assign(g.server.knobs, {status: 403}), 'CACHE_AUTHORITY_FORBIDDEN'],
] as const satisfies ReadonlyArray<readonly [string, (ground: TlsGround) => unknown, string]>) {
	test(`no mirror is made, and nothing stays behind: ${title}`, async t => {
		const ground = await tlsGround(t);
		spoil(ground);
		const report = await bootstrapMirror(ground.request);
		t.is(report.status, 'refused');
		t.is(report.error?.code, code);
		t.false(JSON.stringify(report).includes(forgeToken));
		t.deepEqual(readdirSync(ground.paths.owner), []);
		searchRoot(t, ground);
	});
}

test('a token that is taken back leaves the mirror as it was', async t => {
	const ground = await tlsGround(t);
	await bootstrapMirror(ground.request);
	const before = readFileSync(ground.paths.refsRecord, 'utf8');
	ground.commit('second');
	ground.server.knobs.credential = {login: 'impl-agent', token: 'another'};
	const report = await syncMirror(ground.request);
	t.is(report.error?.code, 'CACHE_AUTHORITY_UNAUTHENTICATED');
	t.is(readFileSync(ground.paths.refsRecord, 'utf8'), before);
});
