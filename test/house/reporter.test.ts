import {mkdir, mkdtemp, rm, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import {groupTests, report, testFiles} from '../reporter.ts';
import {repositoryRoot} from './repository.ts';

const header = "import test from 'ava';\n";
type Expected = {
	readonly title: string;
	readonly files: Readonly<Record<string, string>>;
	readonly mustNotSkip?: boolean;
	readonly isGood: boolean;
	readonly lastLine: string;
	readonly shows: RegExp;
};

const cases: readonly Expected[] = [
	{
		title: 'counts what passed',
		files: {a: "test('one', t => t.pass());\ntest('two', t => t.pass());"},
		isGood: true,
		lastLine: '2 passed, 0 failed',
		shows: /1 test files/,
	},
	{
		title: 'shows a failure in full',
		files: {a: "test('one', t => t.is(1, 2));"},
		isGood: false,
		lastLine: '0 passed, 1 failed',
		shows: /not ok 1 - [^]*t\.is\(\)[^]*- 1[^]*\+ 2/,
	},
	{
		title: 'counts a skipped test',
		files: {a: "test('one', t => t.pass());\ntest.skip('two', t => t.pass());"},
		isGood: true,
		lastLine: '1 passed, 0 failed, 1 skipped',
		shows: /./,
	},
	{
		title: 'fails on a skip in CI',
		files: {a: "test('one', t => t.pass());\ntest.skip('two', t => t.pass());"},
		mustNotSkip: true,
		isGood: false,
		lastLine: '1 passed, 0 failed, 1 skipped',
		shows: /skipped test is a failure/,
	},
	{title: 'fails when nothing ran', files: {}, isGood: false, lastLine: '0 passed, 0 failed', shows: /no test ran/},
	{
		title: 'fails when a file does not parse',
		files: {a: "test('one', t => t.pass());", b: 'no such syntax'},
		isGood: false,
		lastLine: '1 passed, 2 failed',
		shows: /b\.test\.js/,
	},
	{
		title: 'fails when a test ends the process',
		files: {a: "test('one', t => { t.pass(); process.exit(3); });"},
		isGood: false,
		lastLine: '0 passed, 1 failed',
		shows: /broke off/,
	},
	{
		title: 'fails on a process warning',
		files: {a: "test('one', async t => { t.pass(); process.emitWarning('careful'); await new Promise(r => setTimeout(r, 50)); });"},
		isGood: false,
		lastLine: '0 passed, 2 failed',
		shows: /careful/,
	},
	{
		title: 'fails when a process outlives the tests',
		files: {a: "test('one', t => { spawn('sleep', ['4'], {detached: true, stdio: 'ignore'}).unref(); t.pass(); });"},
		isGood: false,
		lastLine: '1 passed, 1 failed',
		shows: /still alive: \d+ sleep 4/,
	},
];

for (const {title, files, mustNotSkip = false, isGood, lastLine, shows} of cases) {
	test(`the summary ${title}`, async t => {
		const root = await mkdtemp(path.join(tmpdir(), 'bailiff-reporter-'));
		t.teardown(() => rm(root, {recursive: true, force: true}));
		await mkdir(path.join(root, 'build/test'), {recursive: true});
		await symlink(path.join(repositoryRoot, 'node_modules'), path.join(root, 'node_modules'));
		const require = [path.join(repositoryRoot, 'test/warnings.js')];
		await writeFile(
			path.join(root, 'package.json'),
			JSON.stringify({type: 'module', ava: {files: ['build/test/**/*.test.js'], workerThreads: false, require}}),
		);
		for (const [name, source] of Object.entries(files)) {
			await writeFile(path.join(root, `build/test/${name}.test.js`), `import {spawn} from 'node:child_process';\n${header}${source}\n`);
		}

		let output = '';
		const found = testFiles(root, 'build/test');
		const result = await report(groupTests(found, []), {root, mustNotSkip, write: text => (output += text)});
		t.is(output.trimEnd().split('\n').at(-1), lastLine, output);
		t.is(result, isGood);
		t.regex(output, shows);
	});
}

test('suites that measure time run one file at a time', t => {
	const groups = groupTests(['build/test/core/a.test.js', 'build/test/runner/b.test.js'], ['runner']);
	t.deepEqual(
		groups.map(({concurrency, files}) => [concurrency, files]),
		[
			[2, ['build/test/core/a.test.js']],
			[1, ['build/test/runner/b.test.js']],
		],
	);
});
