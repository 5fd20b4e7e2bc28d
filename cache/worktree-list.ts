import {readdirSync} from 'node:fs';
import {readMirrorState, requireMirrorPlace} from './mirror-check.ts';
import {describeMirror} from './mirror-report.ts';
import {type MirrorRequest, workOnMirror} from './mirror-work.ts';
import {type CacheReport, ReportDraft, type ReportWorktree} from './report.ts';
import {statusIfThere} from './trust.ts';

/**
 * Names the worktrees of a repository by git's registration and by state files alone: `bailiff worktree list`. No checkout is opened, no lock is taken.
 *
 * Refuses (in the report): CACHE_ABSENT, what the root refuses. Source: C-LOCK-5.
 */
export function listWorktrees(request: MirrorRequest): Promise<CacheReport> {
	return workOnMirror(request, new ReportDraft('worktree list', request.name), async work => {
		const {paths, draft} = work;
		requireMirrorPlace(paths);
		const found = await readMirrorState({git: request.git, paths, authority: null, refs: 'unasked'});
		describeMirror(draft, paths, found);
		draft.problems.unshift(...found.problems);
		draft.worktrees = [...draft.worktrees, ...unregistered(paths.worktrees, draft.worktrees)].toSorted((left, right) => (left.issue ?? 0) - (right.issue ?? 0));
		draft.isComplete = true;
		return 'ok';
	});
}

function unregistered(worktrees: string, known: readonly ReportWorktree[]): ReportWorktree[] {
	const names = statusIfThere(worktrees)?.isDirectory() === true ? readdirSync(worktrees) : [];
	return names
		.flatMap(name => /^issue-([1-9]\d{0,15})$/.exec(name)?.[1] ?? [])
		.map(Number)
		.filter(issue => known.every(worktree => worktree.issue !== issue) && statusIfThere(`${worktrees}/issue-${issue}/state.json`) !== null)
		.map(issue => ({issue, registered: false, state_file: true}));
}
