import {chmodSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {sha256Hex} from '../../../core/digest.ts';
import {openLocalAuthority} from '../../../publish/local/index.ts';
import {issueBody, type LocalGround, localGround, writeRecordText} from '../../helpers/local-authority.ts';
import {codeOf, refusalLater} from '../../helpers/refusal.ts';

const time = '2026-01-02T03:04:05Z';
const issueText = {schema: 'bailiff.local-issue/v1', number: 7, title: 'T', body: 'b', state: 'open', author_id: 1, created_at: time, updated_at: time};
const approvalText = {
	id: 1,
	kind: 'implementation',
	account_id: 1,
	body_sha256: 'a'.repeat(64),
	base_sha: null,
	branch: null,
	head_sha: null,
	at: time,
	revoked_at: null,
};
const approvals = (...rows: readonly object[]): string => JSON.stringify({schema: 'bailiff.local-approvals/v1', issue: 7, approvals: rows});

test('what was laid out is read back by every call of the interface', async t => {
	const ground = await localGround(t);
	const {authority, target, source, directory} = ground;
	const repository = await authority.repository(target);
	const originUrl = `file://${directory}/acme/widget/repository.git`;
	t.like(repository, {fullName: 'acme/widget', originUrl, defaultBranch: 'main', objectFormat: 'sha1', isArchived: false});
	t.deepEqual(await authority.account(), {id: 2, login: 'impl-agent', authenticated: 'file-ownership'});
	t.deepEqual(await authority.branch(target, 'main'), {name: 'main', sha: source.sha});
	t.like(await authority.issue(target, 7), {number: 7, title: 'Count words', body: issueBody, state: 'open', authorId: 1});
	t.like((await authority.approvals(target, 7))[0], {id: 1, kind: 'implementation', accountId: 1, bodySha256: sha256Hex(issueBody), revokedAt: null});
	t.deepEqual(await authority.approvals(target, 8), []);
	t.deepEqual(await authority.advertisedRefs(repository), [['refs/heads/main', source.sha]]);
	t.is(await authority.witnessRef(repository, 'refs/heads/main'), source.sha);
	t.is(await authority.witnessRef(repository, 'refs/heads/none'), null);
	t.deepEqual(authority.identify(originUrl), {owner: 'acme', repository: 'widget'});
	t.deepEqual(authority.gitAccess(repository), {url: originUrl, protocol: 'file', origin: 'file://', login: 'impl-agent', caFile: null, readToken: null});
});

test('every call is a fresh read: a commit that arrives meanwhile is seen at once', async t => {
	const {authority, target, source, gitDir} = await localGround(t);
	source.git('commit', '-q', '--allow-empty', '-m', 'second');
	source.git('push', '-q', gitDir, 'main', 'HEAD:refs/heads/a', 'HEAD:refs/replace/x', 'HEAD:refs/tags/v1');
	const sha = source.git('rev-parse', 'HEAD').trim();
	const repository = await authority.repository(target);
	t.deepEqual(await authority.branch(target, 'main'), {name: 'main', sha});
	t.deepEqual(
		(await authority.advertisedRefs(repository)).map(([name]) => name),
		['refs/heads/a', 'refs/heads/main', 'refs/replace/x', 'refs/tags/v1'],
	);
	t.is(await authority.witnessRef(repository, 'refs/heads/main'), sha);
});

test('refs are those that git itself advertises, in the order of their bytes, names outside ASCII included', async t => {
	const {authority, target, source, gitDir} = await localGround(t);
	for (const name of ['heads/B', 'heads/a', 'heads/Ω', 'heads/a-b', 'heads/z\u{1F600}', 'heads/zﬀ', 'pull/1/head', 'notes/commits']) {
		source.git('push', '-q', gitDir, `HEAD:refs/${name}`);
	}

	source.git('tag', '-a', '-m', 'x', 'annotated');
	source.git('push', '-q', gitDir, 'annotated');
	const advertised = source
		.git('ls-remote', gitDir)
		.split('\n')
		.filter(line => line !== '' && !line.endsWith('^{}') && !line.endsWith('\tHEAD'))
		.map(line => line.split('\t').toReversed());
	t.deepEqual(await authority.advertisedRefs(await authority.repository(target)), advertised);
});

test('a ref whose name is no UTF-8 is refused instead of mangled', async t => {
	const {authority, target, source, gitDir} = await localGround(t);
	writeFileSync(
		path.join(gitDir, 'packed-refs'),
		Buffer.concat([
			Buffer.from(`# pack-refs with: peeled fully-peeled sorted \n${source.sha} refs/heads/main\n${source.sha} refs/heads/\xff`, 'latin1'),
			Buffer.from('\n'),
		]),
	);
	const repository = await authority.repository(target);
	t.is((await refusalLater(() => authority.advertisedRefs(repository)))?.code, 'CACHE_AUTHORITY_MALFORMED');
});

type Call = 'repository' | 'branch' | 'issue' | 'approvals' | 'account';

/** The code with which a call of the spoiled authority is refused. */
async function codeOfCall(ground: LocalGround, call: Call): Promise<string | null> {
	const {authority, target} = ground;
	const calls: Record<Call, () => Promise<unknown>> = {
		repository: () => authority.repository(target),
		branch: () => authority.branch(target, 'main'),
		issue: () => authority.issue(target, 7),
		approvals: () => authority.approvals(target, 7),
		account: () => authority.account(),
	};
	return (await refusalLater(calls[call]))?.code ?? null;
}

const at = (ground: LocalGround, name: string): string => path.join(ground.directory, name);
const edit = (ground: LocalGround, name: string, change: (text: string) => string): void =>
	writeFileSync(at(ground, name), change(readFileSync(at(ground, name), 'utf8')));
const repo = 'acme/widget';

const spoiled: ReadonlyArray<readonly [string, (ground: LocalGround) => void, Call, string]> = [
	['the authority is gone', g => renameSync(g.directory, `${g.directory}.gone`), 'account', 'CACHE_AUTHORITY_NOT_FOUND'],
	[
		'the authority is a link',
		g => (renameSync(g.directory, `${g.directory}.real`), symlinkSync(`${g.directory}.real`, g.directory)),
		'account',
		'CACHE_AUTHORITY_UNTRUSTED',
	],
	['everybody may write the authority', g => chmodSync(g.directory, 0o777), 'account', 'CACHE_AUTHORITY_UNTRUSTED'],
	['the group may write authority.json', g => chmodSync(at(g, 'authority.json'), 0o664), 'account', 'CACHE_AUTHORITY_UNTRUSTED'],
	['the account is not known', g => edit(g, 'authority.json', text => text.replace('"id": 2', '"id": 3')), 'account', 'CACHE_AUTHORITY_UNAUTHENTICATED'],
	['two accounts share an id', g => edit(g, 'authority.json', text => text.replace('"id": 2', '"id": 1')), 'account', 'CACHE_AUTHORITY_MALFORMED'],
	['two accounts share a login', g => edit(g, 'authority.json', text => text.replace('impl-agent', 'maintainer')), 'account', 'CACHE_AUTHORITY_MALFORMED'],
	['the owner is a link', g => (renameSync(at(g, 'acme'), at(g, 'real')), symlinkSync('real', at(g, 'acme'))), 'repository', 'CACHE_AUTHORITY_UNTRUSTED'],
	['the group may write the owner', g => chmodSync(at(g, 'acme'), 0o770), 'issue', 'CACHE_AUTHORITY_UNTRUSTED'],
	['the repository is not there', g => rmSync(at(g, repo), {recursive: true}), 'repository', 'CACHE_AUTHORITY_NOT_FOUND'],
	['repository.json is not there', g => unlinkSync(at(g, `${repo}/repository.json`)), 'repository', 'CACHE_AUTHORITY_NOT_FOUND'],
	['repository.json has two names', g => linkSync(at(g, `${repo}/repository.json`), at(g, 'second')), 'repository', 'CACHE_AUTHORITY_UNTRUSTED'],
	[
		'repository.json names another owner',
		g => edit(g, `${repo}/repository.json`, text => text.replace('"acme"', '"Acme"')),
		'repository',
		'CACHE_AUTHORITY_MALFORMED',
	],
	[
		'repository.json has an extra key',
		g => edit(g, `${repo}/repository.json`, text => text.replace('{', '{"x": 1,')),
		'repository',
		'CACHE_AUTHORITY_MALFORMED',
	],
	[
		'the default branch is no branch name',
		g => edit(g, `${repo}/repository.json`, text => text.replace('"main"', '"a..b"')),
		'repository',
		'CACHE_AUTHORITY_MALFORMED',
	],
	['the bare repository is a link', g => (renameSync(g.gitDir, at(g, 'real')), symlinkSync(at(g, 'real'), g.gitDir)), 'branch', 'CACHE_AUTHORITY_UNTRUSTED'],
	['the bare repository is not there', g => rmSync(g.gitDir, {recursive: true}), 'branch', 'CACHE_AUTHORITY_NOT_FOUND'],
	['the bare repository has no HEAD', g => unlinkSync(path.join(g.gitDir, 'HEAD')), 'branch', 'CACHE_AUTHORITY_UNREADABLE'],
	['the default branch is gone', g => unlinkSync(path.join(g.gitDir, 'packed-refs')), 'branch', 'CACHE_REPOSITORY_EMPTY'],
	['the issue is not there', g => unlinkSync(at(g, `${repo}/issues/7.json`)), 'issue', 'CACHE_AUTHORITY_NOT_FOUND'],
	['the issue says another number', g => writeRecordText(g, 'issues/7.json', JSON.stringify({...issueText, number: 8})), 'issue', 'CACHE_AUTHORITY_MALFORMED'],
	['the body is null', g => writeRecordText(g, 'issues/7.json', JSON.stringify({...issueText, body: null})), 'issue', 'CACHE_AUTHORITY_MALFORMED'],
	[
		'the body holds half a surrogate pair',
		g => writeRecordText(g, 'issues/7.json', JSON.stringify(issueText).replace('"b"', String.raw`"\udc00"`)),
		'issue',
		'CACHE_AUTHORITY_MALFORMED',
	],
	['the state is another word', g => writeRecordText(g, 'issues/7.json', JSON.stringify({...issueText, state: 'done'})), 'issue', 'CACHE_AUTHORITY_MALFORMED'],
	[
		'a time has an offset',
		g => writeRecordText(g, 'issues/7.json', JSON.stringify({...issueText, updated_at: '2026-01-02T03:04:05+00:00'})),
		'issue',
		'CACHE_AUTHORITY_MALFORMED',
	],
	[
		'approvals are a link',
		g => (rmSync(at(g, `${repo}/approvals`), {recursive: true}), symlinkSync('issues', at(g, `${repo}/approvals`))),
		'approvals',
		'CACHE_AUTHORITY_UNTRUSTED',
	],
	[
		'an approvals file is a directory',
		g => (rmSync(at(g, `${repo}/approvals/7.json`)), mkdirSync(at(g, `${repo}/approvals/7.json`))),
		'approvals',
		'CACHE_AUTHORITY_UNTRUSTED',
	],
	['approvals say another issue', g => writeRecordText(g, 'approvals/7.json', approvals().replace('7', '8')), 'approvals', 'CACHE_AUTHORITY_MALFORMED'],
	['two approvals share an id', g => writeRecordText(g, 'approvals/7.json', approvals(approvalText, approvalText)), 'approvals', 'CACHE_AUTHORITY_MALFORMED'],
	[
		'an approval has an unknown kind',
		g => writeRecordText(g, 'approvals/7.json', approvals({...approvalText, kind: 'merge'})),
		'approvals',
		'CACHE_AUTHORITY_MALFORMED',
	],
	[
		'an approval lacks a key',
		g => writeRecordText(g, 'approvals/7.json', approvals({...approvalText, revoked_at: undefined})),
		'approvals',
		'CACHE_AUTHORITY_MALFORMED',
	],
	[
		'an approval of a push names no head',
		g => writeRecordText(g, 'approvals/7.json', approvals({...approvalText, kind: 'push', branch: 'x'})),
		'approvals',
		'CACHE_AUTHORITY_MALFORMED',
	],
	[
		'an approval of a pull request names no branch',
		g => writeRecordText(g, 'approvals/7.json', approvals({...approvalText, kind: 'pull_request'})),
		'approvals',
		'CACHE_AUTHORITY_MALFORMED',
	],
	[
		'an approval of an implementation names a branch',
		g => writeRecordText(g, 'approvals/7.json', approvals({...approvalText, branch: 'x'})),
		'approvals',
		'CACHE_AUTHORITY_MALFORMED',
	],
	[
		'an approved base is short',
		g => writeRecordText(g, 'approvals/7.json', approvals({...approvalText, base_sha: 'abc1234'})),
		'approvals',
		'CACHE_AUTHORITY_MALFORMED',
	],
];

for (const [title, spoil, call, code] of spoiled) {
	test(`${code}: ${title}`, async t => {
		const ground = await localGround(t);
		spoil(ground);
		t.is(await codeOfCall(ground, call), code);
	});
}

test('a branch that is not there is not found; a default branch that is not there is an empty repository', async t => {
	const {authority, target} = await localGround(t);
	t.is((await refusalLater(() => authority.branch(target, 'none')))?.code, 'CACHE_AUTHORITY_NOT_FOUND');
	t.is((await refusalLater(() => authority.branch(target, '../heads/main')))?.code, 'CACHE_AUTHORITY_NOT_FOUND');
	t.is((await refusalLater(() => authority.branch(target, 'main^')))?.code, 'CACHE_AUTHORITY_NOT_FOUND');
});

test('a repository of another authority is not asked for here', async t => {
	const {authority, target} = await localGround(t);
	const repository = {...(await authority.repository(target)), originUrl: 'file:///elsewhere/acme/widget/repository.git'};
	t.is((await refusalLater(() => authority.advertisedRefs(repository)))?.code, 'CACHE_AUTHORITY_NOT_FOUND');
	t.is((await refusalLater(() => authority.witnessRef(repository, 'refs/heads/main')))?.code, 'CACHE_AUTHORITY_NOT_FOUND');
});

test('a URL in another form opens no authority', async t => {
	const {profile, git} = await localGround(t);
	const other = {...profile, provider: {...profile.provider, url: '/srv/authority'}};
	t.is(
		codeOf(() => openLocalAuthority(other, git)),
		'CACHE_AUTHORITY_MALFORMED',
	);
});

test('planted hooks, aliases and settings of the bare repository never run while it is read', async t => {
	const {authority, target, gitDir, base} = await localGround(t);
	const proof = path.join(base, 'ran');
	const program = `touch ${proof}; exit 1`;
	mkdirSync(path.join(gitDir, 'hooks'), {recursive: true});
	for (const name of ['post-checkout', 'reference-transaction', 'pre-receive']) {
		writeFileSync(path.join(gitDir, 'hooks', name), `#!/bin/sh\n${program}\n`, {mode: 0o755});
	}

	writeFileSync(
		path.join(gitDir, 'config'),
		`[core]\n\tbare = true\n\tfsmonitor = "${program}"\n\tsshCommand = "${program}"\n\tpager = "${program}"\n\talternateRefsCommand = "${program}"\n[alias]\n\trev-parse = "!${program}"\n\tfor-each-ref = "!${program}"\n`,
		{mode: 0o600},
	);
	const repository = await authority.repository(target);
	await authority.branch(target, 'main');
	await authority.advertisedRefs(repository);
	await authority.witnessRef(repository, 'refs/heads/main');
	t.throws(() => readFileSync(proof), {code: 'ENOENT'});
});
