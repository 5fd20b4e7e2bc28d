import {chmodSync, linkSync, lstatSync, mkdirSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import type {Account} from '../../cache/authority.ts';
import {confirmAccount, createProfile, type ProfileDocument, readProfile, readProfileToken, tokenKeyOf} from '../../cache/profile.ts';
import {localGround} from '../helpers/local-authority.ts';
import {codeOf, refusalLater, refusalOf} from '../helpers/refusal.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const local: ProfileDocument = {
	schema: 'bailiff.profile/v1',
	role: 'impl-agent',
	provider: {kind: 'local', url: 'file:///srv/authority'},
	login: 'impl-agent',
	account_id: 2,
	approvers: [1],
};
const forge: ProfileDocument = {...local, provider: {kind: 'gitea', url: 'https://git.example.test/forge/'}};
const token = 'a-token-that-nobody-may-see';

function made(t: ExecutionContext, document: ProfileDocument): string {
	const directory = path.join(temporaryDirectory(t), 'profile');
	createProfile(directory, document);
	if (document.provider.kind !== 'local') {
		writeFileSync(path.join(directory, '.env'), `# for the agent\n\n${tokenKeyOf(document.provider.kind) ?? ''}=${token}\n`, {mode: 0o600});
	}

	return directory;
}

test('a new profile is 0700 with a file of 0600, and reads as it was written', t => {
	const directory = made(t, local);
	t.is(lstatSync(directory).mode & 0o7777, 0o700);
	t.is(lstatSync(path.join(directory, 'profile.json')).mode & 0o7777, 0o600);
	t.deepEqual(readProfile(directory), {
		directory,
		role: 'impl-agent',
		provider: {kind: 'local', url: 'file:///srv/authority', caFile: null},
		login: 'impl-agent',
		accountId: 2,
		approvers: [1],
	});
	t.is(
		codeOf(() => createProfile(directory, {...local, role: 'other'})),
		'CACHE_PROFILE_EXISTS',
	);
	t.is(readProfile(directory).role, 'impl-agent');
});

for (const [title, change] of [
	['a role in capitals', {role: 'Impl'}],
	['a role of 65 characters', {role: 'a'.repeat(65)}],
	['account 0', {account_id: 0}],
	['an account with a fraction', {account_id: 1.5}],
	['no approver', {approvers: []}],
	['an approver twice', {approvers: [1, 1]}],
	['a login with a quote', {login: "o'brien"}],
	['a login with an @', {login: 'a@b'}],
	['a path for a local URL', {provider: {kind: 'local', url: '/srv/authority'}}],
	['a local URL with a raw blank', {provider: {kind: 'local', url: 'file:///srv/the authority'}}],
	['a local URL with a slash at the end', {provider: {kind: 'local', url: 'file:///srv/authority/'}}],
	['a local URL that climbs', {provider: {kind: 'local', url: 'file:///srv/x/../authority'}}],
	['a local URL with a host', {provider: {kind: 'local', url: 'file://host/srv/authority'}}],
	['the file system as authority', {provider: {kind: 'local', url: 'file:///'}}],
	['a CA for a local authority', {provider: {kind: 'local', url: 'file:///srv/authority', ca_file: 'ca.pem'}}],
	['http', {provider: {kind: 'gitea', url: 'http://git.example.test/'}}],
	['a URL with a user', {provider: {kind: 'gitea', url: 'https://me@git.example.test/'}}],
	['a URL with a password', {provider: {kind: 'gitea', url: 'https://me:secret@git.example.test/'}}],
	['a URL with a query', {provider: {kind: 'gitea', url: 'https://git.example.test/?a=b'}}],
	['a URL with a fragment', {provider: {kind: 'gitea', url: 'https://git.example.test/#a'}}],
	['a URL without the last slash', {provider: {kind: 'gitea', url: 'https://git.example.test'}}],
	['a URL with capitals in the host', {provider: {kind: 'gitea', url: 'https://Git.example.test/'}}],
	['a URL with the default port', {provider: {kind: 'gitea', url: 'https://git.example.test:443/'}}],
] as const) {
	test(`refused when it is written and when it is read: ${title}`, t => {
		const document: ProfileDocument = {...local, ...change, approvers: 'approvers' in change ? [...change.approvers] : [1]};
		const directory = path.join(temporaryDirectory(t), 'profile');
		t.is(
			codeOf(() => createProfile(directory, document)),
			'CACHE_PROFILE_INVALID',
		);
		t.is(lstatSync(directory, {throwIfNoEntry: false}), undefined);
		mkdirSync(directory, {mode: 0o700});
		writeFileSync(path.join(directory, 'profile.json'), JSON.stringify(document));
		const refusal = refusalOf(() => readProfile(directory));
		t.is(refusal?.code, 'CACHE_PROFILE_INVALID');
		t.false(JSON.stringify(refusal).includes('secret'));
	});
}

for (const [title, spoil, code] of [
	['that is not there', directory => renameSync(directory, `${directory}.gone`), 'CACHE_PATH_MISSING'],
	['of mode 0750', directory => chmodSync(directory, 0o750), 'CACHE_PATH_UNTRUSTED'],
	['behind a link', directory => (renameSync(directory, `${directory}.real`), symlinkSync(`${directory}.real`, directory)), 'CACHE_PATH_UNTRUSTED'],
	['without profile.json', directory => unlinkSync(path.join(directory, 'profile.json')), 'CACHE_PROFILE_INVALID'],
	['whose file everybody may write', directory => chmodSync(path.join(directory, 'profile.json'), 0o666), 'CACHE_PATH_UNTRUSTED'],
	['whose file has two names', directory => linkSync(path.join(directory, 'profile.json'), `${directory}.json`), 'CACHE_PATH_UNTRUSTED'],
	['with an unknown key', directory => writeFileSync(path.join(directory, 'profile.json'), JSON.stringify({...local, token: 'x'})), 'CACHE_PROFILE_INVALID'],
	['of kind local with an .env that nobody reads', directory => writeFileSync(path.join(directory, '.env'), ''), 'CACHE_CREDENTIAL_INVALID'],
] as const satisfies ReadonlyArray<readonly [string, (directory: string) => void, string]>) {
	test(`a profile is refused ${title}`, t => {
		const directory = made(t, local);
		spoil(directory);
		t.is(
			codeOf(() => readProfile(directory)),
			code,
		);
	});
}

