import {execFile} from 'node:child_process';
import {cp, mkdir, mkdtemp, rm, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import test from 'ava';
import {cleanFiles, cycleBack, plantedFaults} from './planted-faults.ts';
import {repositoryRoot} from './repository.ts';

type Finding = {readonly code?: string; readonly message: string; readonly filename: string};

/** Lints a small tree (core/ as it stands plus every planted file) in one run and gives the findings by file. */
async function lintPlanted(): Promise<Map<string, Finding[]>> {
	const tree = await mkdtemp(path.join(tmpdir(), 'bailiff-house-'));
	try {
		for (const name of ['core', 'package.json', 'tsconfig.json', '.oxlintrc.json', 'test/house/rules.js', 'test/house/tables.js']) {
			await cp(path.join(repositoryRoot, name), path.join(tree, name), {recursive: true});
		}

		await symlink(path.join(repositoryRoot, 'node_modules'), path.join(tree, 'node_modules'));
		const files = [...Object.entries(cleanFiles), ...[...plantedFaults, cycleBack].map(({file, source}) => [file, source] as const)];
		for (const [file, source] of files) {
			await mkdir(path.dirname(path.join(tree, file)), {recursive: true});
			await writeFile(path.join(tree, file), source);
		}

		const findings = new Map<string, Finding[]>();
		for (const finding of await oxlint(tree)) {
			const file = path.relative(tree, path.resolve(tree, finding.filename));
			findings.set(file, [...(findings.get(file) ?? []), finding]);
		}

		return findings;
	} finally {
		await rm(tree, {recursive: true, force: true});
	}
}

async function oxlint(tree: string): Promise<Finding[]> {
	const run = promisify(execFile);
	const options = {cwd: tree, maxBuffer: 64 * 1024 * 1024};
	const output = await run(path.join(repositoryRoot, 'node_modules/.bin/oxlint'), ['-f', 'json', '.'], options).then(
		({stdout}) => stdout,
		(error: {stdout: string}) => error.stdout,
	);
	return JSON.parse(output).diagnostics;
}

const findings = lintPlanted();

for (const {fault, file, rule} of plantedFaults) {
	test(`lint finds ${fault} (${rule})`, async t => {
		const found = (await findings).get(file) ?? [];
		const names = found.map(({code, message}) => code ?? message);
		t.true(
			names.some(name => name.includes(rule)),
			`${file} was to be caught by ${rule}, found: ${names.join(', ') || 'nothing'}`,
		);
	});
}

test('lint finds nothing in clean files', async t => {
	const all = await findings;
	for (const file of Object.keys(cleanFiles)) {
		t.deepEqual(all.get(file) ?? [], []);
	}
});

test('no two faults share a file', t => {
	t.is(new Set(plantedFaults.map(({file}) => file)).size, plantedFaults.length);
});
