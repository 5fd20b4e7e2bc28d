import type {CommandSpec, OptionSpec} from '../command-spec.ts';
import {handleOption, profileOption, rootOptions, targetOptions} from './shared-options.ts';

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
			handleOption,
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
		options: [...base, neededProfile, lockOption, handleOption],
		example: `bailiff worktree resume ${withProfile}`,
		load: async () => (await import('../commands/worktree-resume.ts')).worktreeResume,
	},
	{
		path: 'worktree status',
		summary: 'say what the worktree holds, without a lock',
		arguments: [],
		options: [
			...base,
			profileOption,
			{name: 'record', kind: 'text', value: 'LABEL', summary: 'also write it into the runtime that --run-id or --handle names, as status-LABEL.json'},
			{name: 'run-id', kind: 'text', value: 'ID', summary: 'the workflow whose runtime is meant'},
			{...handleOption, summary: 'the lease whose runtime is meant'},
		],
		example: `bailiff worktree status ${onIssue}`,
		load: async () => (await import('../commands/worktree-status.ts')).worktreeStatus,
	},
	{
		path: 'worktree path',
		summary: 'print where the checkout of the worktree lies',
		arguments: [],
		options: base,
		example: `cd "$(bailiff worktree path ${onIssue})"`,
		load: async () => (await import('../commands/worktree-path.ts')).worktreePath,
	},
	{
		path: 'worktree list',
		summary: 'name the worktrees of a repository; no checkout is opened',
		arguments: [],
		options: [...rootOptions, {name: 'target', kind: 'text', value: 'OWNER/REPOSITORY', summary: 'the repository', isRequired: true}],
		example: 'bailiff worktree list --root /srv/bailiff --target acme/widget',
		load: async () => (await import('../commands/worktree-list.ts')).worktreeList,
	},
	{
		path: 'worktree exec',
		summary: 'run a command in the worktree, under the lock of its issue, with its author',
		arguments: [{name: 'COMMAND...', kind: 'text', summary: 'the command and its arguments, after --'}],
		options: [
			...base,
			neededProfile,
			lockOption,
			handleOption,
			{name: 'run-id', kind: 'text', value: 'ID', summary: 'whose runtime the records go to (default: that of the lease, or a new one)'},
		],
		example: `bailiff worktree exec ${withProfile} -- git commit -am "Count words"`,
		load: async () => (await import('../commands/worktree-exec.ts')).worktreeExec,
	},
	{
		path: 'worktree renew',
		summary: 'take over the freshly approved body of the issue; the old state is kept',
		arguments: [],
		options: [
			...base,
			neededProfile,
			lockOption,
			handleOption,
			{name: 'expect-state-sha256', kind: 'text', value: 'H', summary: 'digest of state.json as it was looked at', isRequired: true},
		],
		example: `bailiff worktree renew ${withProfile} --expect-state-sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`,
		load: async () => (await import('../commands/worktree-renew.ts')).worktreeRenew,
	},
	{
		path: 'worktree remove',
		summary: 'remove the worktree, where nothing is lost; evidence stays',
		arguments: [],
		options: [
			...base,
			neededProfile,
			lockOption,
			handleOption,
			{name: 'delivered-branch', kind: 'text', value: 'B', summary: 'the branch that the authority has HEAD on'},
			{name: 'discard', kind: 'text', value: 'HEAD_SHA', summary: 'the exact head whose commits may be lost'},
			{name: 'drop-ignored', kind: 'flag', summary: 'ignored files may be lost, too'},
		],
		example: `bailiff worktree remove ${withProfile} --delivered-branch issue-7`,
		load: async () => (await import('../commands/worktree-remove.ts')).worktreeRemove,
	},
];
