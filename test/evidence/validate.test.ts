import test, {type ExecutionContext} from 'ava';
import {type ValidateAnswer, type ValidateRequest, validateRun} from '../../evidence/index.ts';
import {example, exampleSource, RunCopy} from '../helpers/example-run.ts';

type Change = Partial<ValidateRequest>;

function copyOf(t: ExecutionContext): RunCopy {
	const copy = new RunCopy();
	t.teardown(() => {
		copy.remove();
	});
	return copy;
}

function validate(copy: RunCopy, change: Change = {}): Promise<ValidateAnswer> {
	return validateRun({verificationDir: copy.verification, target: example.target, runId: example.runId, source: exampleSource, ...change});
}

function findings(answer: ValidateAnswer): string[] {
	return answer.problems.map(({code, path, pointer}) => `${code} ${path ?? '-'} ${pointer}`.trim());
}

test('validateRun() finds the example consistent', async t => {
	const answer = await validate(copyOf(t));
	t.deepEqual(answer, {
		verdict: 'valid-v3',
		archived: false,
		result: 'failed',
		attempts: {same_plan_and_source: 1, failed: 1, unfinished: 0},
		manifest_sha256: '8c19a08bde19d181d5481e6ddcf20b34ef820d19715e89d323c309695d3ac5dd',
		problems: [],
	});
});

test('validateRun() with requirePassed names a run that did not pass and still calls its evidence valid', async t => {
	const answer = await validate(copyOf(t), {requirePassed: true});
	t.is(answer.verdict, 'valid-v3');
	t.deepEqual(findings(answer), ['EVIDENCE_NOT_PASSED manifest.json /result']);
});
