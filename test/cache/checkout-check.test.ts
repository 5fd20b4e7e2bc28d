import {execFileSync} from 'node:child_process';
import {
	appendFileSync,
	chmodSync,
	chownSync,
	existsSync,
	lstatSync,
	mkdirSync,
	readFileSync,
	renameSync,
	rmSync,
	symlinkSync,
	unlinkSync,
	utimesSync,
	writeFileSync,
} from 'node:fs';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {noCommit, openCheckout} from '../../cache/checkout-check.ts';
import {at, gitWithInput, makeCheckout, sharedGit, tryTo, type Verdict, verdictOf, write} from '../helpers/checkout.ts';
import {makeRepository, type TestRepository} from '../helpers/repository.ts';

test('verify() refuses a foreign repository inside, whatever its own .git is called', async t => {
	const repository = makeCheckout(t);
	makeRepository(at(repository, 'inner'), {});
	write(repository, 'src/.git', 'gitdir: ../.git\n');
	const verdict = await verdictOf(repository.path, repository.sha);
	t.true(verdict.paths.includes('untracked inner/.git/HEAD'));
	t.regex(verdict.message, / and \d+ others/);
	rmSync(at(repository, 'inner'), {recursive: true});
	t.deepEqual((await verdictOf(repository.path, repository.sha)).paths, ['untracked src/.git']);
});

const traps: ReadonlyArray<readonly [name: string, plant: (repository: TestRepository) => void, paths: readonly string[]]> = [
	['a pipe for an untracked .gitignore', repository => makePipe(at(repository, 'src/.gitignore')), ['untracked src/.gitignore']],
	[
		'a pipe for the committed .gitignore',
		repository => (unlinkSync(at(repository, '.gitignore')), makePipe(at(repository, '.gitignore'))),
		['type .gitignore'],
	],
	[
		'a pipe for info/exclude',
		repository => (
			rmSync(at(repository, '.git/info'), {recursive: true, force: true}),
			mkdirSync(at(repository, '.git/info')),
			makePipe(at(repository, '.git/info/exclude')),
			write(repository, 'x.log', 'x')
		),
		['untracked x.log'],
	],
	['a pipe for a tracked file', repository => (unlinkSync(at(repository, 'a.txt')), makePipe(at(repository, 'a.txt'))), ['type a.txt']],
	[
		'a link for the committed .gitignore that leads to a pipe',
		repository => (
			unlinkSync(at(repository, '.gitignore')),
			makePipe(`${repository.path}-pipe`),
			symlinkSync(`${repository.path}-pipe`, at(repository, '.gitignore')),
			write(repository, 'y', 'x')
		),
		['type .gitignore', 'untracked y'],
	],
];
for (const [name, plant, paths] of traps) {
	test(`verify() does not wait for ${name}`, async t => {
		const repository = makeCheckout(t);
		plant(repository);
		t.deepEqual((await verdictOf(repository.path, repository.sha)).paths, paths);
	});
}

const refusedPipes = ['index', 'config', 'HEAD'];
for (const name of refusedPipes) {
	test(`verify() does not wait for a pipe in place of .git/${name}`, async t => {
		const repository = makeCheckout(t);
		rmSync(at(repository, `.git/${name}`));
		makePipe(at(repository, `.git/${name}`));
		t.true(['CACHE_CHECKOUT_UNSUPPORTED', 'RUN_SOURCE_MISMATCH'].includes((await verdictOf(repository.path, repository.sha)).code ?? ''));
	});
}

function makePipe(file: string): void {
	execFileSync('mkfifo', [file]);
}

test('verify() gives the tree of the commit', async t => {
	const repository = makeCheckout(t);
	const checkout = openCheckout({git: await sharedGit(), path: repository.path, isCanonical: true});
	t.deepEqual(await checkout.verify(repository.sha), {tree: repository.git('rev-parse', 'HEAD^{tree}').trim()});
	t.true(checkout.isCanonical);
});

test('verify() names ten paths and counts all', async t => {
	const repository = makeCheckout(t);
	for (let n = 10; n < 35; n++) {
		write(repository, `new-${n}`, 'x');
	}

	const verdict = await verdictOf(repository.path, repository.sha);
	t.is(verdict.paths.length, 10);
	t.is(verdict.count, 25);
	t.regex(verdict.message, /untracked "new-10", .*"new-19" and 15 others/);
});

