import {BailiffError, type ErrorCode, type ErrorDetails} from '../core/errors.ts';
import type {RepositoryName} from '../core/ids.ts';

/** One thing that is not as it must be. */
export type CacheProblem = {
	readonly code: ErrorCode;
	/** Relative to `<owner>/<repository>/`, or null. */
	readonly path: string | null;
	readonly message: string;
	readonly details: ErrorDetails;
	/** A command for a person, or null. */
	readonly remedy: string | null;
};

/** ok: exit 0. no: 1, something damaged was found. refused: 3, nothing changed. partial: 4. */
export type ReportStatus = 'ok' | 'no' | 'refused' | 'partial';

/** What every report of the cache begins with; every key is always there. Source: authority.md section 6. */
export type CommonReport = {
	readonly command: string;
	readonly status: ReportStatus;
	readonly error: {readonly code: ErrorCode; readonly message: string; readonly details: ErrorDetails} | null;
	readonly problems: readonly CacheProblem[];
	readonly locks: readonly string[];
	/** Everything named below was read again after the last change. */
	readonly complete: boolean;
};

/** Who acted, at which authority; null without a profile. */
export type ReportIdentity = {
	readonly provider: string;
	readonly url: string;
	readonly account_id: number;
	readonly login: string;
	readonly role: string;
	readonly authenticated: 'token' | 'file-ownership';
};

/** The mirror as it was found last. */
export type ReportMirror = {
	path: string | null;
	state: 'absent' | 'usable' | 'unusable' | 'busy';
	/** null where nothing was made. */
	reused: boolean | null;
	bare: boolean | null;
	object_format: string | null;
	origin: string | null;
	origin_identity: string | null;
	verified_at: string | null;
	refs: number | null;
	packs: number | null;
	bytes: number | null;
	temporary_packs: {readonly count: number; readonly bytes: number} | null;
	/** Absolute paths of staging directories and unpublished records that no living process holds. */
	staging_leftovers: readonly string[];
};

/** The default branch at the authority and here. */
export type ReportBranch = {
	name: string | null;
	provider_sha: string | null;
	local_sha: string | null;
	equal: boolean | null;
	witness_equal: boolean | null;
	attempts: number;
};

/** A worktree as git's registration and the state file show it; no checkout is opened (C-LOCK-5). */
export type ReportWorktree = {readonly issue: number | null; readonly registered: boolean; readonly state_file: boolean};

/** What became of the credential. */
export type ReportCredential = {used: boolean; channel: 'none' | 'askpass'; left: boolean; searched: readonly string[]};

/** The answer of `cache bootstrap|sync|status|verify|maintain`. Source: authority.md section 6. */
export type CacheReport = CommonReport & {
	readonly identity: ReportIdentity | null;
	readonly repository: RepositoryName & {readonly id: number | null};
	readonly cache: Readonly<ReportMirror>;
	readonly default_branch: Readonly<ReportBranch>;
	readonly worktrees: readonly ReportWorktree[];
	readonly credential: Readonly<ReportCredential>;
};

/** The report of one command while it works: whatever stops the command, what was found until then is shown. */
export abstract class Draft<Report extends CommonReport> {
	readonly command: string;
	readonly problems: CacheProblem[] = [];
	readonly locks: string[] = [];
	/** Something of the root was changed that a failure would leave behind. */
	isChanged = false;
	isComplete = false;
	identity: ReportIdentity | null = null;
	repository: RepositoryName & {readonly id: number | null};

	constructor(command: string, name: RepositoryName) {
		this.command = command;
		this.repository = {owner: name.owner, repository: name.repository, id: null};
	}

	/**
	 * Takes problems over and stops the command where there are any.
	 *
	 * Refuses: the code of the first problem.
	 */
	stopOn(problems: readonly CacheProblem[]): void {
		this.problems.push(...problems);
		const [first] = problems;
		if (first !== undefined) {
			throw problemError(first, problems.length - 1);
		}
	}

	/** The report with this ending. */
	abstract finish(status: ReportStatus, error: CommonReport['error']): Report;

	/** What every report begins with. */
	protected common(status: ReportStatus, error: CommonReport['error']): CommonReport {
		return {command: this.command, status, error, problems: this.problems, locks: this.locks, complete: this.isComplete};
	}
}

/** The report of a command on a mirror. */
export class ReportDraft extends Draft<CacheReport> {
	readonly cache: ReportMirror = {
		path: null,
		state: 'absent',
		reused: null,
		bare: null,
		object_format: null,
		origin: null,
		origin_identity: null,
		verified_at: null,
		refs: null,
		packs: null,
		bytes: null,
		temporary_packs: null,
		staging_leftovers: [],
	};
	readonly defaultBranch: ReportBranch = {name: null, provider_sha: null, local_sha: null, equal: null, witness_equal: null, attempts: 0};
	worktrees: readonly ReportWorktree[] = [];
	readonly credential: ReportCredential = {used: false, channel: 'none', left: false, searched: []};

	/** The report with this ending. */
	finish(status: ReportStatus, error: CommonReport['error']): CacheReport {
		return {
			...this.common(status, error),
			identity: this.identity,
			repository: this.repository,
			cache: this.cache,
			default_branch: this.defaultBranch,
			worktrees: this.worktrees,
			credential: this.credential,
		};
	}
}

/**
 * Does the work of a command and returns its report whole, whatever happened: a refusal becomes `refused`, or `partial` where something was changed.
 *
 * `work` returns the status of a command that came to its end. Only bugs are thrown. Source: authority.md section 6.
 */
export async function reportOn<Report extends CommonReport>(draft: Draft<Report>, work: () => Promise<ReportStatus>): Promise<Report> {
	try {
		const status = await work();
		const [first] = draft.problems;
		return draft.finish(status, status === 'ok' || first === undefined ? null : problemError(first, draft.problems.length - 1).toJSON());
	} catch (error) {
		if (!(error instanceof BailiffError)) {
			throw error;
		}

		if (!draft.problems.some(problem => problem.code === error.code)) {
			draft.problems.push(problemOf(error));
		}

		draft.isComplete = false;
		return draft.finish(draft.isChanged ? 'partial' : 'refused', error.toJSON());
	}
}

/** A refusal as a problem; `details.path` and `details.remedy` go where they belong. */
export function problemOf(error: BailiffError): CacheProblem {
	const {path, remedy, ...details} = error.details;
	return {
		code: error.code,
		path: typeof path === 'string' ? path : null,
		message: error.message,
		details,
		remedy: typeof remedy === 'string' ? remedy : null,
	};
}

/** The refusal that a problem becomes, saying how many `more` there are. */
export function problemError(problem: CacheProblem, more: number): BailiffError {
	const others = more === 0 ? '' : ` (and ${more} more ${more === 1 ? 'problem' : 'problems'})`;
	return new BailiffError(problem.code, `${problem.message}${others}`, {details: {...problem.details, path: problem.path, remedy: problem.remedy}});
}
