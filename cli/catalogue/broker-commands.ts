import type {CommandSpec} from '../command-spec.ts';
import {handleOption, rootOptions, targetOptions} from './shared-options.ts';

/** The commands about leases (BR). */
export const brokerCommands: readonly CommandSpec[] = [
	{
		path: 'broker serve',
		summary: 'hold the lock of an issue for a workflow, until its lease ends',
		arguments: [],
		options: [
			...rootOptions,
			...targetOptions,
			{name: 'role', kind: 'text', value: 'ROLE', summary: 'the role that works under the lease', isRequired: true},
			{name: 'run-id', kind: 'text', value: 'ID', summary: 'a new id of the workflow', isRequired: true},
			{name: 'ttl', kind: 'whole', value: 'SECONDS', summary: 'the lease ends unless it is renewed in this time: 5 to 3600 (default: 900)'},
			{name: 'lock-timeout', kind: 'seconds', value: 'SECONDS', summary: 'how long to wait for the issue lock (default: refuse at once)'},
			{name: 'lifeline', kind: 'flag', summary: 'the end of stdin ends the lease'},
		],
		example: 'bailiff broker serve --root /srv/bailiff --target acme/widget#7 --role impl-agent --run-id w-1',
		load: async () => (await import('../commands/broker-serve.ts')).brokerServe,
	},
	{
		path: 'broker request',
		summary: 'ask the broker of a lease for one thing',
		arguments: [
			{
				name: 'OP',
				kind: 'text',
				summary: 'what is asked for',
				choices: ['acquire', 'renew', 'acquire_repository', 'release_repository', 'release', 'probe'],
			},
		],
		options: [
			{...handleOption, isRequired: true},
			{name: 'ttl', kind: 'whole', value: 'SECONDS', summary: 'renew: for how long, 5 to 3600 (default: 900)'},
			{name: 'lock-timeout', kind: 'seconds', value: 'SECONDS', summary: 'acquire_repository: how long to wait (default: refuse at once)'},
			{
				name: 'resource',
				kind: 'text',
				value: 'RESOURCE',
				summary: 'probe: issue, repository or bootstrap (default: repository)',
				choices: ['issue', 'repository', 'bootstrap'],
			},
		],
		example: 'bailiff broker request --handle /srv/bailiff/repositories/acme/widget/worktrees/issue-7/runtime/w-1/handle.json renew',
		load: async () => (await import('../commands/broker-request.ts')).brokerRequest,
	},
	{
		path: 'broker probe',
		summary: 'say whether a lock is free; needs no broker',
		arguments: [],
		options: [
			...rootOptions,
			...targetOptions,
			{
				name: 'resource',
				kind: 'text',
				value: 'RESOURCE',
				summary: 'issue, repository or bootstrap',
				choices: ['issue', 'repository', 'bootstrap'],
				isRequired: true,
			},
		],
		example: 'bailiff broker probe --root /srv/bailiff --target acme/widget#7 --resource issue',
		load: async () => (await import('../commands/broker-probe.ts')).brokerProbe,
	},
];
