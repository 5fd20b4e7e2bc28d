import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {canonicalJson} from '../../core/canonical-json.ts';
import {sha256Hex} from '../../core/digest.ts';
import {type ValidateAnswer, validateRun} from '../../evidence/index.ts';
import {countAttempts, ledgerHeadProblems, ledgerMatchProblems, ledgerRunProblems} from '../../evidence/ledger-check.ts';
import {parseLedger} from '../../evidence/ledger-lines.ts';
import {example, exampleDirectory, exampleManifest, exampleSource, RunCopy} from '../helpers/example-run.ts';

function copyOf(t: ExecutionContext): RunCopy {
	const copy = new RunCopy();
	t.teardown(() => {
		copy.remove();
	});
	return copy;
}

function validate(copy: RunCopy): Promise<ValidateAnswer> {
	return validateRun({verificationDir: copy.verification, target: example.target, runId: example.runId, source: exampleSource});
}

const names = new Set([example.runId]);
const exampleLedger = parseLedger(readFileSync(join(exampleDirectory, 'ledger.jsonl')));
const subject = {
	manifest: exampleManifest(),
	manifestSha256: '8c19a08bde19d181d5481e6ddcf20b34ef820d19715e89d323c309695d3ac5dd',
	planSha256: exampleManifest().plan.sha256,
};

test('the ledger of the example vouches for its run', t => {
	t.deepEqual(exampleLedger.problems, []);
	t.deepEqual(ledgerMatchProblems(exampleLedger, subject), []);
	t.deepEqual(ledgerRunProblems(exampleLedger, {before: names, after: names}), []);
});

const mismatches: ReadonlyArray<readonly [title: string, change: Partial<typeof subject>, pointers: readonly string[]]> = [
	['another digest of the manifest', {manifestSha256: '0'.repeat(64)}, ['/1/manifest_sha256']],
	['another plan', {planSha256: '0'.repeat(64)}, ['/0/plan_sha256']],
	['another started line', {manifest: {...subject.manifest, ledger: {n: 2, sha256: subject.manifest.ledger.sha256}}}, ['/ledger']],
	['another start', {manifest: {...subject.manifest, started_at: '2026-08-01T12:00:00.001Z'}}, ['/0/at']],
	['another result', {manifest: {...subject.manifest, result: 'passed'}}, ['/1/result']],
	['a run that the ledger does not have', {manifest: {...subject.manifest, run_id: 'other'}}, ['']],
];

for (const [title, change, pointers] of mismatches) {
	test(`ledgerMatchProblems() refuses ${title}`, t => {
		t.deepEqual(
			ledgerMatchProblems(exampleLedger, {...subject, ...change}).map(problem => [problem.code, problem.pointer]),
			pointers.map(pointer => ['EVIDENCE_LEDGER_MISMATCH', pointer]),
		);
	});
}

function askHead(ledger: Buffer, head: {readonly n: number; readonly sha256: string} | undefined, issue: number = example.target.issue): string[] {
	const named = {target: {...example.target, issue}, ledger: head ?? {n: 0, sha256: ''}};
	return ledgerHeadProblems(parseLedger(ledger), example.target, named).map(({code}) => code);
}

test('ledgerHeadProblems() takes a ledger that holds the line, also where it went on, and names one that lost it', t => {
	const bytes = readFileSync(join(exampleDirectory, 'ledger.jsonl'));
	const [first, last] = [exampleLedger.entries[0], exampleLedger.entries.at(-1)].map(entry => ({n: entry?.line.n ?? 0, sha256: entry?.sha256 ?? ''}));
	t.deepEqual(askHead(bytes, last), []);
	t.deepEqual(askHead(bytes, first), []);
	t.deepEqual(askHead(bytes.subarray(0, bytes.indexOf(0x0a) + 1), last), ['EVIDENCE_LEDGER_CUT']);
	t.deepEqual(askHead(Buffer.alloc(0), first), ['EVIDENCE_LEDGER_CUT']);
	t.deepEqual(askHead(bytes, {n: 1, sha256: last?.sha256 ?? ''}), ['EVIDENCE_LEDGER_CUT']);
	t.deepEqual(askHead(bytes, last, example.target.issue + 1), ['EVIDENCE_TARGET_MISMATCH']);
});

test('ledgerRunProblems() is not misled by a run that is published while it reads', t => {
	const none = new Set<string>();
	t.deepEqual(ledgerRunProblems(exampleLedger, {before: none, after: names}), []);
	t.deepEqual(
		ledgerRunProblems(exampleLedger, {before: names, after: none}).map(problem => problem.code),
		['EVIDENCE_LEDGER_RUN_MISSING'],
	);
});

