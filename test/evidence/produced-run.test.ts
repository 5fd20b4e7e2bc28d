import {randomBytes} from 'node:crypto';
import {rmSync} from 'node:fs';
import test from 'ava';
import {findSecrets, listRuns, type OutputScan, validateRun} from '../../evidence/index.ts';
import {loadNative} from '../../native/index.ts';
import {EvidenceDirectory} from '../helpers/evidence-directory.ts';
import {example, exampleSource} from '../helpers/example-run.ts';
import {chunksOf, produceRun} from '../helpers/produced-run.ts';

const native = loadNative();
const scan: OutputScan = bytes => findSecrets(bytes).map(hit => hit.rule);

test('what the producing side publishes is valid to the reading side, run after run', async t => {
	const directory = new EvidenceDirectory();
	t.teardown(() => {
		directory.remove();
	});
	const commands = [
		{output: Buffer.alloc(0), trace: []},
		{output: Buffer.alloc(1_048_576, 'a line\n'), trace: chunksOf(1_048_576, 4096)},
		{output: Buffer.from([0, 255, 10]), trace: chunksOf(3, 3)},
	];
	for (const runId of ['first', 'second', 'third']) {
		produceRun(directory.verification, {runId, commands, primitives: native});
	}

	rmSync(directory.path('second'), {recursive: true});
	const answer = await validateRun({
		verificationDir: directory.verification,
		target: example.target,
		runId: 'third',
		source: exampleSource,
		requirePassed: true,
	});
	t.is(answer.verdict, 'valid-v3', JSON.stringify(answer.problems));
	t.is(answer.result, 'passed');
	t.deepEqual(answer.attempts, {same_plan_and_source: 3, failed: 0, unfinished: 0});
	t.deepEqual(
		answer.problems.map(problem => problem.code),
		['EVIDENCE_LEDGER_RUN_MISSING'],
	);
	t.deepEqual(
		listRuns({verificationDir: directory.verification, target: example.target}).runs.map(run => run.state),
		['published', 'missing', 'published'],
	);
});

test('a secret that a producer let through is found where the reader is asked to look again', async t => {
	const directory = new EvidenceDirectory();
	t.teardown(() => {
		directory.remove();
	});
	const output = Buffer.from(`token: ghp_${randomBytes(18).toString('hex')}\n`);
	produceRun(directory.verification, {runId: 'leak', commands: [{output, trace: chunksOf(output.length, 1)}], primitives: native});
	const request = {verificationDir: directory.verification, target: example.target, runId: 'leak', source: exampleSource};
	t.is((await validateRun(request)).verdict, 'valid-v3');
	const answer = await validateRun({...request, scan});
	t.is(answer.verdict, 'invalid');
	t.deepEqual(
		answer.problems.map(problem => [problem.code, problem.path]),
		[['EVIDENCE_SECRET_FOUND', 'output/000.log']],
	);
	t.false(JSON.stringify(answer).includes('ghp_'));
});
