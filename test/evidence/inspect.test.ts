import {chmodSync, readFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {sha256Hex} from '../../core/digest.ts';
import {BailiffError} from '../../core/errors.ts';
import {type InspectAnswer, type InspectRequest, inspectRun} from '../../evidence/inspect.ts';
import type {PullRequestHead, SourceEntry, SourceObjects} from '../../evidence/ports.ts';
import {CorpusGround, type Step} from '../helpers/evidence-corpus.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const sha = 'e88f53d1472c20213192e70a0700f2a1ae153e53';
const tree = '5a5426c41882fca971b2934803ef2068298a69a9';
const script = Buffer.from('#!/bin/sh\nprintf "ok %s\\n" "$1"\n');
const entries: readonly SourceEntry[] = [
	{path: 'README.md', mode: '100644', id: '1'.repeat(40)},
	{path: 'check.sh', mode: '100755', id: '2'.repeat(40)},
	{path: 'lib/one.txt', mode: '100644', id: '3'.repeat(40)},
];
const items = ['source.commit', 'source.tree', 'commands/check/cwd', 'commands/check/executable', 'commands/bytes/cwd', 'commands/both/cwd'];

function objectsOf(change: Partial<{tree: string; entries: readonly SourceEntry[]; blob: Buffer}> = {}): SourceObjects {
	return {
		readCommit: async () => ({tree: change.tree ?? tree, entries: change.entries ?? entries}),
		readBlobs: async ids => new Map(ids.map(id => [id, change.blob ?? script])),
	};
}

const refuse = async (): Promise<never> => {
	throw new BailiffError('CACHE_OBJECT_INVALID', 'git object is missing');
};
const nothing: SourceObjects = {readCommit: refuse, readBlobs: refuse};
const headAt = (head: string): PullRequestHead => ({read: async () => head});

async function inspect(t: ExecutionContext, change: Partial<InspectRequest> = {}, steps: readonly Step[] = []): Promise<InspectAnswer> {
	const ground = new CorpusGround(temporaryDirectory(t), 'v3', '/nonexistent');
	for (const step of steps) {
		ground.apply(step);
	}

	return inspectRun({
		root: ground.root,
		verificationDir: ground.verification,
		target: {owner: 'acme', repository: 'widget', issue: 7},
		runId: ground.runId,
		objects: objectsOf(),
		pullRequest: headAt(sha),
		...change,
	});
}

test('with every object and the head of the provider everything is bound', async t => {
	t.is(sha256Hex(script), '5b0bf1d94ee834abc2202f471169ff175ba6d4435da32c874bad8d5bbb1511e2');
	const answer = await inspect(t);
	t.is(answer.verdict, 'source-bound');
	t.deepEqual(answer.bound, [...items, 'pull_request.head']);
	t.deepEqual(answer.evidence_gap, []);
	t.like(answer, {result: 'passed', source: {sha, tree}, attempts: {same_plan_and_source: 1}, problems: []});
});

const gaps: ReadonlyArray<readonly [title: string, change: Partial<InspectRequest>, missing: readonly string[]]> = [
	['without a provider', {pullRequest: null}, ['pull_request.head']],
	['with a provider that cannot be read', {pullRequest: {read: refuse}}, ['pull_request.head']],
	['with a provider that names a branch', {pullRequest: headAt('main')}, ['pull_request.head']],
	['without objects', {objects: nothing}, items],
	['with a commit whose file cannot be read', {objects: {...objectsOf(), readBlobs: refuse}}, ['commands/check/executable']],
	['with other bytes in the commit', {objects: objectsOf({blob: Buffer.from('x')})}, ['commands/check/executable']],
	[
		'with a link in place of the executable',
		{objects: objectsOf({entries: entries.map(entry => ({...entry, mode: '120000'}))})},
		['commands/check/executable'],
	],
	['without the executable', {objects: objectsOf({entries: entries.filter(entry => entry.path !== 'check.sh')})}, ['commands/check/executable']],
	['without the directory of a command', {objects: objectsOf({entries: entries.slice(0, 2)})}, ['commands/bytes/cwd']],
];

for (const [title, change, missing] of gaps) {
	test(`${title} exactly what is missing is a gap with its reason, and nothing is wrong`, async t => {
		const answer = await inspect(t, change);
		t.is(answer.verdict, 'evidence-gap');
		t.deepEqual(
			answer.evidence_gap.map(({item}) => item),
			missing,
		);
		t.true(answer.evidence_gap.every(({reason}) => reason.length > 10));
		t.deepEqual(answer.problems, []);
		t.deepEqual([...answer.bound, ...missing].toSorted(), [...items, 'pull_request.head'].toSorted());
	});
}

const faults: ReadonlyArray<readonly [title: string, code: string, change: Partial<InspectRequest>, steps: readonly Step[]]> = [
	['a pull request that moved on', 'EVIDENCE_SOURCE_HEAD', {pullRequest: headAt('0'.repeat(40))}, []],
	['another tree in the commit', 'EVIDENCE_SOURCE_TREE', {objects: objectsOf({tree: '0'.repeat(40)})}, []],
	['another commit than asked for', 'EVIDENCE_SOURCE_HEAD', {sourceSha: '0'.repeat(40)}, []],
	['a changed output', 'EVIDENCE_DIGEST', {}, [{op: 'write', file: 'RUN/output/000.log', text: 'ok 2\n'}]],
	['no ledger', 'EVIDENCE_LEDGER_MISSING', {}, [{op: 'remove', file: 'ledger.jsonl'}]],
	['a manifest that is none', 'CORE_JSON_SYNTAX', {}, [{op: 'write', file: 'RUN/manifest.json', text: '{'}]],
];

for (const [title, code, change, steps] of faults) {
	test(`${title} is a problem and no gap`, async t => {
		const answer = await inspect(t, change, steps);
		t.is(answer.verdict, 'invalid');
		t.is(answer.result, null);
		t.true(answer.problems.some(problem => problem.code === code));
	});
}

test('evidence that cannot be reached is a gap, not a fault', async t => {
	const answer = await inspect(t, {runId: 'r404'});
	t.is(answer.verdict, 'evidence-gap');
	t.deepEqual(
		answer.evidence_gap.map(({item}) => item),
		['evidence'],
	);
});

test('inspecting leaves every byte as it was', async t => {
	const ground = new CorpusGround(temporaryDirectory(t), 'v3', '/nonexistent');
	const manifest = path.join(ground.run, 'manifest.json');
	const before = readFileSync(manifest);
	chmodSync(ground.run, 0o700);
	await inspectRun({
		verificationDir: ground.verification,
		target: {owner: 'acme', repository: 'widget', issue: 7},
		runId: ground.runId,
		objects: nothing,
		pullRequest: null,
	});
	t.deepEqual(readFileSync(manifest), before);
});
