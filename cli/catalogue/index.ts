import type {CommandSpec} from '../command-spec.ts';
import {authorityCommands} from './authority-commands.ts';
import {brokerCommands} from './broker-commands.ts';
import {cacheCommands} from './cache-commands.ts';
import {evidenceCommands} from './evidence-commands.ts';
import {planCommands} from './plan-commands.ts';
import {reviewCommands} from './review-commands.ts';
import {runCommands} from './run-commands.ts';
import {worktreeCommands} from './worktree-commands.ts';

/** Every command, in the order of help. */
export const catalogue: readonly CommandSpec[] = [
	...runCommands,
	...planCommands,
	...evidenceCommands,
	...authorityCommands,
	...cacheCommands,
	...worktreeCommands,
	...brokerCommands,
	...reviewCommands,
];

/** What the groups of commands are about; every first word of a two-word command has a line here. */
export const groupSummaries: Readonly<Record<string, string>> = {
	plan: 'check, describe and begin plans',
	evidence: 'read what runs left',
	profile: 'lay out a role',
	local: 'lay out a local authority',
	worktree: 'make and keep the one worktree of an issue',
	cache: 'make, refresh and prove mirrors',
	broker: 'hold an issue for a workflow by a lease',
	review: 'check what a review rests on',
};
