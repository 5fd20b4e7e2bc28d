import {chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, renameSync, symlinkSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';

import {issuePaths} from '../../cache/layout.ts';
import {initRoot} from '../../cache/root.ts';
import {openRunPlace, type RunPlaceRequest, readRunPlace} from '../../cache/run-place.ts';
import {codeOf, refusalLater} from '../helpers/refusal.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const target = {owner: 'acme', repository: 'widget', issue: 7};
const chain = [
	'',
	'acme',
	'acme/widget',
	'acme/widget/locks',
	'acme/widget/worktrees',
	'acme/widget/worktrees/issue-7',
	'acme/widget/worktrees/issue-7/verification',
];

function request(t: ExecutionContext): RunPlaceRequest {
	return {contractPath: initRoot(`${temporaryDirectory(t)}/root`).paths.contract, target};
}

test('openRunPlace() makes the chain, each 0700, holds the issue lock, and makes nothing else', async t => {
	const asked = request(t);
	const {paths, lock} = await openRunPlace(asked);
	t.deepEqual(paths, issuePaths(paths.root, target));
	for (const place of chain) {
		t.is(lstatSync(path.join(paths.repositories, place)).mode & 0o7777, 0o700, place);
	}

	t.deepEqual(
		readdirSync(paths.repositories, {recursive: true, encoding: 'utf8'}).toSorted(),
		[...chain.slice(1), 'acme/widget/locks/issue-7.lock'].toSorted(),
	);
	t.is(lock.path, paths.issueLock);
	t.is((await refusalLater(() => openRunPlace(asked)))?.code, 'CACHE_LOCK_BUSY');
	await lock.release();
	const again = await openRunPlace(asked);
	await again.lock.release();
	t.deepEqual(readRunPlace(asked), paths);
});

test('two issues of one repository do not wait for each other', async t => {
	const asked = request(t);
	const first = await openRunPlace(asked);
	const second = await openRunPlace({...asked, target: {...target, issue: 8}});
	await first.lock.release();
	await second.lock.release();
	t.pass();
});

test('readRunPlace() makes nothing and says what is not there', t => {
	const asked = request(t);
	t.is(
		codeOf(() => readRunPlace(asked)),
		'CACHE_PATH_MISSING',
	);
	t.false(existsSync(path.join(asked.contractPath, '../../../repositories')));
});

for (const place of chain) {
	test(`a link at repositories/${place} is refused by runner and reader`, async t => {
		const asked = request(t);
		const {paths, lock} = await openRunPlace(asked);
		await lock.release();
		const linked = path.join(paths.repositories, place);
		renameSync(linked, `${paths.root}/moved`);
		symlinkSync(`${paths.root}/moved`, linked);
		t.is((await refusalLater(() => openRunPlace(asked)))?.code, 'CACHE_PATH_UNTRUSTED');
		if (!place.endsWith('locks')) {
			t.is(
				codeOf(() => readRunPlace(asked)),
				'CACHE_PATH_UNTRUSTED',
			);
		}
	});

	test(`mode 0777 at repositories/${place} is refused by runner and reader, left as it is, and the lock is free afterwards`, async t => {
		const asked = request(t);
		const {paths, lock} = await openRunPlace(asked);
		await lock.release();
		const wrong = path.join(paths.repositories, place);
		chmodSync(wrong, 0o777);
		t.is((await refusalLater(() => openRunPlace(asked)))?.code, 'CACHE_PATH_UNTRUSTED');
		if (!place.endsWith('locks')) {
			t.is(
				codeOf(() => readRunPlace(asked)),
				'CACHE_PATH_UNTRUSTED',
			);
		}

		t.is(lstatSync(wrong).mode & 0o7777, 0o777);
		chmodSync(wrong, 0o700);
		const again = await openRunPlace(asked);
		await again.lock.release();
	});
}

test('a set-group-id root is refused before anything is made', async t => {
	const asked = request(t);
	const root = path.join(asked.contractPath, '../../..');
	chmodSync(root, 0o2755);
	t.is((await refusalLater(() => openRunPlace(asked)))?.code, 'CACHE_PATH_UNTRUSTED');
	t.deepEqual(readdirSync(root), ['harness']);
});

test('a source checkout below the root is no repository of the cache', t => {
	const asked = request(t);
	mkdirSync(path.join(asked.contractPath, '../../../acme/widget/.git'), {recursive: true});
	t.is(
		codeOf(() => readRunPlace(asked)),
		'CACHE_PATH_MISSING',
	);
});
