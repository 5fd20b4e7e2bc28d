import {existsSync, readdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {sha256Hex} from '../../core/digest.ts';
import {makeRepository} from '../helpers/repository.ts';
import {runCli} from '../helpers/run-cli.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

test('from a checkout to an approved issue and a profile in four commands', async t => {
	const base = temporaryDirectory(t);
	const {path: source, sha} = makeRepository(path.join(base, 'source'), {a: 'a'});
	const authority = path.join(base, 'the authority');
	const body = 'Line one\r\nLine two\n';
	writeFileSync(path.join(base, 'issue.md'), body);
	const bailiff = (...args: string[]) => runCli(args, {cwd: base});
	const on = ['--authority', authority, '--target', 'acme/widget#7'];

	const laidOut = await bailiff('local', 'init', '--authority', authority, '--owner', 'acme', '--repository', 'widget', '--from', source, '--json');
	t.is(laidOut.stderr, '');
	t.is(laidOut.exitCode, 0);
	t.deepEqual(laidOut.json(), {
		authority,
		url: `file://${base}/the%20authority`,
		owner: 'acme',
		repository: 'widget',
		origin: `file://${base}/the%20authority/acme/widget/repository.git`,
		default_branch: {name: 'main', sha},
		accounts: [
			{id: 1, login: 'maintainer'},
			{id: 2, login: 'impl-agent'},
		],
	});
	const issue = await bailiff('local', 'issue', ...on, '--title', 'Count words', '--body-file', 'issue.md', '--as', 'maintainer', '--json');
	t.like(issue.json(), {created: true, state: 'open', body_sha256: sha256Hex(body)});
	const approved = await bailiff('local', 'approve', ...on, '--kind', 'implementation', '--as', 'maintainer', '--json');
	t.like(approved.json(), {approval: {id: 1, kind: 'implementation', account_id: 1, body_sha256: sha256Hex(body), revoked_at: null}});
	const role = ['--role', 'impl-agent', '--login', 'impl-agent', '--account-id', '2', '--approver', '1'];
	const made = await bailiff('profile', 'new', '--profile', 'profile', '--kind', 'local', '--url', authority, ...role, '--json');
	t.deepEqual(made.json(), {
		profile: path.join(base, 'profile'),
		role: 'impl-agent',
		provider: {kind: 'local', url: `file://${base}/the%20authority`},
		token_key: null,
	});
	t.deepEqual(readdirSync(path.join(base, 'profile')), ['profile.json']);

	const again = await bailiff('local', 'init', '--authority', authority, '--owner', 'acme', '--repository', 'widget', '--from', source);
	t.is(again.exitCode, 3);
	t.regex(again.stderr, /^bailiff: PUBLISH_LOCAL_EXISTS: /);
});

test('a forge’s profile says which line .env needs', async t => {
	const directory = path.join(temporaryDirectory(t), 'profile');
	const args = [
		'profile',
		'new',
		'--profile',
		directory,
		'--kind',
		'gitea',
		'--url',
		'https://git.example.test/',
		'--role',
		'r',
		'--login',
		'l',
		'--account-id',
		'2',
	];
	const made = await runCli([...args, '--approver', '1', '--approver', '3']);
	t.is(made.exitCode, 0);
	t.regex(made.stderr, /GITEA_TOKEN=VALUE into .*\.env, mode 0600/);
	t.is((await runCli([...args, '--approver', '1'])).exitCode, 3);
});

for (const [title, args, exitCode, code] of [
	[
		'no approver',
		['profile', 'new', '--profile', '@/p', '--kind', 'local', '--url', '/srv/a', '--role', 'r', '--login', 'l', '--account-id', '2'],
		3,
		'CACHE_PROFILE_INVALID',
	],
	[
		'an approver that is a name',
		['profile', 'new', '--profile', '@/p', '--kind', 'local', '--url', '/srv/a', '--role', 'r', '--login', 'l', '--account-id', '2', '--approver', 'me'],
		2,
		'CLI_USAGE',
	],
	[
		'an unknown kind',
		['profile', 'new', '--profile', '@/p', '--kind', 'svn', '--url', 'x', '--role', 'r', '--login', 'l', '--account-id', '2'],
		2,
		'CLI_USAGE',
	],
	[
		'account 0',
		['profile', 'new', '--profile', '@/p', '--kind', 'local', '--url', '/srv/a', '--role', 'r', '--login', 'l', '--account-id', '0'],
		2,
		'CLI_USAGE',
	],
	[
		'a body that is no text',
		['local', 'issue', '--authority', '@/a', '--target', 'a/b#1', '--title', 't', '--body-file', '@/binary', '--as', 'x'],
		3,
		'CORE_JSON_UTF8',
	],
	[
		'no authority',
		['local', 'issue', '--authority', '@/a', '--target', 'a/b#1', '--title', 't', '--body-file', '@/text', '--as', 'x'],
		3,
		'CACHE_AUTHORITY_NOT_FOUND',
	],
	['an unknown kind of approval', ['local', 'approve', '--authority', '@/a', '--target', 'a/b#1', '--kind', 'merge', '--as', 'x'], 2, 'CLI_USAGE'],
] as const) {
	test(`${code}: ${title}`, async t => {
		const base = temporaryDirectory(t);
		writeFileSync(path.join(base, 'binary'), Buffer.from([0xff, 0xfe]));
		writeFileSync(path.join(base, 'text'), 'text');
		const result = await runCli([...args.map(arg => arg.replace('@', base)), '--json']);
		t.is(result.exitCode, exitCode);
		t.like(result.json(), {error: {code}});
		t.false(existsSync(path.join(base, 'p')));
		t.false(existsSync(path.join(base, 'a')));
	});
}
