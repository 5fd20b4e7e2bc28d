import {mkdirSync, rmSync, unlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {witnessLocalRef, witnessRemoteRef, witnessRemoteRefs} from '../../cache/witness.ts';
import {localGround} from '../helpers/local-authority.ts';
import {refusalLater} from '../helpers/refusal.ts';
import {forgeToken, plainHttp, tlsGround} from '../helpers/tls-authority.ts';

test('a ref of a bare repository is found, packed or loose, and absent is null', async t => {
	const {gitDir, source} = await localGround(t);
	t.is(await witnessLocalRef(gitDir, 'refs/heads/main'), source.sha);
	source.git('push', '-q', gitDir, 'HEAD:refs/heads/a/b', 'HEAD:refs/pull/1/head');
	t.is(await witnessLocalRef(gitDir, 'refs/heads/a/b'), source.sha);
	t.is(await witnessLocalRef(gitDir, 'refs/pull/1/head'), source.sha);
	for (const name of ['refs/heads/none', 'refs/heads/a', 'refs/heads']) {
		t.is(await witnessLocalRef(gitDir, name), null, name);
	}
});

test('a tag that is called like a missing branch does not stand in for it', async t => {
	const {gitDir, source} = await localGround(t);
	source.git('push', '-q', gitDir, 'HEAD:refs/tags/refs/heads/none', 'HEAD:refs/heads/refs/heads/none', 'HEAD:refs/refs/heads/none');
	t.is(await witnessLocalRef(gitDir, 'refs/heads/none'), null);
});

for (const name of [
	'main',
	'HEAD',
	'refs/../HEAD',
	'refs/heads/../../HEAD',
	'refs//main',
	'refs/heads/.x',
	'refs/heads/x.lock',
	'refs/heads/a b',
	'refs/heads/a:b',
	'',
]) {
	test(`no full name of a ref: ${JSON.stringify(name)}`, async t => {
		t.is((await refusalLater(() => witnessLocalRef('/nonexistent', name)))?.code, 'CACHE_AUTHORITY_MALFORMED');
	});
}

test('a ref that is no ref cannot be read, and is not taken for absent', async t => {
	const {gitDir} = await localGround(t);
	unlinkSync(path.join(gitDir, 'packed-refs'));
	mkdirSync(path.join(gitDir, 'refs/heads'), {recursive: true});
	writeFileSync(path.join(gitDir, 'refs/heads/main'), 'ref: refs/heads/main\n');
	t.is((await refusalLater(() => witnessLocalRef(gitDir, 'refs/heads/main')))?.code, 'CACHE_AUTHORITY_UNREADABLE');
});

test('over TLS all refs are those that git itself sees, without HEAD and peeled entries', async t => {
	const {source, gitDir, http, access, authority, repository} = await tlsGround(t);
	source.git('tag', '-a', '-m', 'x', 'v1');
	source.git('push', '-q', gitDir, 'v1', 'HEAD:refs/pull/1/head', 'HEAD:refs/heads/z\u{1F600}', 'HEAD:refs/heads/zﬀ', 'HEAD:refs/heads/B');
	const seen = source
		.git('ls-remote', gitDir)
		.split('\n')
		.filter(line => line !== '' && !line.endsWith('^{}') && !line.endsWith('\tHEAD'))
		.map(line => line.split('\t').toReversed());
	t.deepEqual(await witnessRemoteRefs(http, access), seen);
	t.is(await authority.witnessRef(repository, 'refs/heads/main'), source.sha);
	t.is(await witnessRemoteRef(http, access, 'refs/heads/mai'), null);
	t.is(await witnessRemoteRef(http, access, 'refs/heads/none'), null);
});

test('the credential goes to the exact origin alone', async t => {
	const {http, access, server} = await tlsGround(t);
	const refusal = await refusalLater(() => witnessRemoteRefs(http, {...access, origin: 'https://git.example.test'}));
	t.is(refusal?.code, 'CACHE_AUTHORITY_UNREADABLE');
	t.true(server.seen.every(({authorization}) => authorization === null));
});

for (const [title, status, code] of [
	['forbidden', 403, 'CACHE_AUTHORITY_FORBIDDEN'],
	['not found', 404, 'CACHE_AUTHORITY_NOT_FOUND'],
	['a failure of the server', 500, 'CACHE_AUTHORITY_UNREADABLE'],
] as const) {
	test(`an answer of ${status} is ${title}, without a word of the token`, async t => {
		const {http, access, server} = await tlsGround(t);
		server.knobs.status = status;
		const refusal = await refusalLater(() => witnessRemoteRefs(http, access));
		t.is(refusal?.code, code);
		t.false(`${refusal?.stack}${JSON.stringify(refusal)}`.includes(forgeToken));
	});
}

test('a wrong token, a redirect and a foreign certificate are told apart', async t => {
	const {http, access, server} = await tlsGround(t);
	const wrong = {...access, readToken: () => 'another-token'};
	t.is((await refusalLater(() => witnessRemoteRefs(http, wrong)))?.code, 'CACHE_AUTHORITY_UNAUTHENTICATED');
	t.is((await refusalLater(() => witnessRemoteRefs(plainHttp(null), access)))?.code, 'CACHE_AUTHORITY_UNREADABLE');
	server.knobs.redirect = {prefix: '/acme/', status: 307, location: `${server.origin}/other/`};
	t.is((await refusalLater(() => witnessRemoteRefs(http, access)))?.code, 'CACHE_REPOSITORY_MOVED');
	t.false(server.seen.some(({url}) => url.startsWith('/other/')));
});

test('an authority that went away while it was asked is unreadable or empty-handed, never an id', async t => {
	const {gitDir} = await localGround(t);
	rmSync(gitDir, {recursive: true});
	t.is(await witnessLocalRef(gitDir, 'refs/heads/main'), null);
});
