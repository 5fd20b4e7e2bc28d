import type {Target} from '../core/ids.ts';
import type {BaseSource} from './base-choice.ts';
import type {IssuePaths} from './layout.ts';
import {type CommonReport, Draft, type ReportIdentity, type ReportStatus} from './report.ts';

/** partial: registered without a state file. mismatch: its parts do not fit each other. relocated: the root was moved. */
export type WorktreeWord = 'absent' | 'ready' | 'partial' | 'mismatch' | 'relocated' | 'removed';

/** An operation of git that was begun and not finished. */
export type UnfinishedOperation = 'merge' | 'rebase' | 'cherry-pick' | 'revert' | 'bisect' | 'am' | 'sequencer';

/** The two things of an issue by which drift is judged. */
export type IssueSnapshotText = {readonly updated_at: string; readonly body_sha256: string};

/** The issue as it was read in this command; null without a profile. */
export type ReportIssue = {
	readonly number: number;
	updated_at: string | null;
	body_sha256: string | null;
	/** Ids of the approvals that count. */
	approvals: readonly number[] | null;
	drift: {readonly old: IssueSnapshotText; readonly new: IssueSnapshotText} | null;
};

/** How many paths of each kind there are, however many are listed. */
export type PathCounts = {readonly staged: number; readonly unstaged: number; readonly untracked: number; readonly ignored: number};

/** The worktree as it was found last; null where a part was not read. Lists hold at most 100 paths. */
export type ReportCheckout = {
	path: string;
	/** null: the command was refused before it looked. */
	state: WorktreeWord | null;
	/** null where nothing was made or resumed. */
	reused: boolean | null;
	locked: boolean | null;
	detached: boolean | null;
	base_sha: string | null;
	base_source: BaseSource | null;
	head_sha: string | null;
	base_is_ancestor: boolean | null;
	commits_after_base: number | null;
	/** Commits of HEAD that no ref of the mirror reaches. */
	undelivered_commits: number | null;
	staged: readonly string[] | null;
	unstaged: readonly string[] | null;
	untracked: readonly string[] | null;
	ignored: readonly string[] | null;
	counts: PathCounts | null;
	/** Paths marked assume-unchanged or skip-worktree. */
	hidden_flags: readonly string[] | null;
	gitlinks: readonly string[] | null;
	lfs_pointers: number | null;
	unfinished: UnfinishedOperation | null;
	/** Leftover lock files of git, relative to the worktree's git directory. */
	git_locks: readonly string[] | null;
};

/** Whether the authority has the head, read again. */
export type ReportDelivery = {readonly branch: string; readonly provider_sha: string | null; readonly local_sha: string; readonly equal: boolean};

/** The answer of `worktree create|resume|status|renew|remove`. Source: authority.md section 6. */
export type WorktreeReport = CommonReport & {
	readonly identity: ReportIdentity | null;
	readonly repository: {readonly owner: string; readonly repository: string; readonly id: number | null};
	readonly cache: {readonly path: string; readonly state: 'absent' | 'usable' | 'unusable' | null};
	readonly issue: Readonly<ReportIssue>;
	readonly worktree: Readonly<ReportCheckout>;
	/** `kept`: what is left after a removal, and why the issue's directory stays. */
	readonly evidence: {readonly runs: number; readonly runtime: number; readonly kept: boolean | null};
	readonly delivery: ReportDelivery | null;
};

/** The report of a command on a worktree while it works. */
export class WorktreeDraft extends Draft<WorktreeReport> {
	cache: {readonly path: string; state: WorktreeReport['cache']['state']};
	readonly issue: ReportIssue;
	readonly worktree: ReportCheckout;
	evidence: WorktreeReport['evidence'] = {runs: 0, runtime: 0, kept: null};
	delivery: ReportDelivery | null = null;

	constructor(command: string, target: Target, paths: IssuePaths) {
		super(command, target);
		this.cache = {path: paths.mirror, state: null};
		this.issue = {number: target.issue, updated_at: null, body_sha256: null, approvals: null, drift: null};
		this.worktree = unreadWorktree(paths.checkout);
	}

	/** The report with this ending. */
	finish(status: ReportStatus, error: CommonReport['error']): WorktreeReport {
		return {
			...this.common(status, error),
			identity: this.identity,
			repository: this.repository,
			cache: this.cache,
			issue: this.issue,
			worktree: this.worktree,
			evidence: this.evidence,
			delivery: this.delivery,
		};
	}
}

/** What is said of a worktree of which nothing was read. */
export function unreadWorktree(path: string): ReportCheckout {
	return {
		path,
		state: null,
		reused: null,
		locked: null,
		detached: null,
		base_sha: null,
		base_source: null,
		head_sha: null,
		base_is_ancestor: null,
		commits_after_base: null,
		undelivered_commits: null,
		staged: null,
		unstaged: null,
		untracked: null,
		ignored: null,
		counts: null,
		hidden_flags: null,
		gitlinks: null,
		lfs_pointers: null,
		unfinished: null,
		git_locks: null,
	};
}
