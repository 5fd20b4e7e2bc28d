import {lstatSync, readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {sha256Hex} from '../../../core/digest.ts';
import {type ApprovalText, addLocalApproval, writeLocalIssue} from '../../../publish/local/index.ts';
import {localGround} from '../../helpers/local-authority.ts';
import {refusalLater} from '../../helpers/refusal.ts';

const text = {title: 'T', body: 'body\r\n', login: 'impl-agent', state: 'open'} as const;
const push: ApprovalText = {kind: 'push', login: 'maintainer', base: null, branch: 'issue-7', headSha: 'a'.repeat(40)};
const clock = {wallMs: () => Date.UTC(2030, 0, 2, 3, 4, 5), monotonicNs: () => 0n};

test('an issue that is there keeps number, author and creation time, and gets text, state and a new time', async t => {
	const {directory, target, authority} = await localGround(t);
	const before = await authority.issue(target, 7);
	const {issue, isNew} = await writeLocalIssue({directory, target, clock}, {...text, state: 'closed'});
	t.false(isNew);
	t.is(issue.updated_at, '2030-01-02T03:04:05.000Z');
	t.deepEqual(await authority.issue(target, 7), {...before, title: 'T', body: 'body\r\n', state: 'closed', updatedAt: issue.updated_at});
	t.true((await writeLocalIssue({directory, target: {...target, issue: 8}, clock}, text)).isNew);
	t.is((await authority.issue(target, 8)).authorId, 2);
	t.is(lstatSync(path.join(directory, 'acme/widget/issues/8.json')).mode & 0o7777, 0o600);
});

test('approvals follow each other under new ids, each for the body as it stands', async t => {
	const {directory, target, authority, source} = await localGround(t);
	await writeLocalIssue({directory, target}, text);
	await addLocalApproval({directory, target}, {kind: 'implementation', login: 'maintainer', base: source.sha, branch: null, headSha: null});
	await addLocalApproval({directory, target}, push);
	const found = await authority.approvals(target, 7);
	t.deepEqual(
		found.map(({id, kind, bodySha256, baseSha}) => [id, kind, bodySha256 === sha256Hex('body\r\n'), baseSha]),
		[
			[1, 'implementation', false, null],
			[2, 'implementation', true, source.sha],
			[3, 'push', true, null],
		],
	);
});

for (const [title, change, code] of [
	['a push without a head', {headSha: null}, 'CACHE_AUTHORITY_MALFORMED'],
	['a push without a branch', {branch: null}, 'CACHE_AUTHORITY_MALFORMED'],
	['a push of a short id', {headSha: 'abc'}, 'CACHE_AUTHORITY_MALFORMED'],
	['a push to a branch that is no name', {branch: 'refs heads'}, 'CACHE_AUTHORITY_MALFORMED'],
	['an implementation that names a branch', {kind: 'implementation', headSha: null}, 'CACHE_AUTHORITY_MALFORMED'],
	['an implementation from a name', {kind: 'implementation', branch: null, headSha: null, base: 'main'}, 'CACHE_AUTHORITY_MALFORMED'],
	['somebody who is not known', {login: 'nobody'}, 'CACHE_AUTHORITY_NOT_FOUND'],
] as const) {
	test(`no approval is written: ${title}`, async t => {
		const {directory, target} = await localGround(t);
		const file = path.join(directory, 'acme/widget/approvals/7.json');
		const before = readFileSync(file, 'utf8');
		t.is((await refusalLater(() => addLocalApproval({directory, target}, {...push, ...change})))?.code, code);
		t.is(readFileSync(file, 'utf8'), before);
	});
}

test('an issue that is not there cannot be approved, and an unknown login writes none', async t => {
	const {directory, target} = await localGround(t);
	t.is((await refusalLater(() => addLocalApproval({directory, target: {...target, issue: 9}}, push)))?.code, 'CACHE_AUTHORITY_NOT_FOUND');
	t.is((await refusalLater(() => writeLocalIssue({directory, target}, {...text, login: 'nobody'})))?.code, 'CACHE_AUTHORITY_NOT_FOUND');
	t.is((await refusalLater(() => writeLocalIssue({directory, target: {...target, repository: 'none'}}, text)))?.code, 'CACHE_AUTHORITY_NOT_FOUND');
});

test('an issue that its reader would not take is not written', async t => {
	const {directory, target} = await localGround(t);
	const body = '\u0001'.repeat(200_000);
	t.is((await refusalLater(() => writeLocalIssue({directory, target}, {...text, body})))?.code, 'CACHE_AUTHORITY_MALFORMED');
});

test('approvals given at the same moment wait for each other, and each gets an id of its own', async t => {
	const {directory, target, authority} = await localGround(t);
	await Promise.all(Array.from({length: 6}, () => addLocalApproval({directory, target, wait: {timeoutMs: 30_000}}, push)));
	t.deepEqual(
		(await authority.approvals(target, 7)).map(({id}) => id),
		[1, 2, 3, 4, 5, 6, 7],
	);
});
