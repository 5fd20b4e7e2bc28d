import test from 'ava';
import {admit, assertSameSnapshot, issueBodySha256, readAdmission} from '../../cache/approval.ts';
import type {Approval, Issue} from '../../cache/authority.ts';
import {sha256Hex} from '../../core/digest.ts';
import {issueBody, localGround} from '../helpers/local-authority.ts';
import {refusalLater, refusalOf} from '../helpers/refusal.ts';

const body = 'Line one\r\nLine two \n';
const issue: Issue = {
	number: 7,
	title: 'Count words',
	body,
	state: 'open',
	authorId: 1,
	createdAt: '2026-01-02T03:04:05Z',
	updatedAt: '2026-01-02T03:04:06Z',
};
const approval: Approval = {
	id: 4,
	kind: 'implementation',
	accountId: 1,
	bodySha256: sha256Hex(body),
	baseSha: null,
	branch: null,
	headSha: null,
	at: '2026-01-02T04:00:00Z',
	revokedAt: null,
};
const rule = {approvers: [1, 2, 3], accountId: 2};
const base = 'a'.repeat(40);

test('the digest is over the decoded body: no line ending, blank or last line feed is changed', t => {
	t.is(issueBodySha256({body: ''}), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
	const digests = new Set(['a\n', 'a\r\n', 'a', ' a\n', 'a\n\n', '\uFEFFa\n', 'ä', 'a\u0308'].map(text => issueBodySha256({body: text})));
	t.is(digests.size, 8);
});

test('an approval that counts makes the snapshot: time, body and sorted ids', t => {
	t.deepEqual(admit(issue, [{...approval, id: 9}, approval, {...approval, id: 5, revokedAt: '2026-01-03T00:00:00Z'}], rule), {
		issue,
		snapshot: {updatedAt: issue.updatedAt, bodySha256: sha256Hex(body), approvalIds: [4, 9]},
		approvedBase: null,
	});
});

for (const [title, changes, message] of [
	['nobody approved', null, /no approval at all/],
	['a push was approved', {kind: 'push'}, /is for push/],
	['a pull request was approved', {kind: 'pull_request'}, /is for pull_request/],
	['the approval was revoked', {revokedAt: '2026-01-03T00:00:00Z'}, /revoked at 2026-01-03T00:00:00Z/],
	['the body changed since', {bodySha256: sha256Hex(body.trim())}, /another body/],
	['somebody else approved', {accountId: 8}, /account 8, who is no approver/],
	['the agent approved itself', {accountId: 2}, /the profile's own/],
] as const) {
	test(`not approved, and the message says why: ${title}`, t => {
		const refusal = refusalOf(() => admit(issue, changes === null ? [] : [{...approval, ...changes}], rule));
		t.is(refusal?.code, 'CACHE_NOT_APPROVED');
		t.regex(refusal?.message ?? '', message);
	});
}

test('a closed issue is refused however it was approved', t => {
	t.is(refusalOf(() => admit({...issue, state: 'closed'}, [approval], rule))?.code, 'CACHE_ISSUE_CLOSED');
});

test('the base is the one that valid approvals name; none, one, and two that agree or do not', t => {
	const other = 'b'.repeat(40);
	t.is(admit(issue, [approval, {...approval, id: 5, baseSha: base}], rule).approvedBase, base);
	t.is(
		admit(
			issue,
			[
				{...approval, baseSha: base},
				{...approval, id: 5, baseSha: base},
			],
			rule,
		).approvedBase,
		base,
	);
	t.is(
		admit(
			issue,
			[
				{...approval, baseSha: base},
				{...approval, id: 5, baseSha: other, revokedAt: issue.updatedAt},
			],
			rule,
		).approvedBase,
		base,
	);
	const refusal = refusalOf(() =>
		admit(
			issue,
			[
				{...approval, baseSha: base},
				{...approval, id: 5, baseSha: other},
			],
			rule,
		),
	);
	t.is(refusal?.code, 'CACHE_APPROVAL_AMBIGUOUS');
	t.deepEqual(refusal?.details['bases'], [base, other]);
});

test('C-ADM-4: any of the three that changed is named, with both snapshots', t => {
	const {snapshot} = admit(issue, [approval], rule);
	assertSameSnapshot(7, snapshot, {...snapshot, approvalIds: [4]});
	for (const [change, name] of [
		[{updatedAt: '2026-01-02T03:04:06.000Z'}, 'updated_at'],
		[{bodySha256: sha256Hex('')}, 'body'],
		[{approvalIds: [4, 5]}, 'approvals'],
	] as const) {
		const refusal = refusalOf(() => assertSameSnapshot(7, snapshot, {...snapshot, ...change}));
		t.is(refusal?.code, 'CACHE_ISSUE_CHANGED');
		t.deepEqual(refusal?.details['changed'], [name]);
	}
});

test('readAdmission() reads a real authority afresh at each call', async t => {
	const {authority, profile, target, directory} = await localGround(t);
	const first = await readAdmission(authority, profile, target);
	t.is(first.snapshot.bodySha256, sha256Hex(issueBody));
	t.deepEqual(first.snapshot.approvalIds, [1]);
	const {writeLocalIssue} = await import('../../publish/local/index.ts');
	await writeLocalIssue({directory, target}, {title: 'Count words', body: `${issueBody}.`, login: 'maintainer', state: 'open'});
	t.is((await refusalLater(() => readAdmission(authority, profile, target)))?.code, 'CACHE_NOT_APPROVED');
});
