import {execFileSync, spawnSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {homedir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import type {Plan} from '../../../evidence/index.ts';
import {sandboxTest as test} from '../../helpers/sandbox-ability.ts';
import {runSandboxed} from '../../helpers/sandboxed.ts';
import {createWorld, userIds, visibleParent, type World} from './world.ts';

type Project = {
	readonly title: string;
	readonly files: Readonly<Record<string, string>>;
	readonly commands: ReadonlyArray<readonly string[]>;
	readonly output: RegExp;
	readonly sandbox?: Plan['sandbox'];
	readonly env?: Readonly<Record<string, string>>;
};

const projects: readonly Project[] = [
	{
		title: 'a C program is built with make and tested',
		files: {
			Makefile: 'test: add\n\t./add\nadd: add.o main.o\n\t$(CC) -o $@ $^\n',
			'add.c': 'int add(int a, int b) { return a + b; }\n',
			'main.c': '#include <stdio.h>\nint add(int, int);\nint main(void) { puts("sum"); return add(2, 3) == 5 ? 0 : 1; }\n',
		},
		commands: [['make', '-j2', 'test']],
		output: /sum/,
	},
	{
		title: 'python runs its unit tests',
		files: {'test_it.py': 'import unittest, tempfile\nclass T(unittest.TestCase):\n    def test_it(self):\n        tempfile.TemporaryFile().write(b"x")\n'},
		commands: [['/usr/bin/python3', '-m', 'unittest', '-v']],
		output: /Ran 1 test/,
	},
	{
		title: 'npm test runs a server on loopback',
		files: {
			'package.json': '{"name": "p", "version": "1.0.0", "scripts": {"test": "node --test"}}',
			'it.test.js':
				"const http = require('node:http'), test = require('node:test');\ntest('serves', done => new Promise(resolve => { const server = http.createServer((_, answer) => answer.end('hi')).listen(0, '127.0.0.1', async () => { const answer = await fetch('http://127.0.0.1:' + server.address().port); if (await answer.text() !== 'hi') throw new Error(); server.close(resolve); server.closeAllConnections(); }); }));\n",
		},
		commands: [['npm', 'test']],
		output: /pass 1/,
	},
	{
		title: 'git reads: log, status, diff, describe',
		files: {'new.txt': 'new\n'},
		commands: [
			[
				'sh',
				'-c',
				'git log --oneline && git status --short && git diff HEAD --stat && git ls-files && git rev-parse --show-toplevel && ! git commit --allow-empty -m no 2>/dev/null',
			],
		],
		output: /first[\s\S]*\?\? new\.txt/,
	},
];

function place(world: World, files: Readonly<Record<string, string>>): void {
	for (const [name, content] of Object.entries(files)) {
		mkdirSync(path.dirname(path.join(world.facts.checkout, name)), {recursive: true});
		writeFileSync(path.join(world.facts.checkout, name), content);
	}

	spawnSync('chown', ['-R', `${world.userId}:${world.userId}`, world.base]);
}

for (const userId of userIds) {
	for (const {title, files, commands, output, sandbox, env} of projects) {
		test(`as user ${userId}, under the default profile, ${title}`, async t => {
			const world = createWorld(userId);
			t.teardown(world.remove);
			place(world, files);
			const told = await runSandboxed(world, {
				commands: commands.map(argv => ({argv: [...argv], timeout_seconds: 60, ...(env === undefined ? {} : {env})})),
				...(sandbox === undefined ? {} : {sandbox}),
			});
			t.deepEqual(
				told.map(({exit_code: code}) => code),
				commands.map(() => 0),
				JSON.stringify(told),
			);
			t.regex(told.map(({output: text}) => text).join(''), output);
		});
	}

	test(`as user ${userId}, npm ci installs from a warm cache that the profile names`, async t => {
		const world = createWorld(userId, 'checkout', visibleParent());
		t.teardown(world.remove);
		const source = path.join(world.base, 'dep');
		const cache = path.join(world.base, 'npm-cache');
		mkdirSync(source);
		writeFileSync(path.join(source, 'package.json'), '{"name": "dep", "version": "1.0.0", "main": "index.js"}');
		writeFileSync(path.join(source, 'index.js'), "module.exports = 'from the cache';\n");
		execFileSync('npm', ['pack', '--silent', '--cache', cache], {cwd: source});
		const archive = path.join(source, 'dep-1.0.0.tgz');
		execFileSync('npm', ['cache', 'add', archive, '--cache', cache], {cwd: source});
		const integrity = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
		const dependencies = {dep: '1.0.0'};
		place(world, {
			'package.json': JSON.stringify({name: 'p', version: '1.0.0', dependencies}),
			'package-lock.json': JSON.stringify({
				name: 'p',
				version: '1.0.0',
				lockfileVersion: 3,
				requires: true,
				packages: {
					'': {name: 'p', version: '1.0.0', dependencies},
					'node_modules/dep': {version: '1.0.0', resolved: 'https://registry.example.test/dep/-/dep-1.0.0.tgz', integrity},
				},
			}),
		});
		const told = await runSandboxed(world, {
			commands: [
				{argv: ['npm', 'ci', '--offline', '--no-audit', '--no-fund'], env: {npm_config_cache: cache}, timeout_seconds: 60},
				{argv: ['node', '-p', 'require("dep")']},
			],
			sandbox: {mode: 'required', filesystem: {write: ['.', cache]}},
		});
		t.is(told[1]?.output, 'from the cache\n', JSON.stringify(told));
	});
}

const isGoThere = existsSync('/usr/local/go/bin/go');
/** Tools that a machine need not have leave no skipped test behind. */
if (isGoThere) {
	test('go tests a module, its caches in the private home', async t => {
		const world = createWorld(process.getuid?.() ?? 0);
		t.teardown(world.remove);
		place(world, {
			'go.mod': 'module example.test/m\n\ngo 1.20\n',
			'm_test.go': 'package m\n\nimport "testing"\n\nfunc TestIt(t *testing.T) { t.Log("ran") }\n',
		});
		const [told] = await runSandboxed(world, {
			commands: [{argv: ['/usr/local/go/bin/go', 'test', '-v', './...'], env: {GOPROXY: 'off', GOFLAGS: '-mod=mod'}, timeout_seconds: 120}],
		});
		t.regex(told?.output ?? '', /PASS/, JSON.stringify(told));
	});
}

const toolchains = path.join(homedir(), '.rustup/toolchains');
const toolchain = existsSync(toolchains) ? readdirSync(toolchains)[0] : undefined;
if (toolchain !== undefined) {
	test('cargo tests a crate, its toolchain in a home that the profile shows', async t => {
		const world = createWorld(process.getuid?.() ?? 0);
		t.teardown(world.remove);
		const bin = path.join(toolchains, toolchain, 'bin');
		place(world, {
			'Cargo.toml': '[package]\nname = "m"\nversion = "0.1.0"\nedition = "2021"\n',
			'src/lib.rs': '#[test]\nfn it() { assert_eq!(2 + 2, 4); }\n',
		});
		const [told] = await runSandboxed(world, {
			commands: [
				{argv: [path.join(bin, 'cargo'), 'test', '--offline'], env: {RUSTC: path.join(bin, 'rustc'), RUSTDOC: path.join(bin, 'rustdoc')}, timeout_seconds: 170},
			],
			sandbox: {mode: 'required', filesystem: {read: [path.join(toolchains, toolchain)]}},
		});
		t.regex(told?.output ?? '', /1 passed/, JSON.stringify(told));
	});
}