test('verify() shows names that are no text without sending them to the terminal', async t => {
	const repository = makeCheckout(t);
	writeFileSync(Buffer.concat([Buffer.from(`${repository.path}/`), Buffer.from([0x6e, 0xff, 0x1b, 0x5b])]), 'x');
	const verdict = await verdictOf(repository.path, repository.sha);
	t.is(verdict.count, 1);
	t.true(verdict.message.includes(String.raw`untracked "n\\xff\u001b["`), verdict.message);
});

test('verify() proves tracked names of any bytes', async t => {
	const repository = makeCheckout(t, {'new\nline': 'a', '-dash': 'b', '"quote"': 'c', 'ümlaut/日本': 'd', ' blank ': 'e', ':(top)x': 'f'});
	const raw = Buffer.concat([Buffer.from(`${repository.path}/`), Buffer.from([0xff, 0xfe])]);
	mkdirSync(raw);
	const file = Buffer.concat([raw, Buffer.from([0x2f, 0xe9])]);
	writeFileSync(file, 'x');
	repository.git('add', '-A');
	repository.git('commit', '-qm', 'x');
	const sha = repository.git('rev-parse', 'HEAD').trim();
	const checkout = openCheckout({git: await sharedGit(), path: repository.path, isCanonical: false});
	await t.notThrowsAsync(checkout.verify(sha));
	writeFileSync(file, 'y');
	t.is((await checkout.drift()).trackedChanges, 1);
	const verdict = await verdictOf(repository.path, sha);
	t.regex(verdict.message, /changed "\\\\xff\\\\xfe\/\\\\xe9"/);
});

test('verify() refuses a HEAD at another commit and says how to go there', async t => {
	const repository = makeCheckout(t);
	repository.git('commit', '-q', '--allow-empty', '-m', 'second');
	const verdict = await verdictOf(repository.path, repository.sha);
	t.is(verdict.code, 'RUN_SOURCE_MISMATCH');
	t.regex(verdict.message, new RegExp(`git checkout --detach ${repository.sha}$`));
});

test('verify() refuses an unborn branch', async t => {
	const repository = makeCheckout(t);
	repository.git('checkout', '-q', '--orphan', 'fresh');
	t.is((await verdictOf(repository.path, repository.sha)).code, 'RUN_SOURCE_MISMATCH');
});

test('verify() is not taken in by a replaced commit', async t => {
	const repository = makeCheckout(t);
	write(repository, 'a.txt', 'evil\n');
	repository.git('commit', '-qam', 'evil');
	const evil = repository.git('rev-parse', 'HEAD').trim();
	repository.git('checkout', '-q', '--detach', repository.sha);
	repository.git('replace', repository.sha, evil);
	repository.git('config', 'core.useReplaceRefs', 'true');
	repository.git('checkout', '-q', '-f', repository.sha);
	repository.git('reset', '-q', '--hard', repository.sha);
	t.is(readFileSync(at(repository, 'a.txt'), 'utf8'), 'evil\n');
	t.is(repository.git('status', '--porcelain'), '');
	t.deepEqual((await verdictOf(repository.path, repository.sha)).paths, ['staged a.txt']);
});

test('verify() is not taken in by a forged tree object', async t => {
	const repository = makeCheckout(t);
	const tree = repository.git('rev-parse', 'HEAD^{tree}').trim();
	const evilBlob = gitWithInput(repository, ['hash-object', '-w', '--stdin'], 'evil\n');
	const listing = repository.git('ls-tree', 'HEAD').replace(/[0-9a-f]{40}(?=\ta\.txt)/, evilBlob);
	const evilTree = gitWithInput(repository, ['mktree'], listing);
	repository.git('read-tree', '--reset', '-u', evilTree);
	const loose = (id: string) => at(repository, `.git/objects/${id.slice(0, 2)}/${id.slice(2)}`);
	chmodSync(loose(tree), 0o600);
	writeFileSync(loose(tree), readFileSync(loose(evilTree)));
	t.is(readFileSync(at(repository, 'a.txt'), 'utf8'), 'evil\n');
	t.is((await verdictOf(repository.path, repository.sha)).code, 'CACHE_OBJECT_INVALID');
});

