import {chmodSync, mkdirSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {localGround} from '../helpers/local-authority.ts';
import {runCli} from '../helpers/run-cli.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

test('doctor ends with 0 where a run can work, in a table and in JSON', async t => {
	const root = path.join(temporaryDirectory(t), 'root');
	await runCli(['init', '--root', root]);
	const plain = await runCli(['doctor', '--root', root]);
	t.is(plain.exitCode, 0, plain.stdout);
	t.regex(plain.stdout, /^ok {4}node +\d+\./m);
	t.regex(plain.stdout, /^ok {4}flock /m);
	t.regex(plain.stdout, /\n\na run can work here\n$/);
	const json = await runCli(['doctor', '--json']);
	t.is(json.exitCode, 0);
	t.is(json.stderr, '');
	t.is(json.json()['fit'], true);
});

test('doctor ends with 1 and the mend where a root would refuse every run', async t => {
	const root = path.join(temporaryDirectory(t), 'root');
	await runCli(['init', '--root', root]);
	mkdirSync(path.join(root, 'repositories'));
	chmodSync(path.join(root, 'repositories'), 0o777);
	const {exitCode, stdout} = await runCli(['doctor', '--root', root]);
	t.is(exitCode, 1);
	t.regex(stdout, /^fail {2}repositories +CACHE_PATH_UNTRUSTED: .*chmod 0?700/m);
	t.regex(stdout, /no run can work here before the failures above are mended\n$/);
});

test('doctor refuses a root that is named by a relative path', async t => {
	t.is((await runCli(['doctor', '--root', 'here'])).exitCode, 3);
});

test('doctor looks at a role, too, and names what is wrong with it', async t => {
	const {profile} = await localGround(t);
	const plain = await runCli(['doctor', '--profile', profile.directory]);
	t.is(plain.exitCode, 0, plain.stdout);
	t.regex(plain.stdout, /^ok {4}authority +takes us for impl-agent \(2\) by file-ownership$/m);
	chmodSync(profile.directory, 0o755);
	const spoiled = await runCli(['doctor', '--profile', profile.directory]);
	t.is(spoiled.exitCode, 1);
	t.regex(spoiled.stdout, /^fail {2}profile +CACHE_PATH_UNTRUSTED: .*0700/m);
});
