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
	const where = ['/bin', '/usr/bin', '/usr/local/bin'].map(directory => path.join(directory, shell)).find(isExecutable);
	if (where === undefined) {
		continue;
	}

	test(`${shell} accepts the syntax of its script`, t => {
		const file = path.join(temporaryDirectory(t), 'script');
		writeFileSync(file, script(shell));
		t.notThrows(() => execFileSync(where, ['-n', file], {stdio: 'pipe'}));
	});
}

test('a quote in a summary stays inside its quotes', t => {
	t.true(script('zsh').includes(`'run:run it, it'\\''s safe: really'`));
	t.true(script('fish').includes(`-d 'run it, it'\\''s safe: really'`));
});

function isExecutable(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