test('countAttempts() counts nothing for a plan that was never started', t => {
	t.deepEqual(countAttempts(exampleLedger, {planSha256: '0'.repeat(64), sourceSha: example.sha}), {same_plan_and_source: 0, failed: 0, unfinished: 0});
});

function ledgerOf(copy: RunCopy): {path: string; lines: string[]} {
	const path = join(copy.verification, 'ledger.jsonl');
	return {path, lines: readFileSync(path, 'utf8').trimEnd().split('\n')};
}

const ledgers: ReadonlyArray<{title: string; edit: (lines: string[]) => string; verdict: ValidateAnswer['verdict']; codes: readonly string[]}> = [
	{title: 'a torn tail', edit: lines => `${lines.join('\n')}\n{"at":`, verdict: 'valid-v3', codes: ['EVIDENCE_LEDGER_TORN']},
	{
		title: 'a published line that was cut off',
		edit: lines => `${lines[0]}\n${lines[1]?.slice(0, 40)}`,
		verdict: 'valid-v3',
		codes: ['EVIDENCE_LEDGER_TORN', 'EVIDENCE_LEDGER_UNRECORDED'],
	},
	{title: 'no published line', edit: lines => `${lines[0]}\n`, verdict: 'valid-v3', codes: ['EVIDENCE_LEDGER_UNRECORDED']},
	{title: 'no line', edit: () => '', verdict: 'invalid', codes: ['EVIDENCE_LEDGER_MISMATCH', 'EVIDENCE_LEDGER_MISMATCH']},
	{
		title: 'lines in another order',
		edit: lines => `${lines.toReversed().join('\n')}\n`,
		verdict: 'invalid',
		codes: ['EVIDENCE_LEDGER_CHAIN'],
	},
	{
		title: 'an edited result',
		edit: lines => `${lines.join('\n').replace('"failed"', '"passed"')}\n`,
		verdict: 'invalid',
		codes: ['EVIDENCE_LEDGER_MISMATCH'],
	},
	{
		title: 'an edited commit',
		edit: lines => `${lines.join('\n').replace(example.sha, '0'.repeat(40))}\n`,
		verdict: 'invalid',
		codes: ['EVIDENCE_LEDGER_CHAIN', 'EVIDENCE_LEDGER_MISMATCH'],
	},
	{title: 'an empty line', edit: lines => `${lines.join('\n')}\n\n`, verdict: 'invalid', codes: ['EVIDENCE_LEDGER_FORM']},
	{title: 'a blank in a line', edit: lines => `${lines.join('\n').replace('"n":1', '"n": 1')}\n`, verdict: 'invalid', codes: ['EVIDENCE_LEDGER_FORM']},
];

for (const {title, edit, verdict, codes} of ledgers) {
	test(`validateRun() answers ${verdict} to a ledger with ${title}`, async t => {
		const copy = copyOf(t);
		const {path, lines} = ledgerOf(copy);
		writeFileSync(path, edit(lines), {mode: 0o600});
		const answer = await validate(copy);
		t.is(answer.verdict, verdict, JSON.stringify(answer.problems));
		for (const code of codes) {
			t.true(
				answer.problems.some(problem => problem.code === code),
				`${code} in ${JSON.stringify(answer.problems)}`,
			);
		}
	});
}

test('validateRun() counts the attempts of the same plan on the same commit and names a published run that is gone', async t => {
	const copy = copyOf(t);
	const {path, lines} = ledgerOf(copy);
	const add = (body: {readonly [key: string]: string | number}): void => {
		const previous = lines.at(-1) ?? '';
		lines.push(canonicalJson({...body, at: '2026-08-01T12:10:00.000Z', n: lines.length + 1, prev_sha256: sha256Hex(previous)}));
	};

	const plan = {plan_sha256: exampleManifest().plan.sha256, source_sha: example.sha};
	add({event: 'started', run_id: 'gone', ...plan});
	add({event: 'published', run_id: 'gone', manifest_sha256: '1'.repeat(64), result: 'failed'});
	add({event: 'started', run_id: 'killed', ...plan});
	add({event: 'abandoned', run_id: 'killed'});
	add({event: 'started', run_id: 'running', ...plan});
	add({event: 'started', run_id: 'other-plan', plan_sha256: '2'.repeat(64), source_sha: example.sha});
	writeFileSync(path, `${lines.join('\n')}\n`, {mode: 0o600});
	const answer = await validate(copy);
	t.is(answer.verdict, 'valid-v3');
	t.deepEqual(answer.attempts, {same_plan_and_source: 4, failed: 2, unfinished: 2});
	t.deepEqual(
		answer.problems.map(found => `${found.code} ${found.path} ${found.pointer}`),
		['EVIDENCE_LEDGER_RUN_MISSING ledger.jsonl /3/run_id'],
	);
});
