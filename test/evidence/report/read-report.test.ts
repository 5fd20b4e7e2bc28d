import {rmSync} from 'node:fs';
import test from 'ava';
import {sha256Hex} from '../../../core/digest.ts';
import {BailiffError} from '../../../core/errors.ts';
import type {CommandRecord, Manifest} from '../../../evidence/manifest-schema.ts';
import {readReport} from '../../../evidence/report/read-report.ts';
import {reportSchema} from '../../../evidence/report/report-schema.ts';
import {exampleReport} from '../../helpers/example-report.ts';
import {example, RunCopy} from '../../helpers/example-run.ts';

/** A run that ended after its first command left nothing of the second. */
const dropSecond = (copy: RunCopy): void => {
	rmSync(copy.path('output/001.log'));
	rmSync(copy.path('output/001.trace.jsonl'));
};

const changeFirst =
	(change: Partial<CommandRecord>) =>
	(manifest: Manifest): Manifest => ({...manifest, commands: manifest.commands.map((command, index) => (index === 0 ? {...command, ...change} : command))});

test('readReport() tells the frozen run: result, why, counts, outputs, samples and exact documents', t => {
	const {report, documents, outputs} = exampleReport(t);
	t.notThrows(() => reportSchema.parse(report));
	t.like(report, {verdict: 'failed', run_fault: null, problems: [], counts: {planned: 2, executed: 2, passed: 1, failed: 1, not_executed: 0}});
	t.deepEqual(report.reasons, ['soak: ran past its deadline of 1.5 s and was ended (SIGTERM)']);
	t.like(report.commands[0], {outcome: 'passed', message: null, outputs: [{text: {head: '12 passed, 0 failed', tail: '', omitted_bytes: 0}, withheld: null}]});
	t.is(report.commands[1]?.outcome, 'error');
	t.true((report.commands[1]?.samples.length ?? 0) > 0);
	t.is(sha256Hex(documents.manifest ?? ''), report.manifest.sha256);
	t.is(sha256Hex(documents.plan ?? ''), report.plan.sha256);
	t.is(outputs.get('output/000.log')?.excerpt?.head.toString(), '12 passed, 0 failed\n');
});

test('readReport() withholds an output of another digest and calls the record unsound', t => {
	const {report} = exampleReport(t, undefined, copy => copy.write('output/000.log', '12 passed, 9 failed\n'));
	t.is(report.verdict, 'unsound');
	t.not(report.run_fault, null);
	t.like(report.commands[0]?.outputs[0], {withheld: 'digest', text: null});
	t.false(JSON.stringify(report).includes('9 failed'));
});

test('readReport() withholds an output that is gone, and one that grew', t => {
	const {report} = exampleReport(t, undefined, copy => copy.write('output/000.log', 'longer than it was before\n'));
	t.like(report.commands[0]?.outputs[0], {withheld: 'unreadable', text: null});
});

test('readReport() withholds what looks like a secret, although its digest is the recorded one', t => {
	// Put together here: no source may hold what a scanner takes for a token.
	const token = Buffer.from(`token ${['ghp', 'Zk3vT9qLw2XrB7nYc5MdE8sFa1GhJ4uPo6Qi'].join('_')}\n`);
	const sha256 = sha256Hex(token);
	const {report} = exampleReport(
		t,
		manifest =>
			changeFirst({output: {path: 'output/000.log', sha256, bytes: token.length, seen_bytes: token.length, complete: true, redactions: []}})(manifest),
		copy => copy.write('output/000.log', token),
	);
	t.like(report.commands[0]?.outputs[0], {withheld: 'secret', text: null});
	t.false(JSON.stringify(report).includes('Zk3vT9'));
});

test('readReport() says of a run that stopped between commands why it failed, so that nothing looks green', t => {
	const stop = {reason: 'interrupted', command: null, errno: null, stage: null, signal: 'SIGTERM', termination: null} as const;
	const {report} = exampleReport(
		t,
		manifest => ({
			...manifest,
			commands: manifest.commands.slice(0, 1),
			claims: manifest.claims.slice(0, 1),
			stop,
			result: 'failed',
		}),
		dropSecond,
	);
	t.deepEqual(report.problems, []);
	t.is(report.verdict, 'failed');
	t.deepEqual(report.reasons, ['between commands: interrupted by SIGTERM', '1 command of the plan was not executed']);
	t.is(report.run_fault, report.reasons.join('; '));
	t.is(report.commands[1]?.outcome, 'not_executed');
});

test('readReport() counts a command that could not be started as an error, not as skipped', t => {
	const stop = {reason: 'start_failed', command: {index: 1, id: 'soak'}, errno: 'ENOENT', stage: 'exec', signal: null, termination: null} as const;
	const {report} = exampleReport(
		t,
		manifest => ({
			...manifest,
			commands: manifest.commands.slice(0, 1),
			claims: manifest.claims.slice(0, 1),
			stop,
			result: 'failed',
		}),
		dropSecond,
	);
	t.like(report.commands[1], {outcome: 'error', message: 'could not be started: ENOENT at exec', record: null});
	t.is(report.run_fault, null);
});

test('readReport() of a run that was copied from another issue is unsound', t => {
	const {report} = exampleReport(t, manifest => ({...manifest, target: {...manifest.target, issue: 8}}));
	t.is(report.verdict, 'unsound');
	t.true(report.problems.some(({code}) => code === 'EVIDENCE_TARGET_MISMATCH'));
});

test('readReport() refuses a run that is not there', t => {
	const copy = new RunCopy();
	t.teardown(() => copy.remove());
	for (const runId of ['r9', '../x']) {
		const error = t.throws(() => readReport({place: {verificationDir: copy.verification, target: example.target}, runId, maxHalfBytes: 100}), {
			instanceOf: BailiffError,
		});
		t.is(error?.code, 'EVIDENCE_RUN_NOT_FOUND');
	}
});
