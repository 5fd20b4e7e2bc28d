import {chmodSync, linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {type IssuePaths, issuePaths} from '../../cache/index.ts';
import {kindOfIssueEntry, publishWorktreeState, readWorktreeState, renewWorktreeState, type WorktreeState} from '../../cache/worktree-state.ts';
import {sha256Hex} from '../../core/digest.ts';
import type {ErrorCode} from '../../core/errors.ts';
import {codeOf} from '../helpers/refusal.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const state: WorktreeState = {
	schema: 'gitea-agent.worktree/v1',
	owner: 'acme',
	repository: 'widget',
	issue: 7,
	base_sha: '0123456789abcdef0123456789abcdef01234567',
	issue_updated_at: '2026-01-02T03:04:05Z',
	issue_body_sha256: 'a'.repeat(64),
	created_by_role: 'impl-agent',
	mode: 'detached',
};

function place(t: ExecutionContext): IssuePaths {
	const paths = issuePaths(temporaryDirectory(t), {owner: 'acme', repository: 'widget', issue: 7});
	mkdirSync(paths.issue, {recursive: true, mode: 0o700});
	return paths;
}

test('C-WT-6: a state is published whole, private, and read back with its digest', t => {
	const paths = place(t);
	publishWorktreeState(paths, state);
	const stored = readWorktreeState(paths);
	t.deepEqual(stored.state, state);
	t.is(stored.sha256, sha256Hex(readFileSync(paths.state)));
	t.is(lstatSync(paths.state).mode & 0o7777, 0o600);
	t.is(lstatSync(paths.state).nlink, 1);
	t.deepEqual(readdirSync(paths.issue), ['state.json'], 'no sibling is left');
});

test('C-WT-6: nothing is ever overwritten by a publication', t => {
	const paths = place(t);
	writeFileSync(paths.state, 'other', {mode: 0o600});
	t.is(
		codeOf(() => {
			publishWorktreeState(paths, state);
		}),
		'CACHE_TARGET_OCCUPIED',
	);
	t.is(readFileSync(paths.state, 'utf8'), 'other');
	t.deepEqual(readdirSync(paths.issue), ['state.json']);
});

test('C-REUSE-3: renew keeps the old state by its digest and can be made again after a kill', t => {
	const paths = place(t);
	publishWorktreeState(paths, state);
	const old = readWorktreeState(paths);
	const kept = path.join(paths.issue, `state.${old.sha256}.json`);
	// As a kill between the two steps leaves it.
	writeFileSync(kept, old.bytes, {mode: 0o600});
	const next = {...state, issue_body_sha256: 'b'.repeat(64)};
	renewWorktreeState(paths, old, next);
	t.deepEqual(readWorktreeState(paths).state, next);
	t.deepEqual(readFileSync(kept), old.bytes);
	t.deepEqual(readdirSync(paths.issue).toSorted(), [`state.${old.sha256}.json`, 'state.json']);
});

test('C-REUSE-3: a foreign file under the name of the old state is not overwritten', t => {
	const paths = place(t);
	publishWorktreeState(paths, state);
	const old = readWorktreeState(paths);
	writeFileSync(path.join(paths.issue, `state.${old.sha256}.json`), 'foreign', {mode: 0o600});
	t.is(
		codeOf(() => {
			renewWorktreeState(paths, old, {...state, issue_body_sha256: 'b'.repeat(64)});
		}),
		'CACHE_TARGET_OCCUPIED',
	);
	t.deepEqual(readWorktreeState(paths).state, state);
});

const text = JSON.stringify(state);
for (const [title, content, code] of [
	['no JSON', 'nothing', 'CACHE_STATE_INVALID'],
	['an empty file', '', 'CACHE_STATE_INVALID'],
	['one key more', text.replace('{', '{"token":"x",'), 'CACHE_STATE_INVALID'],
	['a key twice', text.replace('{', '{"mode":"detached",'), 'CACHE_STATE_INVALID'],
	['a missing key', JSON.stringify({...state, mode: undefined}), 'CACHE_STATE_INVALID'],
	['another mode', text.replace('"detached"', '"branch"'), 'CACHE_STATE_INVALID'],
	['an abbreviated base', text.replace(state.base_sha, '0123456'), 'CACHE_STATE_INVALID'],
	['a sha256 base', text.replace(state.base_sha, 'a'.repeat(64)), 'CACHE_STATE_INVALID'],
	['a branch as base', text.replace(state.base_sha, 'main'), 'CACHE_STATE_INVALID'],
	['another schema', text.replace('/v1', '/v2'), 'CACHE_STATE_INVALID'],
	['another owner', text.replace('acme', 'Acme'), 'CACHE_STATE_INVALID'],
	['another repository', text.replace('widget', 'gadget'), 'CACHE_STATE_INVALID'],
	['another issue', text.replace(':7,', ':8,'), 'CACHE_STATE_INVALID'],
	['an issue that is a boolean', text.replace(':7,', ':true,'), 'CACHE_STATE_INVALID'],
	['a byte order mark', `\ufeff${text}`, 'CACHE_STATE_INVALID'],
	['more than a mebibyte', text + ' '.repeat(1_048_576), 'CACHE_STATE_INVALID'],
] as const satisfies ReadonlyArray<readonly [string, string, ErrorCode]>) {
	test(`C-REUSE-1: a state with ${title} is refused`, t => {
		const paths = place(t);
		writeFileSync(paths.state, content, {mode: 0o600});
		t.is(
			codeOf(() => readWorktreeState(paths)),
			code,
		);
	});
}

for (const [title, spoil] of [
	['others may read', (file: string) => chmodSync(file, 0o644)],
	[
		'has a second name',
		(file: string) => {
			linkSync(file, `${file}.2`);
		},
	],
] as const) {
	test(`C-TRUST-5: a state that ${title} is not trusted`, t => {
		const paths = place(t);
		publishWorktreeState(paths, state);
		spoil(paths.state);
		t.is(
			codeOf(() => readWorktreeState(paths)),
			'CACHE_PATH_UNTRUSTED',
		);
	});
}

test('C-TRUST-5: a state that is a link is not followed, and an absent one is no worktree', t => {
	const paths = place(t);
	t.is(
		codeOf(() => readWorktreeState(paths)),
		'CACHE_WORKTREE_ABSENT',
	);
	const elsewhere = path.join(paths.root, 'elsewhere.json');
	writeFileSync(elsewhere, text, {mode: 0o600});
	symlinkSync(elsewhere, paths.state);
	t.is(
		codeOf(() => readWorktreeState(paths)),
		'CACHE_PATH_UNTRUSTED',
	);
});

test('C-LAY: only names of the layout are ours', t => {
	t.deepEqual(
		[
			'checkout',
			'state.json',
			`state.${'a'.repeat(64)}.json`,
			`.state.${'0'.repeat(16)}.new`,
			'verification',
			'runtime',
			'state.json~',
			'state.abc.json',
			'.git',
		].map(name => kindOfIssueEntry(name)),
		['checkout', 'state', 'kept-state', 'temporary', 'evidence', 'evidence', 'unknown', 'unknown', 'unknown'],
	);
});
