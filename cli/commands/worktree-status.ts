import {worktreeStatus as statusOf} from '../../cache/index.ts';
import {BailiffError} from '../../core/errors.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {readWorkflowId} from '../lease.ts';
import {onWorktree} from '../worktree-call.ts';

/** `bailiff worktree status`: says what the worktree holds, without a lock; with --record also into the runtime (C-DEL-1). */
export async function worktreeStatus(call: CommandCall): Promise<Reply> {
	const label = call.options.text('record');
	const runId = readWorkflowId(call.options);
	if ((label === null) !== (runId === null)) {
		throw new BailiffError('CLI_USAGE', '--record and --run-id (or --handle) are given together: the label, and the workflow whose runtime it goes to');
	}

	return onWorktree(call, async ({openLease: _unasked, ...request}) =>
		statusOf({...request, ...(label === null || runId === null ? {} : {record: {label, runId}})}),
	);
}
