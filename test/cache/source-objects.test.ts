import {execFileSync} from 'node:child_process';
import {appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {deflateSync} from 'node:zlib';
import test, {type ExecutionContext} from 'ava';
import {openSourceObjects, unpackSourceBundle, unpackSourcePack, withSourcePack} from '../../cache/source-objects.ts';
import {makeCheckout, sharedGit, write} from '../helpers/checkout.ts';
import {refusalLater} from '../helpers/refusal.ts';
import type {TestRepository} from '../helpers/repository.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

/** A bare clone, as a mirror is one. */
function mirrorOf(t: ExecutionContext, repository: TestRepository): string {
	const mirror = path.join(temporaryDirectory(t), 'mirror.git');
	repository.git('clone', '-q', '--bare', repository.path, mirror);
	return mirror;
}

// A place of this file alone: other test files unpack, too.
process.env['TMPDIR'] = realpathSync(mkdtempSync(path.join(tmpdir(), 'bailiff-test-')));
test.after.always(() => {
	rmSync(tmpdir(), {recursive: true, force: true});
});

const scratchDirectories = (): string[] => readdirSync(tmpdir()).filter(name => name.startsWith('bailiff-source-'));

for (const [title, bytes] of [
	['nothing', Buffer.alloc(0)],
	['a pack that ends too early', Buffer.from('5041434b0000000200000001', 'hex')],
	['text', Buffer.from('# v2 git bundle\n\n')],
] as const) {
	// Serial tests run before all others, so that nobody else unpacks meanwhile.
	test.serial(`${title} is refused as pack and as bundle, and no directory is left`, async t => {
		const git = await sharedGit();
		const before = scratchDirectories();
		t.is((await refusalLater(() => unpackSourcePack(git, bytes)))?.code, 'CACHE_OBJECT_INVALID');
		t.is((await refusalLater(() => unpackSourceBundle(git, bytes)))?.code, 'CACHE_GIT_FAILED');
		t.deepEqual(
			scratchDirectories().filter(name => !before.includes(name)),
			[],
		);
	});
}

test('a commit of a mirror gives its tree and its paths, and blobs their bytes', async t => {
	const repository = makeCheckout(t);
	const objects = openSourceObjects(await sharedGit(), mirrorOf(t, repository));
	const {tree, entries} = await objects.readCommit(repository.sha);
	t.is(tree, repository.git('rev-parse', 'HEAD^{tree}').trim());
	const entry = entries.find(({path: name}) => name === 'src/b.txt');
	t.is((await objects.readBlobs([entry?.id ?? ''])).get(entry?.id ?? '')?.toString(), 'two\n');
});

test('a replacement of the commit, a graft and a hostile configuration change nothing and start nothing', async t => {
	const repository = makeCheckout(t);
	const tree = repository.git('rev-parse', 'HEAD^{tree}').trim();
	write(repository, 'evil.txt', 'evil\n');
	repository.git('add', '-A');
	repository.git('commit', '-qm', 'evil');
	const mirror = mirrorOf(t, repository);
	const evil = repository.git('rev-parse', 'HEAD').trim();
	execFileSync('git', ['--git-dir', mirror, 'replace', repository.sha, evil]);
	mkdirSync(path.join(mirror, 'info'), {recursive: true});
	writeFileSync(path.join(mirror, 'info/grafts'), `${repository.sha} ${evil}\n`);
	const mark = path.join(mirror, 'was-run');
	appendFileSync(path.join(mirror, 'config'), `[core]\n\tfsmonitor = "touch ${mark}"\n\tsshCommand = "touch ${mark}"\n\thooksPath = ${mirror}\n`);
	const objects = openSourceObjects(await sharedGit(), mirror);
	t.is((await objects.readCommit(repository.sha)).tree, tree);
	t.truthy(await objects.pack(repository.sha, []));
	t.false(existsSync(mark));
});

test('an object whose bytes have another id than its name is refused', async t => {
	const repository = makeCheckout(t);
	const blob = repository.git('rev-parse', 'HEAD:a.txt').trim();
	const file = path.join(repository.path, '.git/objects', blob.slice(0, 2), blob.slice(2));
	rmSync(file);
	writeFileSync(file, deflateSync(Buffer.from('blob 5\0evil\n')));
	const objects = openSourceObjects(await sharedGit(), path.join(repository.path, '.git'));
	t.is((await refusalLater(() => objects.readBlobs([blob])))?.code, 'CACHE_OBJECT_INVALID');
});

for (const [title, id] of [
	['a commit that is not there', '1'.repeat(40)],
	['a tree in place of a commit', 'HEAD^{tree}'],
] as const) {
	test(`${title} is refused`, async t => {
		const repository = makeCheckout(t);
		const sha = id.startsWith('H') ? repository.git('rev-parse', id).trim() : id;
		const objects = openSourceObjects(await sharedGit(), mirrorOf(t, repository));
		t.is((await refusalLater(() => objects.readCommit(sha)))?.code, 'CACHE_OBJECT_INVALID');
	});
}

test('a tree in place of a blob is refused', async t => {
	const repository = makeCheckout(t);
	const tree = repository.git('rev-parse', 'HEAD^{tree}').trim();
	const objects = openSourceObjects(await sharedGit(), mirrorOf(t, repository));
	t.is((await refusalLater(() => objects.readBlobs([tree])))?.code, 'CACHE_OBJECT_INVALID');
});

test('a pack holds the commit, its trees and the blobs that were asked for, and no other; the same objects give the same bytes', async t => {
	const repository = makeCheckout(t);
	repository.git('commit', '-q', '--allow-empty', '-m', 'second');
	const sha = repository.git('rev-parse', 'HEAD').trim();
	const git = await sharedGit();
	const objects = openSourceObjects(git, mirrorOf(t, repository));
	const blob = repository.git('rev-parse', 'HEAD:src/deep/c.txt').trim();
	const other = repository.git('rev-parse', 'HEAD:a.txt').trim();
	const pack = await objects.pack(sha, [blob]);
	t.deepEqual(await openSourceObjects(git, path.join(repository.path, '.git')).pack(sha, [blob]), pack);
	await withSourcePack(git, pack, async unpacked => {
		t.deepEqual(await unpacked.readCommit(sha), await objects.readCommit(sha));
		t.is((await unpacked.readBlobs([blob])).get(blob)?.toString(), 'three\n');
		t.is((await refusalLater(() => unpacked.readBlobs([other])))?.code, 'CACHE_OBJECT_INVALID');
		t.is((await refusalLater(() => unpacked.readCommit(repository.sha)))?.code, 'CACHE_OBJECT_INVALID');
	});
});

test('a bundle of git is unpacked into a place of its own that is removed', async t => {
	const repository = makeCheckout(t);
	const file = path.join(temporaryDirectory(t), 'source.bundle');
	repository.git('bundle', 'create', '-q', file, 'main');
	const source = await unpackSourceBundle(await sharedGit(), readFileSync(file));
	t.is((await source.objects.readCommit(repository.sha)).tree, repository.git('rev-parse', 'HEAD^{tree}').trim());
	source.close();
	t.is((await refusalLater(() => source.objects.readCommit(repository.sha)))?.code, 'CACHE_GIT_FAILED');
});
