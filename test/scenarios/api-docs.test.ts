import {execFile} from 'node:child_process';
import {mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import test from 'ava';
import * as library from '../../cli/library.ts';
import {repositoryRoot} from '../house/repository.ts';

type Example = {readonly title: string; readonly source: string; readonly output: string};

const run = promisify(execFile);
const gitEnvironment = {...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null'};
const documentation = await readFile(path.join(repositoryRoot, 'docs/api.md'), 'utf8');
const fence = '```';

/** Every ```ts block of docs/api.md, with the heading that it stands under and the ```text block that follows it: its exact output. */
const examples: Example[] = documentation.split(/^#+ /m).flatMap(section => {
	const title = section.split('\n')[0] ?? '';
	const blocks = new RegExp(`^${fence}ts\\n([^]*?)^${fence}\\n(?:\\s*^${fence}text\\n([^]*?)^${fence})?`, 'gm');
	return [...section.matchAll(blocks)].map(([, source = '', output = '']) => ({title, source, output}));
});

const directory = await prepare();
test.after.always(() => rm(directory, {recursive: true, force: true}));

test.serial('every example of docs/api.md compiles', async t => {
	for (const [index, {source}] of examples.entries()) {
		await writeFile(path.join(directory, `example-${index + 1}.ts`), source);
	}

	await run(process.execPath, [path.join(repositoryRoot, 'node_modules/typescript/bin/tsc'), '-p', '.'], {cwd: directory}).catch((error: {stdout: string}) =>
		t.fail(error.stdout),
	);
	t.true(examples.length > 0);
});

for (const [index, {title, output}] of examples.entries()) {
	test.serial(`docs/api.md, ${title}: example ${index + 1} prints what the page says`, async t => {
		const {stdout} = await run(process.execPath, [`compiled/example-${index + 1}.js`], {cwd: directory, env: {PATH: process.env['PATH'] ?? ''}});
		t.is(stdout, output);
	});
}

test('docs/api.md holds an example of each value that the entry bailiff exports', t => {
	const used = new Set(
		examples.flatMap(({source}) => [...source.matchAll(/^import \{([^}]+)\} from 'bailiff'/gm)].flatMap(([, names = '']) => names.split(', '))),
	);
	t.deepEqual(Object.keys(library).toSorted(), [...used].toSorted());
});

test('docs/api.md holds an example of the entry bailiff/evidence', t => {
	t.true(examples.some(({source}) => source.includes("from 'bailiff/evidence'")));
});

/** A folder as the page describes it: checkout/ and plan.json for its commit. */
async function prepare(): Promise<string> {
	const top = await realpath(await mkdtemp(path.join(tmpdir(), 'bailiff-api-')));
	const checkout = path.join(top, 'checkout');
	await mkdir(checkout);
	await writeFile(path.join(checkout, 'README.md'), 'A product.\n');
	await writeFile(path.join(checkout, 'Makefile'), 'test:\n\ttest -s README.md\n');
	for (const args of [
		['init', '-q'],
		['add', '.'],
		['-c', 'user.name=Author', '-c', 'user.email=author@example.org', 'commit', '-qm', 'Begin'],
	]) {
		await run('git', args, {cwd: checkout, env: gitEnvironment});
	}

	const {stdout: head} = await run('git', ['rev-parse', 'HEAD'], {cwd: checkout, env: gitEnvironment});
	await writeFile(
		path.join(top, 'plan.json'),
		JSON.stringify({
			schema: 'verification-plan/v3',
			owner: 'me',
			repository: 'product',
			issue: 1,
			source_sha: head.trim(),
			sandbox: {mode: 'off'},
			commands: [{id: 'readme', argv: ['test', '-s', 'README.md'], timeout_seconds: 10, max_output_bytes: 4096}],
		}),
	);
	await mkdir(path.join(top, 'node_modules/@types'), {recursive: true});
	await symlink(repositoryRoot, path.join(top, 'node_modules/bailiff'));
	await symlink(path.join(repositoryRoot, 'node_modules/@types/node'), path.join(top, 'node_modules/@types/node'));
	await writeFile(path.join(top, 'package.json'), '{"type": "module"}');
	const compilerOptions = {
		target: 'es2023',
		module: 'node20',
		types: ['node'],
		strict: true,
		exactOptionalPropertyTypes: true,
		outDir: 'compiled',
		rootDir: '.',
	};
	await writeFile(path.join(top, 'tsconfig.json'), JSON.stringify({compilerOptions, include: ['*.ts']}));
	return top;
}
