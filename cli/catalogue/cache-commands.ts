import type {CommandSpec, OptionSpec} from '../command-spec.ts';
import {handleOption, profileOption, rootOptions} from './shared-options.ts';

const mirrorOptions: readonly OptionSpec[] = [
	...rootOptions,
	{name: 'target', kind: 'text', value: 'OWNER/REPOSITORY', summary: 'the repository; may be repeated: several are worked on side by side', isRepeatable: true},
	{name: 'owner', kind: 'text', value: 'OWNER', summary: 'owner of the repository'},
	{name: 'repository', kind: 'text', value: 'REPOSITORY', summary: 'name of the repository'},
];
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
		options: [...mirrorOptions, neededProfile, lockOption, handleOption],
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
	{
		path: 'cache chmod',
		summary: 'give a place of the layout its canonical mode, and look again',
		arguments: [],
		options: [
			...rootOptions,
			{name: 'path', kind: 'file', value: 'PATH', summary: 'a place below repositories, absolute', isRequired: true},
			{name: 'mode', kind: 'text', value: 'MODE', summary: 'its canonical mode: 0700 for directories, 0600 for files', isRequired: true},
		],
		example: 'bailiff cache chmod --root /srv/bailiff --path /srv/bailiff/repositories/acme --mode 0700',
		load: async () => (await import('../commands/cache-chmod.ts')).cacheChmod,
	},
	{
		path: 'cache restore-config',
		summary: "write the mirror's own config again, where it is still the one that was looked at",
		arguments: [],
		options: [
			...mirrorOptions,
			profileOption,
			lockOption,
			{name: 'expect-sha256', kind: 'text', value: 'DIGEST', summary: 'the sha256 of the config, as the refusal shows it', isRequired: true},
		],
		example: 'bailiff cache restore-config --root /srv/bailiff --target acme/widget --expect-sha256 "$digest"',
		load: async () => (await import('../commands/cache-restore-config.ts')).cacheRestoreConfig,
	},
	{
		path: 'cache maintain',
		summary: 'pack a mirror anew while nobody works with it; nothing is dropped',
		arguments: [],
		options: [...mirrorOptions, profileOption, lockOption],
		example: 'bailiff cache maintain --root /srv/bailiff --target acme/widget',
		load: async () => (await import('../commands/cache-maintain.ts')).cacheMaintain,
	},
];
