import type {CommandSpec} from '../command-spec.ts';
import {rootOptions, targetOptions} from './shared-options.ts';

/** The commands of a review (SR-CMD). */
export const reviewCommands: readonly CommandSpec[] = [
	{
		path: 'review check-cache',
		summary: 'look at owners, modes and links of a cache; no lock, no git, no change',
		arguments: [],
		options: [...rootOptions, ...targetOptions],
		example: 'bailiff review check-cache --root /srv/bailiff --target acme/widget#7',
		load: async () => (await import('../commands/review-check-cache.ts')).reviewCheckCache,
	},
];
