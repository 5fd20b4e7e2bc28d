import {mkdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {canonicalJson} from '../../core/canonical-json.ts';
import {sha256Hex} from '../../core/digest.ts';
import {listRuns, type RunList} from '../../evidence/index.ts';
import {example, exampleManifest, RunCopy} from '../helpers/example-run.ts';

function copyOf(t: ExecutionContext): RunCopy {
	const copy = new RunCopy();
	t.teardown(() => {
		copy.remove();
	});
	return copy;
}

function list(copy: RunCopy): RunList {
	return listRuns({verificationDir: copy.verification, target: example.target});
}

const published = {
	run_id: example.runId,
	state: 'published',
	result: 'failed',
	source_sha: example.sha,
	plan_sha256: exampleManifest().plan.sha256,
	manifest_sha256: '8c19a08bde19d181d5481e6ddcf20b34ef820d19715e89d323c309695d3ac5dd',
	started_at: '2026-08-01T12:00:00.000Z',
	ended_at: '2026-08-01T12:00:01.535Z',
} as const;

/** Adds lines to the ledger, chained to what is there. */
function append(copy: RunCopy, ...bodies: ReadonlyArray<{readonly [key: string]: string}>): void {
	const path = join(copy.verification, 'ledger.jsonl');
	const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
	for (const body of bodies) {
		lines.push(canonicalJson({...body, at: '2026-08-01T12:10:00.000Z', n: lines.length + 1, prev_sha256: sha256Hex(lines.at(-1) ?? '')}));
	}

	writeFileSync(path, `${lines.join('\n')}\n`);
}

const start = {event: 'started', plan_sha256: exampleManifest().plan.sha256, source_sha: example.sha} as const;

test('listRuns() tells a published run from the ledger', t => {
	t.deepEqual(list(copyOf(t)), {runs: [published], leftovers: [], problems: []});
});

test('listRuns() tells how every run stands, oldest first', t => {
	const copy = copyOf(t);
	append(
		copy,
		{...start, run_id: 'gone'},
		{event: 'published', run_id: 'gone', manifest_sha256: '1'.repeat(64), result: 'passed'},
		{...start, run_id: 'given-up'},
		{event: 'abandoned', run_id: 'given-up'},
		{...start, run_id: 'running'},
	);
	mkdirSync(join(copy.verification, '.staging-running-0123456789abcdef'), {mode: 0o700});
	const {runs, leftovers, problems} = list(copy);
	t.deepEqual(
		runs.map(run => [run.run_id, run.state, run.result]),
		[
			[example.runId, 'published', 'failed'],
			['gone', 'missing', 'passed'],
			['given-up', 'abandoned', null],
			['running', 'unfinished', null],
		],
	);
	t.deepEqual(leftovers, ['.staging-running-0123456789abcdef']);
	t.deepEqual(problems, []);
});

test('listRuns() reads the manifest of a run whose published line is missing', t => {
	const copy = copyOf(t);
	const path = join(copy.verification, 'ledger.jsonl');
	writeFileSync(path, `${readFileSync(path, 'utf8').split('\n')[0]}\n`);
	t.deepEqual(list(copy).runs, [{...published, state: 'unrecorded'}]);
});

test('listRuns() shows a run that no line tells of as unknown', t => {
	const copy = copyOf(t);
	renameSync(copy.run, join(copy.verification, 'other'));
	mkdirSync(join(copy.verification, 'empty'), {mode: 0o700});
	t.deepEqual(
		list(copy).runs.map(run => [run.run_id, run.state, run.result]),
		[
			[example.runId, 'missing', 'failed'],
			['empty', 'unknown', null],
			['other', 'unknown', 'failed'],
		],
	);
});

test('listRuns() gives an empty list and a problem where nothing is', t => {
	const copy = copyOf(t);
	rmSync(copy.verification, {recursive: true});
	const {runs, problems} = list(copy);
	t.deepEqual(runs, []);
	t.deepEqual(
		problems.map(problem => problem.code),
		['EVIDENCE_DIRECTORY_MISSING'],
	);
});

test('listRuns() lists the directories where the ledger is gone', t => {
	const copy = copyOf(t);
	rmSync(join(copy.verification, 'ledger.jsonl'));
	const {runs, problems} = list(copy);
	t.deepEqual(
		runs.map(run => [run.run_id, run.state, run.result]),
		[[example.runId, 'unknown', 'failed']],
	);
	t.deepEqual(
		problems.map(problem => problem.code),
		['EVIDENCE_LEDGER_MISSING'],
	);
});