test('verify() accepts a shallow clone', async t => {
	const repository = makeCheckout(t);
	const clone = `${repository.path}-shallow`;
	repository.git('clone', '-q', '--depth=1', `file://${repository.path}`, clone);
	t.true(existsSync(path.join(clone, '.git/shallow')));
	t.is((await verdictOf(clone, repository.sha)).code, null);
});

test('verify() accepts a linked worktree and watches its own HEAD', async t => {
	const repository = makeCheckout(t);
	const linked = `${repository.path}-linked`;
	repository.git('worktree', 'add', '-q', '--detach', linked);
	const checkout = openCheckout({git: await sharedGit(), path: linked, isCanonical: false});
	await t.notThrowsAsync(checkout.verify(repository.sha));
	repository.git('commit', '-q', '--allow-empty', '-m', 'elsewhere');
	t.deepEqual(await checkout.drift(), {head: repository.sha, trackedChanges: 0});
	repository.git('-C', linked, 'checkout', '-q', 'HEAD~0');
	repository.git('-C', linked, 'commit', '-q', '--allow-empty', '-m', 'here');
	t.not((await checkout.drift()).head, repository.sha);
});

test('verify() accepts a worktree of a bare mirror', async t => {
	const repository = makeCheckout(t);
	const mirror = `${repository.path}.git`;
	repository.git('clone', '-q', '--mirror', `file://${repository.path}`, mirror);
	repository.git('--git-dir', mirror, 'worktree', 'add', '-q', '--detach', `${repository.path}-linked`, repository.sha);
	t.is((await verdictOf(`${repository.path}-linked`, repository.sha)).code, null);
});

const formats: ReadonlyArray<readonly [name: string, init: readonly string[], config: string, pattern: RegExp]> = [
	['sha256 ids', ['--object-format=sha256'], '', /sha256 object ids/],
	['reftable', [], '[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = reftable\n', /references as reftable/],
];
for (const [name, init, config, pattern] of formats) {
	test(`verify() refuses a repository with ${name} in clear words`, async t => {
		const repository = makeCheckout(t);
		const other = `${repository.path}-other`;
		repository.git('init', '-q', ...init, other);
		if (config !== '') {
			writeFileSync(path.join(other, '.git/config'), config);
		}

		// What HEAD says is not reached for sha256, so that it is planted to get there.
		writeFileSync(path.join(other, '.git/HEAD'), `${repository.sha}\n`);
		const verdict = await verdictOf(other, repository.sha);
		t.is(verdict.code, 'CACHE_CHECKOUT_UNSUPPORTED');
		t.regex(verdict.message, pattern);
	});
}

test('verify() and drift() write nothing, not even the index', async t => {
	const repository = makeCheckout(t);
	utimesSync(at(repository, 'a.txt'), 1, 1);
	const listing = () => repository.git('ls-files', '--debug') + lstatSync(at(repository, '.git/index')).mtimeMs + lstatSync(at(repository, '.git')).mtimeMs;
	const before = listing();
	const checkout = openCheckout({git: await sharedGit(), path: repository.path, isCanonical: false});
	await checkout.verify(repository.sha);
	await checkout.drift();
	t.is(listing(), before);
});

test('verify() starts nothing that the checkout names', async t => {
	const repository = makeCheckout(t);
	const canary = `${repository.path}-canary`;
	const evil = at(repository, '.git/evil');
	writeFileSync(evil, `#!/bin/sh\ntouch '${canary}'\n`, {mode: 0o755});
	appendFileSync(
		at(repository, '.git/config'),
		`[core]\n\tfsmonitor = ${evil}\n\thooksPath = ${at(repository, '.git/hooks')}\n\tpager = ${evil}\n[filter "evil"]\n\tclean = ${evil}\n\tsmudge = ${evil}\n\trequired = true\n[diff "evil"]\n\ttextconv = ${evil}\n[include]\n\tpath = ${at(repository, '.git/more')}\n`,
	);
	writeFileSync(at(repository, '.git/more'), `[filter "evil"]\n\tclean = ${evil}\n`);
	mkdirSync(at(repository, '.git/info'), {recursive: true});
	writeFileSync(at(repository, '.git/info/attributes'), '* filter=evil diff=evil\n');
	mkdirSync(at(repository, '.git/hooks'), {recursive: true});
	writeFileSync(at(repository, '.git/hooks/post-index-change'), `#!/bin/sh\ntouch '${canary}'\n`, {mode: 0o755});
	utimesSync(at(repository, 'a.txt'), 1, 1);
	const checkout = openCheckout({git: await sharedGit(), path: repository.path, isCanonical: false});
	await checkout.verify(repository.sha);
	await checkout.drift();
	write(repository, 'a.txt', 'two\n');
	await checkout.drift();
	await checkout.read(repository.sha);
	t.false(existsSync(canary));
	tryTo(() => repository.git('status'));
	t.true(existsSync(canary), 'the traps are live');
});

