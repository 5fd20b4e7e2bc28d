import type {CommandSpec} from '../command-spec.ts';
import {rootOptions} from './shared-options.ts';

/** The commands that lay out, run and validate. */
export const runCommands: readonly CommandSpec[] = [
	{
		path: 'init',
		summary: 'lay out a root; one that is there is checked and left alone',
		arguments: [],
		options: rootOptions,
		example: 'bailiff init --root /srv/bailiff',
		load: async () => (await import('../commands/init.ts')).init,
	},
	{
		path: 'completion',
		summary: 'print the completion script of a shell',
		arguments: [{name: 'SHELL', kind: 'text', summary: 'bash, zsh or fish', choices: ['bash', 'zsh', 'fish']}],
		options: [],
		example: 'source <(bailiff completion bash)',
		load: async () => (await import('../commands/completion.ts')).completion,
	},
];
