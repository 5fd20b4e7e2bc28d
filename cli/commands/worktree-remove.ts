import {removeWorktree} from '../../cache/index.ts';
import {BailiffError} from '../../core/errors.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {onWorktree} from '../worktree-call.ts';

/** `bailiff worktree remove`: removes the worktree where nothing is lost (C-RM). */
export async function worktreeRemove(call: CommandCall): Promise<Reply> {
	const {options} = call;
	const deliveredBranch = options.text('deliveredBranch');
	const discard = options.text('discard');
	if (deliveredBranch !== null && discard !== null) {
		throw new BailiffError('CLI_USAGE', '--delivered-branch and --discard say opposite things: give one of them');
	}

	return onWorktree(call, async request => removeWorktree({...request, deliveredBranch, discard, isDroppingIgnored: options.flag('dropIgnored')}));
}
