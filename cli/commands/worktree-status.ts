import {worktreeStatus as statusOf} from '../../cache/index.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {onWorktree} from '../worktree-call.ts';

/** `bailiff worktree status`: says what stands, without a lock and without a change. */
export function worktreeStatus(call: CommandCall): Promise<Reply> {
	return onWorktree(call, statusOf);
}
