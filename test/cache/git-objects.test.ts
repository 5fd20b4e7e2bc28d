import path from 'node:path';
import test from 'ava';
import {gitObjectId, readCommitEntries, readObjectSizes, readObjects} from '../../cache/git-objects.ts';
import type {BailiffError} from '../../core/errors.ts';
import {gitWithInput, makeCheckout, sharedGit} from '../helpers/checkout.ts';
import type {TestRepository} from '../helpers/repository.ts';

function gitDirOf(repository: TestRepository): string {
	return path.join(repository.path, '.git');
}

/** A tree of exactly these bytes, and a commit of it. */
function commitTree(repository: TestRepository, lines: ReadonlyArray<readonly [mode: string, name: string, id: string]>): string {
	const body = Buffer.concat(lines.map(([mode, name, id]) => Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(id, 'hex')])));
	const tree = gitWithInput(repository, ['hash-object', '-w', '--literally', '-t', 'tree', '--stdin'], body);
	return gitWithInput(
		repository,
		['hash-object', '-w', '--literally', '-t', 'commit', '--stdin'],
		`tree ${tree}\nauthor A <a@b> 0 +0000\ncommitter A <a@b> 0 +0000\n\nx\n`,
	);
}

test('gitObjectId() is the id that git gives', t => {
	t.is(gitObjectId('blob', Buffer.from('hello\n')), 'ce013625030ba8dba906f756967f9e9ca394464a');
	t.is(gitObjectId('tree', Buffer.alloc(0)), '4b825dc642cb6eb9a060e54bf8d69288fbee4904');
});

test('readObjects() gives type and bytes of each id', async t => {
	const repository = makeCheckout(t);
	const blob = repository.git('rev-parse', 'HEAD:a.txt').trim();
	const objects = await readObjects(await sharedGit(), gitDirOf(repository), [blob, repository.sha]);
	t.is(objects.get(blob)?.body.toString(), 'one\n');
	t.is(objects.get(repository.sha)?.type, 'commit');
	t.is((await readObjects(await sharedGit(), gitDirOf(repository), [])).size, 0);
});

test('readObjects() refuses an id that is missing', async t => {
	const repository = makeCheckout(t);
	const error = await t.throwsAsync<BailiffError>(readObjects(await sharedGit(), gitDirOf(repository), [repository.sha, '1'.repeat(40)]));
	t.is(error?.code, 'CACHE_OBJECT_INVALID');
	t.is(error?.details['id'], '1'.repeat(40));
});

test('readObjectSizes() gives sizes and leaves out what is missing', async t => {
	const repository = makeCheckout(t);
	const blob = repository.git('rev-parse', 'HEAD:a.txt').trim();
	t.deepEqual(await readObjectSizes(await sharedGit(), gitDirOf(repository), [blob, '1'.repeat(40)]), new Map([[blob, 4]]));
});

test('readCommitEntries() lists every path in the order of git', async t => {
	const repository = makeCheckout(t, {'src.txt': 'x', 'src/deep.txt': 'y', 'src-x/a': 'z'});
	const {tree, entries} = await readCommitEntries(await sharedGit(), gitDirOf(repository), repository.sha);
	t.is(tree, repository.git('rev-parse', 'HEAD^{tree}').trim());
	t.is(entries.map(({mode, id, path: name}) => `${mode} blob ${id}\t${name}\n`).join(''), repository.git('ls-tree', '-r', 'HEAD'));
});

test('readCommitEntries() takes old modes as git does', async t => {
	const repository = makeCheckout(t);
	const blob = repository.git('rev-parse', 'HEAD:a.txt').trim();
	const commit = commitTree(repository, [
		['100664', 'a', blob],
		['100775', 'b', blob],
	]);
	const {entries} = await readCommitEntries(await sharedGit(), gitDirOf(repository), commit);
	t.deepEqual(
		entries.map(({mode}) => mode),
		['100644', '100755'],
	);
});

test('readCommitEntries() refuses an id that is no commit', async t => {
	const repository = makeCheckout(t);
	for (const name of ['HEAD:a.txt', 'HEAD^{tree}']) {
		const id = repository.git('rev-parse', name).trim();
		const error = await t.throwsAsync<BailiffError>(readCommitEntries(await sharedGit(), gitDirOf(repository), id));
		t.is(error?.code, 'CACHE_OBJECT_INVALID');
	}
});

const badNames = ['..', '.', '.git', '.GIT', 'a/b', ''];
for (const name of badNames) {
	test(`readCommitEntries() refuses a tree with the name ${JSON.stringify(name)}`, async t => {
		const repository = makeCheckout(t);
		const commit = commitTree(repository, [['100644', name, repository.git('rev-parse', 'HEAD:a.txt').trim()]]);
		const error = await t.throwsAsync<BailiffError>(readCommitEntries(await sharedGit(), gitDirOf(repository), commit));
		t.is(error?.code, 'CACHE_OBJECT_INVALID', error?.message);
	});
}

test('readCommitEntries() refuses a name that stands twice and an unknown mode', async t => {
	const repository = makeCheckout(t);
	const blob = repository.git('rev-parse', 'HEAD:a.txt').trim();
	const twice = commitTree(repository, [
		['100644', 'a', blob],
		['100755', 'a', blob],
	]);
	const odd = commitTree(repository, [['140000', 'a', blob]]);
	for (const commit of [twice, odd]) {
		const error = await t.throwsAsync<BailiffError>(readCommitEntries(await sharedGit(), gitDirOf(repository), commit));
		t.is(error?.code, 'CACHE_OBJECT_INVALID');
	}
});

test('readCommitEntries() refuses a tree that unfolds without end', async t => {
	const repository = makeCheckout(t);
	let id = gitWithInput(repository, ['hash-object', '-w', '-t', 'tree', '--stdin'], '');
	for (let level = 0; level < 12; level++) {
		const line = (name: string) => `040000 tree ${id}\t${name}\n`;
		id = gitWithInput(repository, ['mktree'], ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map(line).join(''));
	}

	const commit = gitWithInput(repository, ['commit-tree', id, '-m', 'bomb'], '');
	const git = await sharedGit();
	const small = {...git, run: (request: Parameters<typeof git.run>[0]) => git.run({...request, maxOutputBytes: 1_000_000})};
	const error = await t.throwsAsync<BailiffError>(readCommitEntries(small, gitDirOf(repository), commit));
	t.is(error?.code, 'CACHE_GIT_OUTPUT');
});

test('readCommitEntries() reads trees that the hint left out', async t => {
	const repository = makeCheckout(t);
	const git = await sharedGit();
	const silent = {
		...git,
		run: async (request: Parameters<typeof git.run>[0]) => {
			const answer = await git.run(request);
			return request.command[0] === 'ls-tree' ? {...answer, stdout: Buffer.alloc(0)} : answer;
		},
	};
	const {entries} = await readCommitEntries(silent, gitDirOf(repository), repository.sha);
	t.is(entries.length, 5);
});
