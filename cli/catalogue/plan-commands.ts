import type {CommandSpec} from '../command-spec.ts';

/** The commands about plans (R-PLAN). */
export const planCommands: readonly CommandSpec[] = [
	{
		path: 'plan check',
		summary: 'say whether a file is a well-formed plan, and name every fault',
		arguments: [{name: 'PLAN', kind: 'file', summary: 'the plan file'}],
		options: [],
		example: 'bailiff plan check plan.json',
		load: async () => (await import('../commands/plan-check.ts')).planCheck,
	},
];
