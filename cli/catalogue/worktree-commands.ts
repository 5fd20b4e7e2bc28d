import type {CommandSpec, OptionSpec} from '../command-spec.ts';
import {profileOption, rootOptions, targetOptions} from './shared-options.ts';

const neededProfile: OptionSpec = {...profileOption, isRequired: true};
const lockOption: OptionSpec = {name: 'lock-timeout', kind: 'seconds', value: 'SECONDS', summary: 'how long to wait for a lock (default: refuse at once)'};
const base: readonly OptionSpec[] = [...rootOptions, ...targetOptions];
const onIssue = '--root /srv/bailiff --target acme/widget#7';
const withProfile = `${onIssue} --profile ~/roles/impl-agent`;

/** The commands about the worktree of an issue (C-WT, C-NEW, C-REUSE, C-RM). */
export const worktreeCommands: readonly CommandSpec[] = [
	{
		path: 'worktree create',
		summary: 'make the worktree of an approved issue at its exact base',
		arguments: [],
		options: [
			...base,
			neededProfile,
			lockOption,
			{name: 'base', kind: 'text', value: 'SHA', summary: 'the base, where default branch and approval differ'},
			{name: 'base-source', kind: 'text', value: 'SOURCE', summary: 'who vouches for it', choices: ['default-branch', 'discovery']},
		],
		example: `bailiff worktree create ${withProfile}`,
		load: async () => (await import('../commands/worktree-create.ts')).worktreeCreate,
	},
	{
		path: 'worktree resume',
		summary: 'prove that the worktree may be gone on with, as it is',
		arguments: [],
		options: [...base, neededProfile, lockOption],
		example: `bailiff worktree resume ${withProfile}`,
		load: async () => (await import('../commands/worktree-resume.ts')).worktreeResume,
	},
	{
		path: 'worktree status',
		summary: 'say what stands, without a lock and without a change',
		arguments: [],
		options: [...base, profileOption],
		example: `bailiff worktree status ${onIssue}`,
		load: async () => (await import('../commands/worktree-status.ts')).worktreeStatus,
	},
];
