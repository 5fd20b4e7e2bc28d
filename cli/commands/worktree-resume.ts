import {resumeWorktree} from '../../cache/index.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {onWorktree} from '../worktree-call.ts';

/** `bailiff worktree resume`: proves that the worktree may be gone on with (C-REUSE). */
export function worktreeResume(call: CommandCall): Promise<Reply> {
	return onWorktree(call, resumeWorktree);
}
