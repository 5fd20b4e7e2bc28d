import {sha256Hex} from '../core/digest.ts';
import {BailiffError} from '../core/errors.ts';
import type {Target} from '../core/ids.ts';
import type {Approval, Authority, Issue} from './authority.ts';
import type {Profile} from './profile.ts';

/** What an admission rests on. Two reads are the same exactly when these three are (C-ADM-4). */
export type AdmissionSnapshot = {
	readonly updatedAt: string;
	readonly bodySha256: string;
	/** Ids of the approvals that count, ascending. */
	readonly approvalIds: readonly number[];
};

/** An issue that may be worked on. */
export type Admission = {
	readonly issue: Issue;
	readonly snapshot: AdmissionSnapshot;
	/** The base that an approval names, or null where none does. */
	readonly approvedBase: string | null;
};

/** Whose approval counts, and who may not approve their own work. */
export type ApprovalRule = Pick<Profile, 'approvers' | 'accountId'>;

/** Lower-case SHA-256 of the UTF-8 bytes of the decoded body: nothing trimmed, no line ending changed. Source: authority.md section 1, C-WT-6. */
export function issueBodySha256(issue: Pick<Issue, 'body'>): string {
	return sha256Hex(issue.body);
}

/**
 * Reads issue and approvals afresh and says what may be worked on.
 *
 * Refuses: CACHE_ISSUE_CLOSED, CACHE_NOT_APPROVED, CACHE_APPROVAL_AMBIGUOUS, and what the authority refuses. Source: C-ADM-1, authority.md section 1.
 */
export async function readAdmission(authority: Authority, rule: ApprovalRule, target: Target): Promise<Admission> {
	const issue = await authority.issue(target, target.issue);
	const approvals = await authority.approvals(target, target.issue);
	return admit(issue, approvals, rule);
}

/**
 * The same judgement over what was read.
 *
 * Counts: kind `implementation`, not revoked, for exactly this body, by an approver of the profile who is not its own account.
 * Refuses: as `readAdmission`. Source: authority.md section 1.
 */
export function admit(issue: Issue, approvals: readonly Approval[], rule: ApprovalRule): Admission {
	if (issue.state === 'closed') {
		throw new BailiffError('CACHE_ISSUE_CLOSED', `issue ${issue.number} is closed: reopen it before it is worked on`, {details: {issue: issue.number}});
	}

	const bodySha256 = issueBodySha256(issue);
	const judged = approvals.map(approval => ({approval, lacks: lacksOf(approval, bodySha256, rule)}));
	const valid = judged.filter(({lacks}) => lacks.length === 0).map(({approval}) => approval);
	if (valid.length === 0) {
		throw notApproved(issue.number, bodySha256, judged);
	}

	return {
		issue,
		snapshot: {updatedAt: issue.updatedAt, bodySha256, approvalIds: valid.map(({id}) => id).toSorted((left, right) => left - right)},
		approvedBase: onlyBase(issue.number, valid),
	};
}

/**
 * Returns only where two reads of one issue are the same.
 *
 * Refuses: CACHE_ISSUE_CHANGED with both snapshots in the details. Source: C-ADM-4.
 */
export function assertSameSnapshot(issue: number, before: AdmissionSnapshot, after: AdmissionSnapshot): void {
	const changed = [
		...(before.updatedAt === after.updatedAt ? [] : ['updated_at']),
		...(before.bodySha256 === after.bodySha256 ? [] : ['body']),
		...(before.approvalIds.join() === after.approvalIds.join() ? [] : ['approvals']),
	];
	if (changed.length > 0) {
		throw new BailiffError('CACHE_ISSUE_CHANGED', `issue ${issue} changed while it was worked on (${changed.join(', ')}): read it again and start anew`, {
			details: {issue, changed, old: snapshotDetails(before), new: snapshotDetails(after)},
		});
	}
}

function lacksOf(approval: Approval, bodySha256: string, rule: ApprovalRule): string[] {
	return [
		...(approval.kind === 'implementation' ? [] : [`is for ${approval.kind}, not for implementation`]),
		...(approval.revokedAt === null ? [] : [`was revoked at ${approval.revokedAt}`]),
		...(approval.bodySha256 === bodySha256 ? [] : ['is for another body of the issue']),
		...(rule.approvers.includes(approval.accountId) ? [] : [`is by account ${approval.accountId}, who is no approver of this profile`]),
		...(approval.accountId === rule.accountId ? [`is by account ${approval.accountId}, which is the profile's own`] : []),
	];
}

function notApproved(issue: number, bodySha256: string, judged: ReadonlyArray<{readonly approval: Approval; readonly lacks: readonly string[]}>): BailiffError {
	const reasons = judged.map(({approval, lacks}) => `approval ${approval.id} ${lacks.join(' and ')}`);
	return new BailiffError(
		'CACHE_NOT_APPROVED',
		`issue ${issue} has no approval of its implementation: ${reasons.length === 0 ? 'there is no approval at all' : reasons.join('; ')}`,
		{
			details: {issue, body_sha256: bodySha256, approvals: judged.map(({approval, lacks}) => ({id: approval.id, lacks: [...lacks]}))},
		},
	);
}

function onlyBase(issue: number, valid: readonly Approval[]): string | null {
	const bases = [...new Set(valid.flatMap(({baseSha}) => (baseSha === null ? [] : [baseSha])))];
	if (bases.length > 1) {
		throw new BailiffError(
			'CACHE_APPROVAL_AMBIGUOUS',
			`the approvals of issue ${issue} name different bases, ${bases.join(' and ')}: have all but one revoked`,
			{
				details: {issue, bases},
			},
		);
	}

	return bases[0] ?? null;
}

function snapshotDetails(snapshot: AdmissionSnapshot): {updated_at: string; body_sha256: string; approvals: number[]} {
	return {updated_at: snapshot.updatedAt, body_sha256: snapshot.bodySha256, approvals: [...snapshot.approvalIds]};
}