type Drift = {readonly title: string; readonly change: (repository: TestRepository) => void; readonly changes: number};
const drifts: readonly Drift[] = [
	{title: 'nothing', change: () => {}, changes: 0},
	{title: 'untracked and ignored files', change: repository => (write(repository, 'new', 'x'), write(repository, 'src/x.log', 'x')), changes: 0},
	{title: 'a file written with the same bytes', change: repository => write(repository, 'a.txt', 'one\n'), changes: 0},
	{title: 'a changed file', change: repository => write(repository, 'a.txt', 'two\n'), changes: 1},
	{
		title: 'a changed file of the same size with its old times',
		change: repository => {
			const {atime, mtime} = lstatSync(at(repository, 'a.txt'));
			write(repository, 'a.txt', 'two\n');
			utimesSync(at(repository, 'a.txt'), atime, mtime);
		},
		changes: 1,
	},
	{title: 'a deleted file', change: repository => unlinkSync(at(repository, 'a.txt')), changes: 1},
	{title: 'an execute bit', change: repository => chmodSync(at(repository, 'a.txt'), 0o755), changes: 1},
	{title: 'another mode that git does not keep', change: repository => chmodSync(at(repository, 'a.txt'), 0o600), changes: 0},
	{title: 'a file replaced by a link', change: repository => (unlinkSync(at(repository, 'a.txt')), symlinkSync('run.sh', at(repository, 'a.txt'))), changes: 1},
	{
		title: 'a directory replaced by a link to its own files',
		change: repository => (renameSync(at(repository, 'src'), at(repository, 'build')), symlinkSync('build', at(repository, 'src'))),
		changes: 2,
	},
	{title: 'a directory that is gone', change: repository => rmSync(at(repository, 'src'), {recursive: true}), changes: 2},
	{title: 'the whole checkout moved away', change: repository => renameSync(repository.path, `${repository.path}-gone`), changes: 5},
];
for (const {title, change, changes} of drifts) {
	test(`drift() counts ${changes} for ${title}`, async t => {
		const repository = makeCheckout(t);
		const checkout = openCheckout({git: await sharedGit(), path: repository.path, isCanonical: false});
		await checkout.verify(repository.sha);
		change(repository);
		t.is((await checkout.drift()).trackedChanges, changes);
		// The second look must not have learned to live with it.
		t.is((await checkout.drift()).trackedChanges, changes);
	});
}

test('drift() notices a change that was undone as no change', async t => {
	const repository = makeCheckout(t);
	const checkout = openCheckout({git: await sharedGit(), path: repository.path, isCanonical: false});
	await checkout.verify(repository.sha);
	write(repository, 'a.txt', 'two\n');
	t.is((await checkout.drift()).trackedChanges, 1);
	write(repository, 'a.txt', 'one\n');
	t.is((await checkout.drift()).trackedChanges, 0);
});

test('drift() sees a write in the very clock tick of the look before', async t => {
	const repository = makeCheckout(t);
	const checkout = openCheckout({git: await sharedGit(), path: repository.path, isCanonical: false});
	await checkout.verify(repository.sha);
	let missed = 0;
	for (let round = 0; round < 200; round++) {
		write(repository, 'a.txt', 'one\n');
		await checkout.drift();
		write(repository, 'a.txt', 'two\n');
		missed += (await checkout.drift()).trackedChanges === 1 ? 0 : 1;
	}

	t.is(missed, 0);
});

test('drift() sees a write long after, when only the stamps are compared', async t => {
	const repository = makeCheckout(t);
	const checkout = openCheckout({git: await sharedGit(), path: repository.path, isCanonical: false});
	await sleep(30);
	await checkout.verify(repository.sha);
	t.is((await checkout.drift()).trackedChanges, 0);
	write(repository, 'a.txt', 'two\n');
	t.is((await checkout.drift()).trackedChanges, 1);
});

