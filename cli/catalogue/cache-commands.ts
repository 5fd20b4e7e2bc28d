import type {CommandSpec, OptionSpec} from '../command-spec.ts';
import {rootOptions} from './shared-options.ts';

const mirrorOptions: readonly OptionSpec[] = [
	...rootOptions,
	{name: 'target', kind: 'text', value: 'OWNER/REPOSITORY', summary: 'the repository; may be repeated: several are worked on side by side', isRepeatable: true},
	{name: 'owner', kind: 'text', value: 'OWNER', summary: 'owner of the repository'},
	{name: 'repository', kind: 'text', value: 'REPOSITORY', summary: 'name of the repository'},
];
const profileOption: OptionSpec = {name: 'profile', kind: 'directory', value: 'DIR', summary: 'the role, and the authority that it speaks to'};
const neededProfile: OptionSpec = {...profileOption, isRequired: true};
const lockOption: OptionSpec = {name: 'lock-timeout', kind: 'seconds', value: 'SECONDS', summary: 'how long to wait for a lock (default: refuse at once)'};

/** The commands about mirrors (C-BOOT, C-SYNC). */
export const cacheCommands: readonly CommandSpec[] = [
	{
		path: 'cache bootstrap',
		summary: 'make the mirror of a repository, proven against its authority',
		arguments: [],
		options: [...mirrorOptions, neededProfile, lockOption],
		example: 'bailiff cache bootstrap --root /srv/bailiff --profile ~/roles/impl-agent --target acme/widget',
		load: async () => (await import('../commands/cache-bootstrap.ts')).cacheBootstrap,
	},
	{
		path: 'cache sync',
		summary: 'bring mirrors to the state of their authority, and prove it',
		arguments: [],
		options: [...mirrorOptions, neededProfile, lockOption],
		example: 'bailiff cache sync --root /srv/bailiff --profile ~/roles/impl-agent --target acme/widget --target acme/gadget',
		load: async () => (await import('../commands/cache-sync.ts')).cacheSync,
	},
	{
		path: 'cache status',
		summary: 'say what stands, without a lock and without a change',
		arguments: [],
		options: [...mirrorOptions, profileOption],
		example: 'bailiff cache status --root /srv/bailiff --target acme/widget',
		load: async () => (await import('../commands/cache-status.ts')).cacheStatus,
	},
	{
		path: 'cache verify',
		summary: 'prove a mirror anew: modes, config, refs and every object',
		arguments: [],
		options: [...mirrorOptions, profileOption, lockOption, {name: 'full', kind: 'flag', summary: 'also git fsck --full'}],
		example: 'bailiff cache verify --root /srv/bailiff --target acme/widget',
		load: async () => (await import('../commands/cache-verify.ts')).cacheVerify,
	},
];
