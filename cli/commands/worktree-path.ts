import {worktreePath as pathOf} from '../../cache/index.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';
import {onWorktree} from '../worktree-call.ts';

/** `bailiff worktree path`: prints where the checkout lies, and nothing where it is not whole. */
export async function worktreePath(call: CommandCall): Promise<Reply> {
	let checkout = '';
	const reply = await onWorktree(call, async request => {
		const report = await pathOf(request);
		checkout = report.worktree.path;
		return report;
	});
	return {...reply, text: reply.exitCode === exitCodes.yes ? checkout : ''};
}
