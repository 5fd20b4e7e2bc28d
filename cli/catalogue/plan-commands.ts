import type {CommandSpec} from '../command-spec.ts';
import {repoRootOption, targetOptions} from './shared-options.ts';

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
	{
		path: 'plan schema',
		summary: 'print the JSON Schema of a plan',
		arguments: [],
		options: [],
		example: 'bailiff plan schema > verification-plan.schema.json',
		load: async () => (await import('../commands/plan-schema.ts')).planSchema,
	},
	{
		path: 'plan new',
		summary: 'write a first plan for a checkout: its tools are found, its tests named',
		arguments: [],
		options: [repoRootOption, ...targetOptions, {name: 'output', kind: 'file', value: 'FILE', summary: 'a new file outside the checkout (default: stdout)'}],
		example: 'bailiff plan new --repo-root /src/widget --target acme/widget#7 --output /tmp/plan.json',
		load: async () => (await import('../commands/plan-new.ts')).planNew,
	},
];