test('drift() follows HEAD: a commit, a branch, packed references, and none', async t => {
	const repository = makeCheckout(t);
	const checkout = openCheckout({git: await sharedGit(), path: repository.path, isCanonical: false});
	await checkout.verify(repository.sha);
	const head = async () => (await checkout.drift()).head;
	t.is(await head(), repository.sha);
	repository.git('commit', '-q', '--allow-empty', '-m', 'second');
	const second = repository.git('rev-parse', 'HEAD').trim();
	t.is(await head(), second);
	repository.git('pack-refs', '--all');
	t.false(existsSync(at(repository, '.git/refs/heads/main')));
	t.is(await head(), second);
	repository.git('commit', '-q', '--allow-empty', '-m', 'third');
	repository.git('pack-refs', '--all');
	t.is(await head(), repository.git('rev-parse', 'HEAD').trim());
	repository.git('checkout', '-q', '--detach', repository.sha);
	t.is(await head(), repository.sha);
	repository.git('symbolic-ref', 'HEAD', 'refs/heads/nothing');
	t.is(await head(), noCommit);
	unlinkSync(at(repository, '.git/HEAD'));
	t.is(await head(), noCommit);
});

test('drift() refuses to speak about a checkout that was not verified', async t => {
	const repository = makeCheckout(t);
	const checkout = openCheckout({git: await sharedGit(), path: repository.path, isCanonical: false});
	await t.throwsAsync(checkout.drift(), {message: /not verified/});
});

test('read() gives head and tree of a clean checkout', async t => {
	const repository = makeCheckout(t);
	const checkout = openCheckout({git: await sharedGit(), path: repository.path, isCanonical: false});
	t.deepEqual(await checkout.read(repository.sha), {head: repository.sha, tree: repository.git('rev-parse', 'HEAD^{tree}').trim(), problems: []});
});

type Reading = {readonly title: string; readonly change: (repository: TestRepository) => void; readonly codes: readonly string[]};
const readings: readonly Reading[] = [
	{
		title: 'changed and untracked paths',
		change: repository => (write(repository, 'a.txt', 'x'), write(repository, 'new', 'x')),
		codes: ['EVIDENCE_SOURCE_BYTES', 'EVIDENCE_SOURCE_BYTES'],
	},
	{title: 'another HEAD', change: repository => repository.git('commit', '-q', '--allow-empty', '-m', 'second'), codes: ['EVIDENCE_SOURCE_HEAD']},
	{title: 'no repository', change: repository => rmSync(at(repository, '.git'), {recursive: true}), codes: ['EVIDENCE_SOURCE_UNREADABLE']},
	{title: 'no checkout', change: repository => rmSync(repository.path, {recursive: true}), codes: ['EVIDENCE_SOURCE_UNREADABLE']},
	{title: 'no objects', change: repository => rmSync(at(repository, '.git/objects'), {recursive: true}), codes: ['EVIDENCE_SOURCE_UNREADABLE']},
	{title: 'a damaged index', change: repository => writeFileSync(at(repository, '.git/index'), 'x'), codes: ['EVIDENCE_SOURCE_UNREADABLE']},
];
for (const {title, change, codes} of readings) {
	test(`read() reports ${title} as problems`, async t => {
		const repository = makeCheckout(t);
		change(repository);
		const {problems} = await openCheckout({git: await sharedGit(), path: repository.path, isCanonical: false}).read(repository.sha);
		t.deepEqual(
			problems.map(problem => problem.code),
			codes,
		);
	});
}

test('a checkout of another user is refused', async t => {
	const repository = makeCheckout(t);
	let verdict: Verdict | null = null;
	if (process.geteuid?.() === 0) {
		chownSync(repository.path, 12_345, 12_345);
		verdict = await verdictOf(repository.path, repository.sha);
		t.regex(verdict.message, /belongs to user 12345/);
	} else {
		// An ordinary user cannot give files away; the root directory is somebody else's but root's, which is trusted, and no checkout.
		verdict = await verdictOf('/', repository.sha);
	}

	t.is(verdict.code, 'CACHE_CHECKOUT_INVALID');
});