test('a profile is named by its plain absolute path', t => {
	t.is(
		codeOf(() => readProfile('profile')),
		'CACHE_PROFILE_INVALID',
	);
	t.is(
		codeOf(() => readProfile(`${made(t, local)}/`)),
		'CACHE_PROFILE_INVALID',
	);
});

test('a forge’s profile needs its .env; the token is read afresh each time', t => {
	const directory = made(t, forge);
	const profile = readProfile(directory);
	t.false(JSON.stringify(profile).includes(token));
	t.is(readProfileToken(profile), token);
	writeFileSync(path.join(directory, '.env'), 'GITEA_TOKEN=another\n');
	t.is(readProfileToken(profile), 'another');
	unlinkSync(path.join(directory, '.env'));
	t.is(
		codeOf(() => readProfileToken(profile)),
		'CACHE_CREDENTIAL_INVALID',
	);
	t.is(
		codeOf(() => readProfile(directory)),
		'CACHE_CREDENTIAL_INVALID',
	);
});

for (const [title, text] of [
	['nothing', ''],
	['another key', `GITHUB_TOKEN=${token}\n`],
	['two tokens', `GITEA_TOKEN=${token}\nGITEA_TOKEN=${token}\n`],
	['a second variable', `GITEA_TOKEN=${token}\nDEBUG=1\n`],
	['export', `export GITEA_TOKEN=${token}\n`],
	['double quotes', `GITEA_TOKEN="${token}"\n`],
	['single quotes', `GITEA_TOKEN='${token}'\n`],
	['a blank before', ` GITEA_TOKEN=${token}\n`],
	['a blank inside', `GITEA_TOKEN=a ${token}\n`],
	['a carriage return', `GITEA_TOKEN=${token}\r\n`],
	['an empty value', 'GITEA_TOKEN=\n'],
	['4097 characters', `GITEA_TOKEN=${'a'.repeat(4097)}\n`],
	['a letter outside ASCII', `GITEA_TOKEN=${token}ä\n`],
] as const) {
	test(`a token file that holds ${title} is refused without a word of it`, t => {
		const directory = made(t, forge);
		writeFileSync(path.join(directory, '.env'), text);
		const refusal = refusalOf(() => readProfileToken(readProfile(directory)));
		t.is(refusal?.code, 'CACHE_CREDENTIAL_INVALID');
		t.false(`${refusal?.message}${JSON.stringify(refusal?.details)}`.includes(token));
	});
}

for (const [title, spoil] of [
	['0640', (file: string) => chmodSync(file, 0o640)],
	['a link', (file: string) => (renameSync(file, `${file}.real`), symlinkSync(`${file}.real`, file))],
	['two names', (file: string) => linkSync(file, `${file}.2`)],
] as const) {
	test(`a token file is refused with ${title}`, t => {
		const directory = made(t, forge);
		spoil(path.join(directory, '.env'));
		t.is(
			codeOf(() => readProfileToken(readProfile(directory))),
			'CACHE_PATH_UNTRUSTED',
		);
	});
}

test('the CA file is a name in the profile or an absolute path, and nobody else may write it', t => {
	const directory = made(t, {...forge, provider: {...forge.provider, ca_file: 'ca.pem'}});
	t.is(
		codeOf(() => readProfile(directory)),
		'CACHE_PROFILE_INVALID',
	);
	const file = path.join(directory, 'ca.pem');
	writeFileSync(file, 'pem', {mode: 0o644});
	t.is(readProfile(directory).provider.caFile, file);
	chmodSync(file, 0o666);
	t.is(
		codeOf(() => readProfile(directory)),
		'CACHE_PATH_UNTRUSTED',
	);
	const climbing = made(t, {...forge, provider: {...forge.provider, ca_file: '../ca.pem'}});
	t.is(
		codeOf(() => readProfile(climbing)),
		'CACHE_PROFILE_INVALID',
	);
});

test('the authority must answer as the account of the profile, by id and by login', async t => {
	const {profile, authority} = await localGround(t);
	t.deepEqual(await confirmAccount(profile, authority), {id: 2, login: 'impl-agent', authenticated: 'file-ownership'});
	for (const answer of [
		{id: 3, login: 'impl-agent'},
		{id: 2, login: 'Impl-Agent'},
	]) {
		const account = async (): Promise<Account> => ({...answer, authenticated: 'token'});
		const refusal = await refusalLater(() => confirmAccount(profile, {...authority, account}));
		t.is(refusal?.code, 'CACHE_ACCOUNT_MISMATCH');
		t.deepEqual(refusal?.details['found'], answer);
	}
});

test('nothing of a profile stays in the message of a file that is no JSON', t => {
	const directory = made(t, local);
	writeFileSync(path.join(directory, 'profile.json'), `GITEA_TOKEN=${token}`);
	const refusal = refusalOf(() => readProfile(directory));
	t.is(refusal?.code, 'CACHE_PROFILE_INVALID');
	t.false(JSON.stringify(refusal).includes(token));
	t.true(readFileSync(path.join(directory, 'profile.json'), 'utf8').includes(token));
});
