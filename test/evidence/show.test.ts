import {readFileSync, rmSync} from 'node:fs';
import test, {type ExecutionContext} from 'ava';
import {BailiffError} from '../../core/errors.ts';
import {readRunOutput, type ShownRun, showRun, type VerificationPlace} from '../../evidence/index.ts';
import {example, exampleManifest, RunCopy} from '../helpers/example-run.ts';

function copyOf(t: ExecutionContext): RunCopy {
	const copy = new RunCopy();
	t.teardown(() => {
		copy.remove();
	});
	return copy;
}

function placeOf(copy: RunCopy): VerificationPlace {
	return {verificationDir: copy.verification, target: example.target};
}

function show(copy: RunCopy): ShownRun {
	return showRun(placeOf(copy), example.runId);
}

test('showRun() tells result, commands, attempts and where everything lies', t => {
	const copy = copyOf(t);
	const shown = show(copy);
	t.is(shown.result, 'failed');
	t.is(shown.artifact_root, copy.run);
	t.deepEqual(shown.attempts, {same_plan_and_source: 1, failed: 1, unfinished: 0});
	t.deepEqual(shown.problems, []);
	t.deepEqual(
		shown.commands.map(command => [command.id, command.executed?.execution_status, command.executed?.passed]),
		[
			['unit', 'completed', true],
			['soak', 'timeout', false],
		],
	);
	const output = shown.commands[0]?.executed?.output;
	t.is(readFileSync(output?.file ?? '', 'utf8'), '12 passed, 0 failed\n');
	t.is(readFileSync(shown.plan.file).length, shown.plan.bytes);
});

test('showRun() shows a command of the plan that was not executed', t => {
	const copy = copyOf(t);
	const manifest = exampleManifest();
	const stop = {reason: 'start_failed', command: {index: 1, id: 'soak'}, errno: 'ENOENT', stage: 'chdir', signal: null, termination: null} as const;
	copy.rewrite({...manifest, commands: manifest.commands.slice(0, 1), claims: manifest.claims.slice(0, 1), stop});
	rmSync(copy.path('output/001.log'));
	rmSync(copy.path('output/001.trace.jsonl'));
	const shown = show(copy);
	t.deepEqual(shown.problems, []);
	t.is(shown.commands[1]?.executed, null);
	t.deepEqual(shown.commands[1]?.argv, ['sh', '-c', 'echo started; sleep 60']);
});

test('showRun() shows a run that contradicts itself, with its problems', t => {
	const copy = copyOf(t);
	rmSync(copy.path('plan.json'));
	const shown = show(copy);
	t.deepEqual(
		shown.problems.map(problem => problem.code),
		['EVIDENCE_FILE_MISSING'],
	);
	t.is(shown.commands.length, 2);
});

for (const [title, runId] of [
	['a run that is not there', 'other'],
	['something that is no run id', '../etc'],
] as const) {
	test(`showRun() refuses ${title}`, t => {
		const copy = copyOf(t);
		const error = t.throws(() => showRun(placeOf(copy), runId), {instanceOf: BailiffError});
		t.is(error?.code, 'EVIDENCE_RUN_NOT_FOUND');
	});
}

test('readRunOutput() gives the stored bytes of one command', t => {
	const copy = copyOf(t);
	t.is(readRunOutput(placeOf(copy), example.runId, {commandId: 'soak', stream: 'out'}).toString(), 'started\n');
});

for (const [commandId, stream, says] of [
	['soak', 'err', /both streams are in out/],
	['other', 'out', /executed were: unit, soak$/],
] as const) {
	test(`readRunOutput() refuses ${commandId} ${stream}, which the run does not have, and says what there is`, t => {
		const copy = copyOf(t);
		const error = t.throws(() => readRunOutput(placeOf(copy), example.runId, {commandId, stream}), {instanceOf: BailiffError});
		t.is(error?.code, 'EVIDENCE_RUN_NOT_FOUND');
		t.regex(error?.message ?? '', says);
	});
}

test('readRunOutput() refuses bytes that the manifest does not name', t => {
	const copy = copyOf(t);
	copy.write('output/001.log', 'Started\n');
	const error = t.throws(() => readRunOutput(placeOf(copy), example.runId, {commandId: 'soak', stream: 'out'}), {instanceOf: BailiffError});
	t.is(error?.code, 'CORE_FILE_CHANGED');
});
