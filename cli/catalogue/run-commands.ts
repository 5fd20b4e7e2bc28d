import type {Layer} from '../../evidence/plan-schema.ts';
import type {CommandSpec, OptionSpec} from '../command-spec.ts';
import {handleOption, profileOption, repoRootOption, rootOptions, runOption, targetOptions} from './shared-options.ts';

/** Written out, since the schema that owns them loads zod (R-PERF-5); the compiler sees that none is missing. */
const layerNames = Object.keys({
	fs_write: 0,
	fs_read: 0,
	network: 0,
	pid: 0,
	env: 0,
	memory: 0,
	processes: 0,
	syscalls: 0,
} satisfies Record<Layer, 0>);

/** The exact flags of E-READ-2. */
const archiveOptions: readonly OptionSpec[] = [
	{name: 'contract-path', kind: 'file', value: 'FILE', summary: 'the contract file of the root', isRequired: true},
	repoRootOption,
	{name: 'artifact-root', kind: 'directory', value: 'RUN', summary: 'the run at its place below the root, which says whose it is', isRequired: true},
	{name: 'manifest', kind: 'text', value: 'PATH', summary: 'the manifest, by its path inside of the run', isRequired: true},
];

function archiveExample(command: string): string {
	const root = '/srv/bailiff';
	const run = `${root}/repositories/acme/widget/worktrees/issue-7/verification/r1`;
	return `bailiff ${command} --contract-path ${root}/harness/operations/repository-cache.md --repo-root /src/widget --artifact-root ${run} --manifest manifest.json`;
}

/** A checkout anywhere, or the worktree that bailiff keeps. */
function canonicalOr(whose: string): OptionSpec {
	return {...repoRootOption, summary: `the checkout (default: the worktree ${whose})`, isRequired: false};
}

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
		path: 'doctor',
		summary: 'say what works on this machine, and how to mend what does not',
		arguments: [],
		options: [...rootOptions, profileOption],
		example: 'bailiff doctor --root /srv/bailiff --profile ~/roles/impl-agent',
		load: async () => (await import('../commands/doctor.ts')).doctor,
	},
	{
		path: 'run',
		summary: 'run a plan against the exact commit of a checkout and leave evidence',
		arguments: [],
		options: [
			...rootOptions,
			canonicalOr('of the plan’s target, for which --profile is needed'),
			profileOption,
			{name: 'plan', kind: 'file', value: 'PLAN', summary: 'the plan file', isRequired: true},
			{name: 'run-id', kind: 'text', value: 'ID', summary: 'a new run id (default: made from time and chance)'},
			{name: 'role', kind: 'text', value: 'ROLE', summary: 'the role that the manifest names as producer'},
			{
				name: 'sensitive-file',
				kind: 'file',
				value: 'FILE',
				summary: 'values that must not appear in any output, one a line, each at least 8 bytes; mode 0600',
				isRepeatable: true,
			},
			{name: 'lock-timeout', kind: 'seconds', value: 'SECONDS', summary: 'how long to wait for the issue lock (default: refuse at once)'},
			handleOption,
		],
		example: 'bailiff run --root /srv/bailiff --repo-root /src/widget --plan /tmp/plan.json',
		load: async () => (await import('../commands/run.ts')).run,
	},
	{
		path: 'validate',
		summary: 'say whether the evidence of a run holds against the checkout as it is now',
		arguments: [],
		options: [
			...rootOptions,
			canonicalOr('of the target'),
			...targetOptions,
			runOption,
			{name: 'require-passed', kind: 'flag', summary: 'a sound record of a failed run is a no, too'},
			{
				name: 'require-layer',
				kind: 'text',
				value: 'LAYER',
				summary: 'a run with a command that this sandbox layer did not hold is a no, too; may be repeated',
				isRepeatable: true,
				choices: layerNames,
			},
			{name: 'receipt', kind: 'file', value: 'FILE', summary: 'a receipt of export or receive: a ledger that lost the line that it names is a no'},
			{name: 'rescan', kind: 'flag', summary: 'look for secrets in the stored outputs again (about 25 ms a MiB)'},
		],
		example: 'bailiff validate --root /srv/bailiff --repo-root /src/widget --target acme/widget#7 --run 20260801-120000-4f2a9c1e',
		load: async () => (await import('../commands/validate.ts')).validate,
	},
	{
		path: 'validate-archived-v2',
		summary: 'say whether an archived v2 run is consistent, read only; never a proof of a fresh run',
		arguments: [],
		options: archiveOptions,
		example: archiveExample('validate-archived-v2'),
		load: async () => (await import('../commands/validate-archived-v2.ts')).validateArchivedV2,
	},
	{
		path: 'validate-legacy',
		summary: 'say whether the digests of an archived v1 run hold, read only; never a proof of a fresh run',
		arguments: [],
		options: archiveOptions,
		example: archiveExample('validate-legacy'),
		load: async () => (await import('../commands/validate-legacy.ts')).validateLegacy,
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
