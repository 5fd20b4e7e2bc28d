import type {CommandSpec} from '../command-spec.ts';

/** The commands that lay out, run and validate. */
export const runCommands: readonly CommandSpec[] = [
	{
		path: 'completion',
		summary: 'print the completion script of a shell',
		arguments: [{name: 'SHELL', kind: 'text', summary: 'bash, zsh or fish', choices: ['bash', 'zsh', 'fish']}],
		options: [],
		example: 'source <(bailiff completion bash)',
		load: async () => (await import('../commands/completion.ts')).completion,
	},
];
