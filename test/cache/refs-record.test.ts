import {chmodSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import * as fc from 'fast-check';
import {arePairsEqual, createRefsRecord, type RefsRecord, readRefsRecord, replaceRefsRecord, shaOf, unknownPairs} from '../../cache/refs-record.ts';
import {codeOf} from '../helpers/refusal.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const sha = 'a'.repeat(40);
const record: RefsRecord = {
	schema: 'bailiff.mirror/v1',
	provider: {kind: 'local', url: 'file:///srv/authority'},
	repository_id: 1,
	owner: 'acme',
	repository: 'widget',
	origin: 'file:///srv/authority/acme/widget/repository.git',
	object_format: 'sha1',
	default_branch: 'main',
	pinned_sha: sha,
	verified_at: '2026-01-02T03:04:05.678Z',
	verified: [['refs/heads/main', sha]],
	pending: null,
};

test('a record is created once, replaced, and read back as it was; mode 0600', t => {
	const file = path.join(temporaryDirectory(t), 'refs.json');
	createRefsRecord(file, record);
	t.deepEqual(readRefsRecord(file), record);
	t.is(
		codeOf(() => createRefsRecord(file, record)),
		'CACHE_TARGET_OCCUPIED',
	);
	const next: RefsRecord = {...record, pending: [['refs/heads/ü', sha]]};
	replaceRefsRecord(file, next);
	t.deepEqual(readRefsRecord(file), next);
	t.is(statSync(file).mode & 0o7777, 0o600);
});

for (const [title, change] of [
	['an unknown key', (text: string) => text.replace('{', '{"x": 1,')],
	['a key twice', (text: string) => text.replace('"owner"', '"owner": "a", "owner"')],
	['a short id', (text: string) => text.replaceAll(sha, 'abc')],
	['a ref outside refs/', (text: string) => text.replace('refs/heads/main', 'HEAD')],
	['sha256', (text: string) => text.replace('"sha1"', '"sha256"')],
	['another schema', (text: string) => text.replace('mirror/v1', 'mirror/v2')],
	['a missing pending', (text: string) => text.replace(/,\s*"pending": null/, '')],
	['half a file', (text: string) => text.slice(0, 40)],
] as const) {
	test(`a record with ${title} is refused`, t => {
		const file = path.join(temporaryDirectory(t), 'refs.json');
		createRefsRecord(file, record);
		const text = readFileSync(file, 'utf8');
		t.not(change(text), text);
		writeFileSync(file, change(text));
		t.is(
			codeOf(() => readRefsRecord(file)),
			'CACHE_RECORD_INVALID',
		);
	});
}

test('a record that others may read, or that is not there, is refused', t => {
	const file = path.join(temporaryDirectory(t), 'refs.json');
	t.is(
		codeOf(() => readRefsRecord(file)),
		'CACHE_FOREIGN_MIRROR',
	);
	createRefsRecord(file, record);
	chmodSync(file, 0o644);
	t.is(
		codeOf(() => readRefsRecord(file)),
		'CACHE_PATH_UNTRUSTED',
	);
});

test('pairs are known by name and id together, in whatever order', t => {
	const pairs = fc.uniqueArray(fc.tuple(fc.constantFrom('refs/a', 'refs/b', 'refs/c'), fc.constantFrom('1', '2')), {selector: ([name]) => name});
	fc.assert(
		fc.property(pairs, pairs, (left, right) => {
			const unknown = unknownPairs(left, [right]);
			t.deepEqual(
				unknown,
				left.filter(([name, id]) => shaOf(right, name) !== id),
			);
			t.is(arePairsEqual(left, right), unknown.length === 0 && left.length === right.length);
			t.true(arePairsEqual(left, left.toReversed()));
			t.deepEqual(unknownPairs(left, [right, left]), []);
		}),
	);
});
