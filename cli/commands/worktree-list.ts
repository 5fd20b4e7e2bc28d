import {listWorktrees, openGit} from '../../cache/index.ts';
import {parseRepositoryName, readContractPath} from '../arguments.ts';
import {replyOfReports} from '../cache-reply.ts';
import type {CommandCall, Reply} from '../command-spec.ts';

/** `bailiff worktree list`: names the worktrees of a repository (C-LOCK-5). */
export async function worktreeList({options}: CommandCall): Promise<Reply> {
	const contractPath = readContractPath(options);
	const name = parseRepositoryName(options.required('target'));
	const report = await listWorktrees({contractPath, name, git: await openGit()});
	const reply = replyOfReports([report]);
	const lines = report.worktrees.map(
		({issue, registered, state_file: hasState}) =>
			`${issue === null ? 'unknown' : `issue ${issue}`}: ${registered ? 'registered' : 'NOT registered'}, ${hasState ? 'with' : 'WITHOUT'} state file`,
	);
	return {...reply, text: lines.length === 0 && report.status === 'ok' ? 'no worktree' : lines.join('\n')};
}
