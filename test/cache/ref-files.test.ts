import {mkdirSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {openGit} from '../../cache/index.ts';
import {readLocalRefs, readRefsByGit} from '../../cache/mirror-refs.ts';
import {readRefFiles} from '../../cache/ref-files.ts';
import {codeOf} from '../helpers/refusal.ts';
import {makeRepository} from '../helpers/repository.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

test('refs read by their files are those that git reads, loose and packed, in the same order', async t => {
	const repository = makeRepository(temporaryDirectory(t), {a: 'a'});
	const gitDir = path.join(repository.path, '.git');
	for (const name of ['heads/z', 'heads/a/b', 'heads/a-b', 'tags/v1', 'pull/1/head', 'heads/ü', 'heads/𝄞', 'heads/A', 'heads/a;b$(c)']) {
		repository.git('update-ref', `refs/${name}`, 'HEAD');
	}

	repository.git('tag', '-a', '-m', 'annotated', 'v2');
	repository.git('pack-refs', '--all');
	repository.git('commit', '-q', '--allow-empty', '-m', 'second');
	repository.git('update-ref', 'refs/heads/z', 'HEAD');
	repository.git('update-ref', 'refs/heads/later', 'HEAD');
	const git = await openGit();
	t.deepEqual(readLocalRefs(gitDir), {pairs: await readRefsByGit(git, gitDir), problems: []});
	t.true(readLocalRefs(gitDir).pairs.length > 10);
});

test('what is no ref is named: broken, empty, symbolic; a lock file is none', t => {
	const gitDir = temporaryDirectory(t);
	mkdirSync(path.join(gitDir, 'refs/heads'), {recursive: true});
	const sha = 'a'.repeat(40);
	writeFileSync(path.join(gitDir, 'refs/heads/empty'), '');
	writeFileSync(path.join(gitDir, 'refs/heads/broken'), 'x\n');
	writeFileSync(path.join(gitDir, 'refs/heads/symbolic'), 'ref: refs/heads/main\n');
	writeFileSync(path.join(gitDir, 'refs/heads/main'), `${sha}\n`);
	writeFileSync(path.join(gitDir, 'refs/heads/main.lock'), '');
	writeFileSync(
		path.join(gitDir, 'packed-refs'),
		`# pack-refs with: peeled fully-peeled sorted \n${'b'.repeat(40)} refs/heads/main\n${sha} refs/tags/v1\n^${sha}\n`,
	);
	t.deepEqual(readRefFiles(gitDir), [
		['refs/heads/broken', {broken: 'neither an id nor a ref'}],
		['refs/heads/empty', {broken: 'an empty file'}],
		['refs/heads/main', {sha}],
		['refs/heads/symbolic', {target: 'refs/heads/main'}],
		['refs/tags/v1', {sha}],
	]);
	t.deepEqual(
		readLocalRefs(gitDir).problems.map(({code}) => code),
		['CACHE_MIRROR_CORRUPT', 'CACHE_MIRROR_CORRUPT', 'CACHE_FOREIGN_REF'],
	);
});

test('a packed-refs that is malformed, and refs that cannot be listed, refuse', t => {
	const gitDir = temporaryDirectory(t);
	t.is(
		codeOf(() => readRefFiles(gitDir)),
		'CACHE_MIRROR_CORRUPT',
	);
	mkdirSync(path.join(gitDir, 'refs'));
	t.is(
		codeOf(() => readRefFiles(gitDir)),
		null,
	);
	writeFileSync(path.join(gitDir, 'packed-refs'), `${'a'.repeat(39)} refs/heads/main\n`);
	t.is(
		codeOf(() => readRefFiles(gitDir)),
		'CACHE_MIRROR_CORRUPT',
	);
	rmSync(path.join(gitDir, 'packed-refs'));
	mkdirSync(path.join(gitDir, 'packed-refs'));
	t.is(
		codeOf(() => readRefFiles(gitDir)),
		'CACHE_MIRROR_CORRUPT',
	);
});
