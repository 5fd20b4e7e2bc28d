import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {findTool, isInside, toolchainRoot} from '../../../cli/first-plan/toolchain.ts';
import {temporaryDirectory} from '../../helpers/temporary-directory.ts';

/** A home with these programs (0755) and texts. */
function makeHome(directory: string, files: Readonly<Record<string, string>>): string {
	for (const [name, content] of Object.entries(files)) {
		const file = path.join(directory, name);
		mkdirSync(path.dirname(file), {recursive: true});
		writeFileSync(file, content, {mode: content === '#!' ? 0o755 : 0o644});
	}

	return directory;
}

const program = '#!';

for (const [title, files, entries, tool, pinned, expected] of [
	[
		'nvm puts the real directory on PATH',
		{'.nvm/versions/node/v20.1.0/bin/npm': program},
		['.nvm/versions/node/v20.1.0/bin'],
		'npm',
		{},
		'.nvm/versions/node/v20.1.0/bin',
	],
	[
		'rustup has a default toolchain',
		{
			'.cargo/bin/cargo': program,
			'.cargo/bin/rustup': program,
			'.rustup/settings.toml': 'default_toolchain = "stable-x86_64"\n',
			'.rustup/toolchains/stable-x86_64/bin/cargo': program,
			'.rustup/toolchains/nightly-x86_64/bin/cargo': program,
		},
		['.cargo/bin'],
		'cargo',
		{},
		'.rustup/toolchains/stable-x86_64/bin',
	],
	[
		'the project pins a rust toolchain',
		{'.cargo/bin/cargo': program, '.cargo/bin/rustup': program, '.rustup/toolchains/1.80.0-x86_64/bin/cargo': program},
		['.cargo/bin'],
		'cargo',
		{'rust-toolchain.toml': '[toolchain]\nchannel = "1.80.0"\n'},
		'.rustup/toolchains/1.80.0-x86_64/bin',
	],
	['a rustup without a toolchain is no cargo', {'.cargo/bin/cargo': program, '.cargo/bin/rustup': program}, ['.cargo/bin'], 'cargo', {}, null],
	['a cargo without rustup is what it is', {'.cargo/bin/cargo': program}, ['.cargo/bin'], 'cargo', {}, '.cargo/bin'],
	[
		'pyenv has a global version',
		{'.pyenv/shims/python3': program, '.pyenv/version': '3.11\n', '.pyenv/versions/3.11.4/bin/python3': program, '.pyenv/versions/3.9.1/bin/python3': program},
		['.pyenv/shims'],
		'python3',
		{},
		'.pyenv/versions/3.11.4/bin',
	],
	[
		'the project pins a python',
		{'.pyenv/shims/python3': program, '.pyenv/version': '3.11\n', '.pyenv/versions/3.11.4/bin/python3': program, '.pyenv/versions/3.9.1/bin/python3': program},
		['.pyenv/shims'],
		'python3',
		{'.python-version': '3.9.1\n'},
		'.pyenv/versions/3.9.1/bin',
	],
	[
		'a shim of an unknown manager is passed over for the next entry',
		{'.asdf/shims/go': program, 'usr/bin/go': program},
		['.asdf/shims', 'usr/bin'],
		'go',
		{},
		'usr/bin',
	],
	['a shim of an unknown manager alone is nothing', {'.asdf/shims/go': program}, ['.asdf/shims'], 'go', {}, null],
	[
		'a pinned version that climbs is nothing',
		{'.pyenv/shims/python3': program, 'bin/python3': program},
		['.pyenv/shims'],
		'python3',
		{'.python-version': '../..\n'},
		null,
	],
	['a program of the checkout does not count', {'checkout/node_modules/.bin/npm': program}, ['checkout/node_modules/.bin'], 'npm', {}, null],
	['a file that cannot be executed does not count', {'bin/npm': 'text'}, ['bin'], 'npm', {}, null],
] as const satisfies ReadonlyArray<readonly [string, Record<string, string>, readonly string[], string, Record<string, string>, string | null]>) {
	test(`findTool(): ${title}`, t => {
		const home = makeHome(temporaryDirectory(t), files);
		const found = findTool(tool, {
			searchPath: ['relative', ...entries.map(entry => path.join(home, entry))].join(':'),
			checkout: path.join(home, 'checkout'),
			files: {read: name => (name in pinned ? (Object.entries(pinned).find(([key]) => key === name)?.[1] ?? null) : null)},
		});
		t.is(found?.directory ?? null, expected === null ? null : path.join(home, expected));
	});
}

test('a linked directory and a Volta link are seen through', t => {
	const home = makeHome(temporaryDirectory(t), {'real/bin/node': program, 'volta/volta-shim': program});
	symlinkSync('real', path.join(home, 'current'));
	symlinkSync('volta-shim', path.join(home, 'volta', 'npm'));
	const search = (entry: string) => ({searchPath: path.join(home, entry), checkout: '/nowhere', files: {read: () => null}});
	t.is(findTool('node', search('current/bin'))?.directory, path.join(home, 'real/bin'));
	t.is(findTool('npm', search('volta')), null);
});

test('what a sandbox must show of a toolchain is its prefix, never a whole home', t => {
	t.is(toolchainRoot('/home/a/.nvm/versions/node/v20/bin', '/home/a'), '/home/a/.nvm/versions/node/v20');
	t.is(toolchainRoot('/home/a/bin', '/home/a'), '/home/a/bin');
	t.is(toolchainRoot('/home/a/.local/bin', '/home/a'), '/home/a/.local/bin');
	t.is(toolchainRoot('/tmp/bin', '/home/a'), '/tmp/bin');
	t.is(toolchainRoot('/tmp/node/bin', '/home/a'), '/tmp/node');
	t.is(toolchainRoot('/bin', null), '/bin');
	t.is(toolchainRoot('/opt/tool/sbin', null), '/opt/tool/sbin');
});

test('isInside() compares whole components', t => {
	t.true(isInside('/a/b', '/a'));
	t.true(isInside('/a', '/a'));
	t.true(isInside('/a/..b', '/a'));
	t.false(isInside('/ab', '/a'));
	t.false(isInside('/', '/a'));
});
