import {chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';

import {contractPathOf, initRoot, openRoot, rootOf} from '../../cache/root.ts';
import {codeOf, refusalOf} from '../helpers/refusal.ts';
import {runModules} from '../helpers/run-modules.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const isRoot = process.geteuid?.() === 0;

test('rootOf() takes the root from the contract path alone', t => {
	t.is(rootOf('/srv/h/harness/operations/repository-cache.md').root, '/srv/h');
	t.is(rootOf('/harness/operations/repository-cache.md').root, '/');
	t.is(rootOf('/a/harness/operations/harness/operations/repository-cache.md').root, '/a/harness/operations');
	t.is(contractPathOf('/srv/h'), '/srv/h/harness/operations/repository-cache.md');
});

for (const contractPath of [
	'harness/operations/repository-cache.md',
	'./h/harness/operations/repository-cache.md',
	'',
	'/srv/h',
	'/srv/h/',
	'/srv/h/harness/operations',
	'/srv/h/harness/operations/',
	'/srv/h/harness/operations/other.md',
	'/srv/h/harness/operations/repository-cache.md/',
	'/srv/h/harness/operations/repository-cache.md.bak',
	'/srv/h/harness//operations/repository-cache.md',
	'//srv/h/harness/operations/repository-cache.md',
	'/srv/x/../h/harness/operations/repository-cache.md',
	'/srv/h/./harness/operations/repository-cache.md',
	'/srv/hharness/operations/repository-cache.md/..',
	'/srv/h/Harness/operations/repository-cache.md',
	'/srv/h\0/harness/operations/repository-cache.md',
	'/srv/h/xharness/operations/repository-cache.md',
]) {
	test(`rootOf() refuses ${JSON.stringify(contractPath)}`, t => {
		t.is(
			codeOf(() => rootOf(contractPath)),
			'CACHE_ROOT_INVALID',
		);
	});
}

test('a relative path is refused with its absolute form', t => {
	t.true(refusalOf(() => contractPathOf('some/root'))?.message.includes(path.resolve('some/root')));
	for (const root of ['/srv/h/', '/srv//h', '/srv/../h', '.', '']) {
		t.is(
			codeOf(() => contractPathOf(root)),
			'CACHE_ROOT_INVALID',
			root,
		);
	}
});

test('neither HOME, nor the environment, nor the working directory names another root', async t => {
	const base = temporaryDirectory(t);
	const root = initRoot(`${base}/root`).paths;
	const decoy = initRoot(`${base}/decoy`).paths;
	const [said] = await runModules(
		t,
		[
			`import {openRoot} from ${JSON.stringify(new URL('../../cache/root.js', import.meta.url).href)}; console.log(openRoot(${JSON.stringify(root.contract)}).root);`,
		],
		{
			cwd: decoy.root,
			env: {HOME: decoy.root, PWD: decoy.root, BAILIFF_ROOT: decoy.root, HARNESS_ROOT: decoy.root},
		},
	);
	t.is(said, root.root);
});

test('initRoot() lays out a new root that openRoot() accepts, and makes nothing else', t => {
	const base = temporaryDirectory(t);
	const made = initRoot(`${base}/root`);
	t.is(made.outcome, 'created');
	t.deepEqual(openRoot(made.paths.contract), made.paths);
	t.deepEqual(readdirSync(made.paths.root, {recursive: true, encoding: 'utf8'}).toSorted(), [
		'harness',
		'harness/operations',
		'harness/operations/repository-cache.md',
	]);
	t.regex(readFileSync(made.paths.contract, 'utf8'), /^# Repository cache[\s\S]*0700[\s\S]*\n$/);
	t.is(lstatSync(made.paths.contract).mode & 0o7777, 0o644);
});

test('initRoot() completes a directory that is there, and changes nothing in it', t => {
	const base = temporaryDirectory(t);
	writeFileSync(`${base}/notes`, 'mine');
	mkdirSync(`${base}/harness`, {mode: 0o750});
	t.is(initRoot(base).outcome, 'created');
	t.is(lstatSync(`${base}/harness`).mode & 0o7777, 0o750);
	t.is(readFileSync(`${base}/notes`, 'utf8'), 'mine');
});

test('initRoot() never touches a contract file that is there', t => {
	const base = temporaryDirectory(t);
	const {contract} = initRoot(base).paths;
	writeFileSync(contract, 'our own rules');
	const before = lstatSync(contract, {bigint: true});
	t.is(initRoot(base).outcome, 'already-there');
	const after = lstatSync(contract, {bigint: true});
	t.is(readFileSync(contract, 'utf8'), 'our own rules');
	t.deepEqual([after.ino, after.mtimeNs, after.ctimeNs, after.nlink], [before.ino, before.mtimeNs, before.ctimeNs, 1n]);
});

test('eight inits at once leave one whole file, and one of them made it', async t => {
	const base = temporaryDirectory(t);
	const source = `import {initRoot} from ${JSON.stringify(new URL('../../cache/root.js', import.meta.url).href)}; console.log(initRoot(${JSON.stringify(`${base}/root`)}).outcome);`;
	const outcomes = await runModules(
		t,
		Array.from({length: 8}, () => source),
	);
	t.deepEqual(outcomes.toSorted(), [
		'already-there',
		'already-there',
		'already-there',
		'already-there',
		'already-there',
		'already-there',
		'already-there',
		'created',
	]);
	t.deepEqual(readdirSync(`${base}/root/harness/operations`), ['repository-cache.md']);
});

for (const place of ['', 'harness', 'harness/operations', 'harness/operations/repository-cache.md']) {
	test(`a link at "<root>/${place}" is refused by openRoot() and by initRoot()`, t => {
		const base = temporaryDirectory(t);
		const {contract} = initRoot(`${base}/root`).paths;
		const linked = path.join(base, 'root', place);
		renameSync(linked, `${base}/moved`);
		symlinkSync(`${base}/moved`, linked);
		for (const act of [() => openRoot(contract), () => initRoot(`${base}/root`)]) {
			const refusal = refusalOf(act);
			t.is(refusal?.code, 'CACHE_ROOT_INVALID');
			t.regex(refusal?.message ?? '', /symbolic link/);
		}
	});

	test(`nothing at "<root>/${place}" is refused with the command that lays it out`, t => {
		const base = temporaryDirectory(t);
		const {contract} = initRoot(`${base}/root`).paths;
		renameSync(path.join(base, 'root', place), `${base}/moved`);
		const refusal = refusalOf(() => openRoot(contract));
		t.is(refusal?.code, 'CACHE_ROOT_INVALID');
		t.regex(refusal?.message ?? '', /bailiff init --root/);
	});

	test(`another kind at "<root>/${place}" is refused`, t => {
		const base = temporaryDirectory(t);
		const {contract} = initRoot(`${base}/root`).paths;
		const wrong = path.join(base, 'root', place);
		renameSync(wrong, `${base}/moved`);
		if (place.endsWith('.md')) {
			mkdirSync(wrong);
		} else {
			writeFileSync(wrong, '');
		}

		for (const act of [() => openRoot(contract), () => initRoot(`${base}/root`)]) {
			t.is(codeOf(act), 'CACHE_ROOT_INVALID');
		}
	});
}

test('a link above the root is refused with the real path', t => {
	const base = temporaryDirectory(t);
	initRoot(`${base}/root`);
	symlinkSync('.', `${base}/link`);
	const refusal = refusalOf(() => openRoot(`${base}/link/root/harness/operations/repository-cache.md`));
	t.is(refusal?.code, 'CACHE_ROOT_INVALID');
	t.true(refusal?.message.includes(`${base}/root`));
	t.is(
		codeOf(() => initRoot(`${base}/link/new`)),
		'CACHE_ROOT_INVALID',
	);
	t.deepEqual(readdirSync(base).toSorted(), ['link', 'root']);
});

for (const [mode, code] of [
	[0o777, 'CACHE_ROOT_INVALID'],
	[0o1777, 'CACHE_ROOT_INVALID'],
	[0o702, 'CACHE_ROOT_INVALID'],
	[0o775, null],
	[0o2755, null],
	[0o700, null],
] as const) {
	test(`a root of mode ${mode.toString(8)} is ${code === null ? 'accepted' : 'refused'}`, t => {
		const base = temporaryDirectory(t);
		const {contract} = initRoot(`${base}/root`).paths;
		chmodSync(`${base}/root`, mode);
		t.is(
			codeOf(() => openRoot(contract)),
			code,
		);
		t.is(lstatSync(`${base}/root`).mode & 0o7777, mode);
	});
}

test('a root of another owner is accepted (NFS)', t => {
	if (!isRoot) {
		t.log('skipped: only root can give a directory away');
		t.pass();
		return;
	}

	const base = temporaryDirectory(t);
	const {contract} = initRoot(`${base}/root`).paths;
	chownSync(`${base}/root`, 65_534, 65_534);
	t.is(
		codeOf(() => openRoot(contract)),
		null,
	);
});

test('initRoot() below a directory that is not there says which to make', t => {
	const base = temporaryDirectory(t);
	const refusal = refusalOf(() => initRoot(`${base}/a/b`));
	t.is(refusal?.code, 'CACHE_WRITE_FAILED');
	t.true(refusal?.message.includes(`make ${base}/a first`));
});
