import {renewWorktree} from '../../cache/index.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {onWorktree} from '../worktree-call.ts';

/** `bailiff worktree renew`: takes over the freshly approved body of the issue (C-REUSE-3). */
export function worktreeRenew(call: CommandCall): Promise<Reply> {
	const expectedStateSha256 = call.options.required('expectStateSha256');
	return onWorktree(call, async request => renewWorktree({...request, expectedStateSha256}));
}
