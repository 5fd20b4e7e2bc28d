import {execFile} from 'node:child_process';
import {mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import test from 'ava';
import {repositoryRoot} from '../house/repository.ts';

type Example = {readonly title: string; readonly source: string; readonly output: string};

const run = promisify(execFile);
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

for (const [index, {title, source, output}] of examples.entries()) {
	test.serial(`docs/api.md, ${title}: example ${index + 1} compiles and prints what the page says`, async t => {
		const file = `example-${index + 1}.ts`;
		await writeFile(path.join(directory, file), source);
		await run(process.execPath, [path.join(repositoryRoot, 'node_modules/typescript/bin/tsc'), '-p', '.'], {cwd: directory}).catch((error: {stdout: string}) =>
			t.fail(error.stdout),
		);
		const {stdout} = await run(process.execPath, [`compiled/${file.replace('.ts', '.js')}`], {cwd: directory, env: {PATH: process.env['PATH'] ?? ''}});
		t.is(stdout, output);
		await rm(path.join(directory, file));
	});
}

test('docs/api.md holds an example for each entry of the package', t => {
	for (const entry of ['bailiff', 'bailiff/evidence']) {
		t.true(
			examples.some(({source}) => source.includes(`from '${entry}'`)),
			entry,
		);
	}
});

/** A folder as the page describes it: checkout/, plan.json for its commit, and an empty root/. */
async function prepare(): Promise<string> {
	const top = await realpath(await mkdtemp(path.join(tmpdir(), 'bailiff-api-')));
	const checkout = path.join(top, 'checkout');
	await mkdir(checkout);
	await writeFile(path.join(checkout, 'README.md'), 'A product.\n');
	for (const args of [
		['init', '-q'],
		['add', '.'],
		['-c', 'user.name=Author', '-c', 'user.email=author@example.org', 'commit', '-qm', 'Begin'],
	]) {
		await run('git', args, {cwd: checkout});
	}

	const {stdout: head} = await run('git', ['rev-parse', 'HEAD'], {cwd: checkout});
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
	await run(process.execPath, [path.join(repositoryRoot, 'build/cli/main.js'), 'init', '--root', path.join(top, 'root')]);
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
