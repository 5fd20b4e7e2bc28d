import {execFileSync} from 'node:child_process';
import {chmodSync, readdirSync, truncateSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {runCli} from '../helpers/run-cli.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const vectors = path.resolve('test', 'vectors', 'plans');

test('plan check ends with 0 for every good vector and 1 for every bad one, with the same verdict in JSON', async t => {
	for (const name of readdirSync(vectors).filter(file => /^good-|^bad-(?:dup|deep|bom|timeout-zero|unknown)/.test(file))) {
		const isGood = name.startsWith('good-');
		const plain = await runCli(['plan', 'check', path.join(vectors, name)]);
		t.is(plain.exitCode, isGood ? 0 : 1, name);
		t.regex(plain.stdout, isGood ? /is a well-formed plan/ : /is no plan: .*\n {2}(?:CORE_JSON|EVIDENCE)_/, name);
		const json = await runCli(['plan', 'check', '--json', path.join(vectors, name)]);
		t.is(json.exitCode, isGood ? 0 : 1, name);
		t.is(json.json()['verdict'], isGood ? 'valid' : 'invalid', name);
		t.is(json.stderr, '', name);
	}
});

test('a relative plan path starts from where the caller stands', async t => {
	t.is((await runCli(['plan', 'check', 'good-minimal.json'], {cwd: vectors})).exitCode, 0);
});

for (const [title, make, code, exitCode] of [
	['is not there', () => {}, 'CORE_FILE_UNREADABLE', 3],
	['is a FIFO', file => execFileSync('mkfifo', [file]), 'CORE_FILE_NOT_REGULAR', 3],
	['is a directory', file => execFileSync('mkdir', [file]), 'CORE_FILE_NOT_REGULAR', 3],
	[
		'is a sparse file of 2 GiB',
		file => {
			writeFileSync(file, '');
			truncateSync(file, 2 ** 31);
		},
		'CORE_FILE_TOO_LARGE',
		1,
	],
	['is empty', file => writeFileSync(file, ''), 'CORE_JSON_EMPTY', 1],
] as const satisfies ReadonlyArray<readonly [string, (file: string) => unknown, string, number]>) {
	test(`a plan that ${title} is answered with ${code} and ${exitCode}`, async t => {
		const file = path.join(temporaryDirectory(t), 'plan.json');
		make(file);
		const plain = await runCli(['plan', 'check', file]);
		t.is(plain.exitCode, exitCode);
		t.regex(exitCode === 3 ? plain.stderr : plain.stdout, new RegExp(code));
		const json = await runCli(['plan', 'check', '--json', file]);
		t.is(json.exitCode, exitCode);
		t.true(JSON.stringify(json.json()).includes(`"${code}"`));
	});
}

// Root may read everything.
if (process.getuid?.() !== 0) {
	test('a plan that may not be read is refused with 3', async t => {
		const file = path.join(temporaryDirectory(t), 'plan.json');
		writeFileSync(file, '{}');
		chmodSync(file, 0);
		const {exitCode, stderr} = await runCli(['plan', 'check', file]);
		t.is(exitCode, 3);
		t.regex(stderr, /CORE_FILE_UNREADABLE.*EACCES/);
	});
}

test('a hostile file name cannot steer the terminal', async t => {
	const file = path.join(temporaryDirectory(t), 'a\u001b[2Jb');
	writeFileSync(file, '[]');
	const {stdout} = await runCli(['plan', 'check', file]);
	t.false(stdout.includes('\u001b'));
	t.true(stdout.includes('a\\x1b[2Jb is no plan'));
});
