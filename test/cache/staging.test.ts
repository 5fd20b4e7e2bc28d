import {existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {FileLock, type RepositoryPaths, repositoryPaths} from '../../cache/index.ts';
import {createStaging, publish, removeStaging, stagingLeftovers} from '../../cache/staging.ts';
import {codeOf} from '../helpers/refusal.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

function ground(t: ExecutionContext): RepositoryPaths {
	const paths = repositoryPaths(temporaryDirectory(t), {owner: 'acme', repository: 'widget'});
	mkdirSync(paths.owner, {recursive: true, mode: 0o700});
	return paths;
}

const unsupported = (): never => {
	throw Object.assign(new Error('not here'), {code: 'ENOTSUP'});
};

test('staging is run-unique, private, and laid out like a repository', t => {
	const paths = ground(t);
	const [first, second] = [createStaging(paths), createStaging(paths)];
	t.not(first.directory, second.directory);
	t.regex(path.basename(first.directory), /^\.staging-[0-9a-f]{32}$/);
	for (const place of [first.directory, first.locks]) {
		t.is(lstatSync(place).mode & 0o7777, 0o700);
	}

	t.is(
		codeOf(() => createStaging(paths, path.basename(first.directory).slice('.staging-'.length))),
		'CACHE_TARGET_OCCUPIED',
	);
});

test('only the very directory that this run made is removed (case 5)', t => {
	const paths = ground(t);
	const staging = createStaging(paths);
	const foreign = createStaging(paths);
	t.true(removeStaging(staging));
	t.false(existsSync(staging.directory));
	t.true(existsSync(foreign.directory), "another run's staging is left");
	renameSync(foreign.directory, `${foreign.directory}.moved`);
	mkdirSync(foreign.directory, {mode: 0o700});
	writeFileSync(path.join(foreign.directory, 'kept'), '');
	t.false(removeStaging(foreign), 'the name means another directory');
	t.deepEqual(readdirSync(foreign.directory), ['kept']);
});

for (const [title, rename] of [
	['by the rename that replaces nothing', undefined],
	['where the filesystem has no such rename', unsupported],
] as const) {
	test(`a publication gives the final name ${title}`, t => {
		const paths = ground(t);
		const staging = createStaging(paths);
		publish(staging.directory, paths.repository, rename);
		t.is(lstatSync(paths.repository).ino, staging.inode);
		t.false(existsSync(staging.directory));
	});

	test(`a publication replaces nothing, not even an empty directory, ${title}`, t => {
		const paths = ground(t);
		const staging = createStaging(paths);
		mkdirSync(paths.repository, {mode: 0o700});
		t.is(
			codeOf(() => {
				publish(staging.directory, paths.repository, rename);
			}),
			'CACHE_TARGET_OCCUPIED',
		);
		t.true(existsSync(staging.locks));
	});
}

test('without such a rename the parent must be ours alone', t => {
	const paths = ground(t);
	const staging = createStaging(paths);
	const open = path.join(paths.repositories, 'open');
	mkdirSync(open, {mode: 0o755});
	t.is(
		codeOf(() => {
			publish(staging.directory, path.join(open, 'widget'), unsupported);
		}),
		'CACHE_PATH_UNTRUSTED',
	);
});

test('leftovers are those that nobody holds', async t => {
	const paths = ground(t);
	const [living, left] = [createStaging(paths), createStaging(paths)];
	const lock = await FileLock.acquire(living.lock);
	(await FileLock.acquire(left.lock)).close();
	t.deepEqual(stagingLeftovers(paths), [left.directory]);
	lock.close();
	rmSync(left.directory, {recursive: true});
	t.deepEqual(stagingLeftovers(paths), [living.directory]);
});
