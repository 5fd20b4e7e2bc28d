import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {errorCodes} from '../../core/errors.ts';
import {problemCodes} from '../../evidence/problems.ts';
import {repositoryRoot} from './repository.ts';

const read = (file: string): string => readFileSync(path.join(repositoryRoot, file), 'utf8');
const git = (...args: readonly string[]): string =>
	execFileSync('git', ['-C', repositoryRoot, '-c', `safe.directory=${repositoryRoot}`, ...args], {encoding: 'utf8', maxBuffer: 64 * 1024 * 1024});
const manifest: {version: string; dependencies: Record<string, string>; devDependencies: Record<string, string>} = JSON.parse(read('package.json'));
const dependencies = {...manifest.dependencies, ...manifest.devDependencies};

/** The first cells of the table rows below the heading, without their backticks. */
function rowsBelow(file: string, heading: string): Map<string, string[]> {
	const section = read(file).split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
	const rows = section.split('\n').filter(line => line.startsWith('| `'));
	return new Map(
		rows.map(row => {
			const [name = '', ...cells] = row
				.slice(2, -2)
				.split(' | ')
				.map(cell => cell.trim());
			return [name.replaceAll('`', ''), cells];
		}),
	);
}

test('every dependency is pinned to one exact version', t => {
	t.deepEqual(
		Object.entries(dependencies).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version)),
		[],
	);
});

test('docs/dependencies.md has a row with a reason for each dependency and no other', t => {
	const runtime = rowsBelow('docs/dependencies.md', 'At run time');
	const development = rowsBelow('docs/dependencies.md', 'For building and testing');
	t.deepEqual([...runtime.keys()].toSorted(), Object.keys(manifest.dependencies).toSorted());
	t.deepEqual([...development.keys()].toSorted(), Object.keys(manifest.devDependencies).toSorted());
	t.true([...runtime.values(), ...development.values()].every(([reason = '']) => reason.length > 5));
});

test('package-lock.json holds no address, and an integrity for each package', t => {
	const lock: {packages: Record<string, {resolved?: string; integrity?: string}>} = JSON.parse(read('package-lock.json'));
	const packages = Object.entries(lock.packages).filter(([name]) => name !== '');
	t.true(packages.length > 100);
	t.deepEqual(
		packages.filter(([, entry]) => entry.resolved !== undefined || entry.integrity === undefined).map(([name]) => name),
		[],
	);
	t.notRegex(read('package-lock.json'), /"https?:\/\/[^"]*\.tgz/);
});

for (const [file, heading, codes, cells] of [
	['docs/errors.md', 'Refusals and failures', errorCodes, 2],
	['docs/errors.md', 'Problems that a reader finds', problemCodes, 1],
] as const) {
	test(`${file} explains each code under "${heading}" and no other`, t => {
		const rows = rowsBelow(file, heading);
		t.deepEqual(
			codes.filter(code => !rows.has(code)),
			[],
			`${file} lacks a row under "${heading}"`,
		);
		t.deepEqual(
			[...rows.keys()].filter(code => !(codes as readonly string[]).includes(code)),
			[],
			`${file} has a row for a code that is gone`,
		);
		t.deepEqual(
			[...rows].filter(([, texts]) => texts.length !== cells || texts.some(text => text.length < 4)).map(([code]) => code),
			[],
			`${file} has a row without ${cells} texts`,
		);
	});
}

for (const [name, codes] of [
	['error', errorCodes],
	['problem', problemCodes],
] as const) {
	test(`${name} codes stand once`, t => {
		t.is(new Set<string>(codes).size, codes.length);
	});
}

test('CHANGELOG.md keeps its form: Unreleased first, then versions from new to old, known headings with entries', t => {
	const lines = read('CHANGELOG.md').split('\n');
	t.is(lines[0], '# Changelog');
	const versions = lines.filter(line => line.startsWith('## ')).map(line => line.slice(3));
	t.is(versions[0], '[Unreleased]');
	for (const version of versions.slice(1)) {
		t.regex(version, /^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/);
	}

	t.deepEqual(
		versions.slice(1),
		versions.slice(1).toSorted((left, right) => right.slice(-10).localeCompare(left.slice(-10))),
	);
	const known = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
	const headings = lines.filter(line => line.startsWith('### ')).map(line => line.slice(4));
	t.true(headings.length > 0 && headings.every(heading => known.includes(heading)));
	t.true(lines.filter(line => line.startsWith('- ')).every(line => line.length > 10));
});

test('every link between our documents leads somewhere', t => {
	const documents = git('ls-files', '*.md').trim().split('\n');
	t.true(documents.includes('README.md'));
	const broken = documents.flatMap(file =>
		[...read(file).matchAll(/\]\((?!https?:)([^)#]+)/g)]
			.map(match => path.posix.join(path.posix.dirname(file), match[1] ?? ''))
			.filter(target => !git('ls-files', '--', target).includes(target))
			.map(target => `${file} -> ${target}`),
	);
	t.deepEqual(broken, []);
});

test('no committed file holds a path of a machine, a registry host or a private word', t => {
	// Written in pieces, so that this file does not find itself.
	const traces = [
		['/wo', 'rk/(main|shared|w-|\\.library)'],
		['/ro', 'ot/\\.(npm|pyenv|cache|config|nvm)'],
		['/Us', 'ers/'],
		['registry\\.npm', 'js\\.org'],
		['npm', 'mirror'],
		['_auth', 'Token'],
		['/tmp/', '(brief|tools)'],
	].map(parts => parts.join(''));
	const found = grep(traces.join('|'));
	t.deepEqual(
		found.split('\n').filter(line => line !== ''),
		[],
	);
});

/** Lines of committed files that match; git grep ends with 1 when there are none. */
function grep(pattern: string): string {
	try {
		return git('grep', '-nIE', pattern, '--', '.', ':!package-lock.json');
	} catch (error) {
		if (error instanceof Error && 'status' in error && error.status === 1) {
			return '';
		}

		throw error;
	}
}
