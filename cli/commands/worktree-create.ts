import {type Base, createWorktree} from '../../cache/index.ts';
import {BailiffError} from '../../core/errors.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import type {OptionValues} from '../option-values.ts';
import {onWorktree} from '../worktree-call.ts';

/** `bailiff worktree create`: makes the worktree of an approved issue (C-NEW). */
export async function worktreeCreate(call: CommandCall): Promise<Reply> {
	const chosen = readChosenBase(call.options);
	return onWorktree(call, async request => createWorktree({...request, chosen}));
}

function readChosenBase(options: OptionValues): Base | null {
	const sha = options.text('base');
	const source = options.text('baseSource');
	if (sha === null && source === null) {
		return null;
	}

	if (sha === null || source === null) {
		throw new BailiffError('CLI_USAGE', '--base and --base-source are given together: the commit, and who vouches for it');
	}

	return {sha, source: source === 'discovery' ? 'discovery' : 'default-branch'};
}
