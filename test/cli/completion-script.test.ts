import {execFileSync} from 'node:child_process';
import {accessSync, constants, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import type {CommandSpec} from '../../cli/command-spec.ts';
import {completionScript, shells} from '../../cli/completion-script.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const load: CommandSpec['load'] = async () => {
	throw new Error('completion loads nothing');
};
const commands: readonly CommandSpec[] = [
	{
		path: 'run',
		summary: "run it, it's safe: really",
		arguments: [],
		options: [
			{name: 'root', kind: 'directory', value: 'DIR', summary: 'x'},
			{name: 'plan', kind: 'file', value: 'PLAN', summary: 'x'},
			{name: 'colour', kind: 'text', value: 'WHEN', summary: 'x', choices: ['always', 'never']},
			{name: 'strict', kind: 'flag', summary: 'x'},
		],
		example: '',
		load,
	},
	{path: 'plan check', summary: 'check', arguments: [{name: 'PLAN', kind: 'file', summary: 'x'}], options: [], example: '', load},
	{path: 'plan new', summary: 'new', arguments: [], options: [], example: '', load},
	{path: 'speak', summary: 's', arguments: [{name: 'SHELL', kind: 'text', summary: 'x', choices: ['bash', 'zsh']}], options: [], example: '', load},
];

function script(shell: (typeof shells)[number]): string {
	return completionScript(shell, commands, {plan: 'about plans'});
}

/** What bash itself offers at the end of these words. */
function offers(words: readonly string[], cwd: string): string[] {
	const program = `${script('bash')}
COMP_WORDS=(${words.map(word => `'${word}'`).join(' ')})
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_bailiff
printf '%s\\n' "\${COMPREPLY[@]}"`;
	return execFileSync('bash', ['--norc', '-c', program], {cwd, encoding: 'utf8'}).split('\n').filter(Boolean).toSorted();
}

for (const [words, expected] of [
	[[''], ['--version', 'plan', 'run', 'speak']],
	[['pl'], ['plan']],
	[
		['plan', ''],
		['check', 'new'],
	],
	[['run', '--s'], ['--strict']],
	[
		['run', '--colour', ''],
		['always', 'never'],
	],
	[['run', '--root', ''], ['a directory']],
	[
		['run', '--plan', ''],
		['a directory', 'plan.json'],
	],
	[
		['plan', 'check', ''],
		['a directory', 'plan.json'],
	],
	[
		['plan', 'check', '--'],
		['--help', '--json'],
	],
	[['speak', 'z'], ['zsh']],
] as const) {
	test(`bash offers ${expected.join(', ')} after: bailiff ${words.join(' ')}`, t => {
		const directory = temporaryDirectory(t);
		mkdirSync(path.join(directory, 'a directory'));
		writeFileSync(path.join(directory, 'plan.json'), '');
		t.deepEqual(offers(['bailiff', ...words], directory), expected);
	});
}

for (const shell of shells) {
	const program = programOf(shell);
	if (program !== null) {
		test(`${shell} accepts the syntax of its script`, t => {
			const file = path.join(temporaryDirectory(t), 'script');
			writeFileSync(file, script(shell));
			t.notThrows(() => execFileSync(program, ['-n', file], {stdio: 'pipe'}));
		});
	}
}

const fish = programOf('fish');
if (fish !== null) {
	test('fish itself offers commands, options and choices', t => {
		const file = path.join(temporaryDirectory(t), 'script');
		writeFileSync(file, script('fish'));
		for (const [line, expected] of [
			['bailiff ', ['plan', 'run', 'speak']],
			['bailiff plan ', ['check', 'new']],
			['bailiff run --colour ', ['always', 'never']],
			['bailiff run --st', ['--strict']],
		] as const) {
			const offered = execFileSync(fish, ['--no-config', '-c', `source ${file}; complete -C '${line}'`], {encoding: 'utf8'});
			t.deepEqual(
				[...offered.matchAll(/^(\S+)/gm)].map(([, word]) => word),
				[...expected],
			);
		}
	});
}

const zsh = programOf('zsh');
if (zsh !== null) {
	test('zsh itself is given commands, options and files', t => {
		const record = `compdef() { :; }
${script('zsh')}
_describe() { print -rl -- "\${(P@)2}" }
_files() { print -r -- "files $@" }
`;
		for (const [words, expected] of [
			[
				['bailiff', 'plan', ''],
				['check:check', 'new:new'],
			],
			[['bailiff', 'run', '--root', ''], ['files -/']],
			[['bailiff', 'run', '--plan', ''], ['files ']],
		] as const) {
			const program = `${record}words=(${words.map(word => `'${word}'`).join(' ')}); CURRENT=${words.length}; _bailiff`;
			t.deepEqual(execFileSync(zsh, ['-f', '-c', program], {encoding: 'utf8'}).split('\n').slice(0, -1), [...expected]);
		}
	});
}

test('a quote in a summary stays inside its quotes', t => {
	t.true(script('zsh').includes(`'run:run it, it'\\''s safe: really'`));
	t.true(script('fish').includes(`-d 'run it, it'\\''s safe: really'`));
});

function programOf(shell: string): string | null {
	return ['/bin', '/usr/bin', '/usr/local/bin'].map(directory => path.join(directory, shell)).find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
