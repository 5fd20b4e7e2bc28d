import {chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {runCli} from '../helpers/run-cli.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

test('init lays out a new root, and says so when it is there already', async t => {
	const root = path.join(temporaryDirectory(t), 'root');
	const contractPath = path.join(root, 'harness/operations/repository-cache.md');
	const first = await runCli(['init', '--root', root]);
	t.is(first.exitCode, 0);
	t.is(first.stdout, `laid out the root ${root}\ncontract ${contractPath}\n`);
	const text = readFileSync(contractPath, 'utf8');
	const {mtimeMs} = statSync(contractPath);
	const again = await runCli(['init', '--contract-path', contractPath, '--json']);
	t.is(again.exitCode, 0);
	t.deepEqual(again.json(), {root, contract_path: contractPath, outcome: 'already-there'});
	t.is(readFileSync(contractPath, 'utf8'), text);
	t.is(statSync(contractPath).mtimeMs, mtimeMs);
});

test('a slash that a shell completes after the root is understood', async t => {
	const root = path.join(temporaryDirectory(t), 'root');
	t.is((await runCli(['init', '--root', `${root}/`])).exitCode, 0);
});

for (const [title, prepare, args, code, exitCode] of [
	['without a root', () => {}, [], 'CLI_USAGE', 2],
	['with a relative root', () => {}, ['--root', 'here'], 'CACHE_ROOT_INVALID', 3],
	['with a root that climbs', () => {}, ['--root', '@/a/../b'], 'CACHE_ROOT_INVALID', 3],
	['with a doubled slash', () => {}, ['--root', '@//b'], 'CACHE_ROOT_INVALID', 3],
	['with another contract file', () => {}, ['--contract-path', '@/harness/contract.md'], 'CACHE_ROOT_INVALID', 3],
	['twice in one call', () => {}, ['--root', '@/a', '--root', '@/b'], 'CLI_USAGE', 2],
	['through a link', base => symlinkSync('.', path.join(base, 'link')), ['--root', '@/link/root'], 'CACHE_ROOT_INVALID', 3],
	['over a file', base => writeFileSync(path.join(base, 'file'), ''), ['--root', '@/file'], 'CACHE_ROOT_INVALID', 3],
	['without a parent', () => {}, ['--root', '@/none/root'], 'CACHE_WRITE_FAILED', 3],
	[
		'in a directory that everybody may write',
		base => {
			mkdirSync(path.join(base, 'open'));
			chmodSync(path.join(base, 'open'), 0o777);
		},
		['--root', '@/open'],
		'CACHE_ROOT_INVALID',
		3,
	],
] as const satisfies ReadonlyArray<readonly [string, (base: string) => unknown, readonly string[], string, number]>) {
	test(`init ${title} is refused with ${code}`, async t => {
		const base = temporaryDirectory(t);
		prepare(base);
		const argv = ['init', ...args.map(arg => arg.replace('@', base))];
		const plain = await runCli(argv);
		t.is(plain.exitCode, exitCode);
		t.is(plain.stdout, '');
		t.regex(plain.stderr, new RegExp(`^bailiff: ${code}: .{10}`));
		const json = await runCli([...argv, '--json']);
		t.is(json.exitCode, exitCode);
		t.like(json.json(), {error: {code}});
	});
}
