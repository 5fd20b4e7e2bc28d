import {type ApprovalKind, issueBodySha256, type LockWait, type RepositoryRef} from '../../cache/index.ts';
import {type Clock, systemClock, toRfc3339Ms} from '../../core/clock.ts';
import type {Target} from '../../core/ids.ts';
import {approvalsSchema, issueSchema, type LocalApprovalsDocument, type LocalIssueDocument} from './documents.ts';
import {accountIdOf, makeLocalDirectory, underAuthorityLock, writeRecord} from './laying-out.ts';
import {checkLocalDirectory, localPlaces, statusOf} from './places.ts';
import {issueFile, readApprovalsRecord, readIssueRecord, readRepositoryRecord} from './records.ts';

/** An issue as a person writes it. */
export type IssueText = {
	readonly title: string;
	readonly body: string;
	readonly login: string;
	readonly state: 'open' | 'closed';
};

/** An approval as a person gives it: `base` for an implementation, `branch` for a push or pull request, `headSha` for a push. */
export type ApprovalText = {
	readonly kind: ApprovalKind;
	readonly login: string;
	readonly base: string | null;
	readonly branch: string | null;
	readonly headSha: string | null;
};

/** What one approval of a local authority holds. */
export type LocalApproval = LocalApprovalsDocument['approvals'][number];

/** Where to write, and how long to wait for `DIR/.lock`. */
export type LocalWrite = {readonly directory: string; readonly target: Target; readonly wait?: LockWait; readonly clock?: Clock};

/**
 * Writes an issue; one that is there keeps number, author and creation time and gets this text and a new time.
 *
 * Refuses: CACHE_AUTHORITY_ codes, CACHE_LOCK_ codes, CACHE_WRITE_FAILED. Source: authority.md section 1 (commands).
 */
export async function writeLocalIssue(where: LocalWrite, text: IssueText): Promise<{readonly issue: LocalIssueDocument; readonly isNew: boolean}> {
	const {directory, target} = where;
	return underAuthorityLock(directory, where.wait ?? {}, async () => {
		const accountId = accountIdOf(directory, text.login);
		const file = recordFile(directory, target, 'issues');
		const before = statusOf(file) === null ? null : readIssueRecord(directory, target, target.issue);
		const now = nowText(where.clock);
		const issue: LocalIssueDocument = {
			schema: 'bailiff.local-issue/v1',
			number: target.issue,
			title: text.title,
			body: text.body,
			state: text.state,
			author_id: before?.author_id ?? accountId,
			created_at: before?.created_at ?? now,
			updated_at: now,
		};
		writeRecord(file, issueSchema, issue);
		return {issue, isNew: before === null};
	});
}

/**
 * Adds an approval of the issue's body as it stands now.
 *
 * Refuses: CACHE_AUTHORITY_NOT_FOUND (no such issue or login), CACHE_AUTHORITY_MALFORMED (base, branch or head do not fit the kind), CACHE_LOCK_ codes,
 * CACHE_WRITE_FAILED. Source: authority.md section 1 (commands).
 */
export async function addLocalApproval(where: LocalWrite, text: ApprovalText): Promise<LocalApproval> {
	const {directory, target} = where;
	return underAuthorityLock(directory, where.wait ?? {}, async () => {
		const issue = readIssueRecord(directory, target, target.issue);
		const before = readApprovalsRecord(directory, target, target.issue);
		const approval: LocalApproval = {
			id: Math.max(0, ...before.approvals.map(({id}) => id)) + 1,
			kind: text.kind,
			account_id: accountIdOf(directory, text.login),
			body_sha256: issueBodySha256(issue),
			base_sha: text.base,
			branch: text.branch,
			head_sha: text.headSha,
			at: nowText(where.clock),
			revoked_at: null,
		};
		const after: LocalApprovalsDocument = {...before, approvals: [...before.approvals, approval]};
		writeRecord(recordFile(directory, target, 'approvals'), approvalsSchema, after);
		return approval;
	});
}

function recordFile(directory: string, target: Target, kind: 'issues' | 'approvals'): string {
	readRepositoryRecord(directory, refOf(target));
	const place = localPlaces(directory, target)[kind];
	makeLocalDirectory(place);
	checkLocalDirectory(place);
	return issueFile(place, target.issue);
}

function refOf({owner, repository}: Target): RepositoryRef {
	return {owner, repository};
}

function nowText(clock: Clock | undefined): string {
	return toRfc3339Ms((clock ?? systemClock).wallMs());
}
