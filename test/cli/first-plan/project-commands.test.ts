import test from 'ava';
import {findCommands} from '../../../cli/first-plan/project-commands.ts';

function commandLines(files: Readonly<Record<string, string>>): string[] {
	return findCommands({read: name => files[name] ?? null}).map(({argv}) => argv.join(' '));
}

for (const [title, files, expected] of [
	['nothing is known', {'README.md': 'x'}, []],
	[
		'npm with a lock file',
		{
			'package.json': '{"scripts":{"test":"ava","lint":"x","build":"tsc","start":"y"},"devDependencies":{"ava":"7"}}',
			'package-lock.json': '{}',
		},
		['npm ci', 'npm run build', 'npm run lint', 'npm run test'],
	],
	['npm without a lock file', {'package.json': '{"scripts":{"test":"ava"},"devDependencies":{"ava":"7"}}'}, ['npm run test']],
	['npm without dependencies', {'package.json': '{"scripts":{"test":"node --test"}}', 'package-lock.json': '{}'}, ['npm run test']],
	['the script that npm init writes', {'package.json': '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}'}, []],
	[
		'pnpm',
		{'package.json': '{"scripts":{"typecheck":"tsc"},"dependencies":{"a":"1"}}', 'pnpm-lock.yaml': ''},
		['pnpm install --frozen-lockfile', 'pnpm run typecheck'],
	],
	['a package.json that is no JSON', {'package.json': '{"scripts":'}, []],
	['a package.json with scripts of another kind', {'package.json': '{"scripts":["test"]}'}, []],
	['make', {Makefile: '.PHONY: test\nX := test\nlint check: deps\n\tx\ntest:\n\ty\n'}, ['make lint', 'make check', 'make test']],
	['a makefile that make itself would not take', {GNUmakefile: 'test:\n', Makefile: 'check:\n'}, ['make test']],
	['assignments only', {Makefile: 'test := 1\ncheck ::= 2\nlint = a:b\n'}, []],
	['cargo', {'Cargo.toml': '[package]', 'Cargo.lock': ''}, ['cargo build --locked', 'cargo test --locked']],
	['cargo without a lock file', {'Cargo.toml': '[package]'}, ['cargo build', 'cargo test']],
	['go', {'go.mod': 'module x\n'}, ['go vet ./...', 'go test ./...']],
	['python with pytest', {'pyproject.toml': '[tool.pytest.ini_options]\n'}, ['python3 -m pytest']],
	['python without pytest', {'setup.py': 'setup()'}, ['python3 -m unittest discover']],
	['several at once', {Makefile: 'test:\n', 'go.mod': 'module x\n'}, ['make test', 'go vet ./...', 'go test ./...']],
] as const satisfies ReadonlyArray<readonly [string, Readonly<Record<string, string>>, readonly string[]]>) {
	test(`a first plan of ${title}: ${expected.join(', ') || 'nothing'}`, t => {
		t.deepEqual(commandLines(files), expected);
	});
}

test('a module that requires others needs the network, one of its own does not', t => {
	t.deepEqual(networkNeeds('module x\n\nrequire (\n\ta v1\n)\n'), [true, true]);
	t.deepEqual(networkNeeds('module x\n'), [false, false]);
});

function networkNeeds(module: string): boolean[] {
	return findCommands({read: name => (name === 'go.mod' ? module : null)}).map(({needsNetwork}) => needsNetwork);
}
