import {readdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {makeRepository} from '../helpers/repository.ts';
import {runCli} from '../helpers/run-cli.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const makefile = {Makefile: 'test:\n\ttrue\n'};

test('plan new makes a plan of the commit that plan check accepts, on stdout or in a new file', async t => {
	const directory = temporaryDirectory(t);
	const {path: checkout, sha} = makeRepository(path.join(directory, 'checkout'), makefile);
	const printed = await runCli(['plan', 'new', '--repo-root', checkout, '--target', 'acme/widget#7']);
	t.is(printed.exitCode, 0);
	t.is(printed.stderr, '');
	t.like(JSON.parse(printed.stdout), {owner: 'acme', repository: 'widget', issue: 7, source_sha: sha, commands: [{id: 'make-test', argv: ['make', 'test']}]});
	const output = path.join(directory, 'plan.json');
	const flags = ['--owner', 'acme', '--repository', 'widget', '--issue', '7', '--output', output];
	const written = await runCli(['plan', 'new', '--repo-root', 'checkout', ...flags], {cwd: directory});
	t.is(written.stdout, `wrote ${output}: make-test\n`);
	t.is((await runCli(['plan', 'check', output])).exitCode, 0);
	t.is((await runCli(['plan', 'new', '--repo-root', checkout, ...flags])).exitCode, 3);
	t.deepEqual(readdirSync(checkout).toSorted(), ['.git', 'Makefile']);
});

test('what is guessed is said on stderr, and in the notes of --json', async t => {
	const {path: checkout, git} = makeRepository(path.join(temporaryDirectory(t), 'checkout'), makefile);
	git('remote', 'add', 'origin', 'https://user:secret@forge.example.invalid/acme/widget.git');
	writeFileSync(path.join(checkout, 'untracked'), '');
	const plain = await runCli(['plan', 'new', '--repo-root', checkout]);
	t.like(JSON.parse(plain.stdout), {owner: 'acme', repository: 'widget', issue: 1});
	t.regex(
		plain.stderr,
		/note: owner and repository are a guess from the origin: acme\/widget\nnote: issue 1 only holds the place.*\nnote: one path differs from HEAD/,
	);
	const json = await runCli(['plan', 'new', '--repo-root', checkout, '--json']);
	t.is(json.stderr, '');
	t.is((json.json()['notes'] as string[]).length, 3);
	t.false(`${plain.stdout}${plain.stderr}${json.stdout}`.includes('secret'));
});

for (const [title, files, args, code, exitCode] of [
	['no known project', {'README.md': ''}, ['--target', 'acme/widget#7'], 'CLI_NOTHING_FOUND', 3],
	['no target and no origin', makefile, [], 'CLI_USAGE', 2],
	['an output inside the checkout', makefile, ['--target', 'acme/widget#7', '--output', '@/plan.json'], 'CLI_USAGE', 2],
	['an unsafe owner', makefile, ['--target', '../widget#7'], 'CORE_ID_OWNER', 2],
] as const satisfies ReadonlyArray<readonly [string, Record<string, string>, readonly string[], string, number]>) {
	test(`plan new with ${title} is refused with ${code}`, async t => {
		const {path: checkout} = makeRepository(path.join(temporaryDirectory(t), 'checkout'), files);
		const {exitCode: ended, stderr, stdout} = await runCli(['plan', 'new', '--repo-root', checkout, ...args.map(arg => arg.replace('@', checkout))]);
		t.is(ended, exitCode);
		t.is(stdout, '');
		t.regex(stderr, new RegExp(`^bailiff: ${code}: `));
	});
}

test('a directory that is no checkout is refused', async t => {
	const {exitCode, stderr} = await runCli(['plan', 'new', '--repo-root', temporaryDirectory(t), '--target', 'acme/widget#7']);
	t.is(exitCode, 3);
	t.regex(stderr, /CACHE_CHECKOUT_INVALID/);
});

test('a newcomer has a first run after three commands: init, plan new, run', async t => {
	const directory = temporaryDirectory(t);
	const {path: checkout} = makeRepository(path.join(directory, 'checkout'), makefile);
	const [root, plan] = [path.join(directory, 'root'), path.join(directory, 'plan.json')];
	t.is((await runCli(['init', '--root', root])).exitCode, 0);
	t.is((await runCli(['plan', 'new', '--repo-root', checkout, '--target', 'acme/widget#7', '--output', plan])).exitCode, 0);
	const {exitCode, stdout, stderr} = await runCli(['run', '--root', root, '--repo-root', checkout, '--plan', plan]);
	t.is(exitCode, 0, stderr);
	t.regex(stdout, /^passed: /);
});
