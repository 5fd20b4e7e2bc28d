import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {
	buildCommandRecord,
	buildManifest,
	type CommandFacts,
	type EndedFacts,
	type ManifestFacts,
	manifestBytes,
	manifestLimits,
} from '../../evidence/manifest.ts';
import {type CommandRecord, type Manifest, manifestSchema, type OutputFile, type Stop} from '../../evidence/manifest-schema.ts';
import {parsePlan, resolvePlan} from '../../evidence/plan.ts';
import {example, exampleDirectory, exampleManifest} from '../helpers/example-run.ts';

const runBytes = (name: string): Buffer => readFileSync(join(exampleDirectory, example.runId, name));
const planBytes = runBytes('plan.json');
const plan = resolvePlan(parsePlan(planBytes));
const frozen = exampleManifest();

/** The facts that the frozen manifest was made of. */
function factsOf(record: CommandRecord, waitStatus: number | null): CommandFacts {
	const command = plan.commands[record.index];
	if (command === undefined) {
		throw new Error('the frozen plan lacks a command');
	}

	const runStartedNs = 5_000_000_123n;
	return {
		command,
		executable: record.executable,
		runStartedNs,
		ended: {
			status: record.execution_status,
			trigger: record.trigger,
			termination: record.termination,
			escaped: record.escaped,
			waitStatus,
			startedNs: runStartedNs + BigInt(record.started_at_ms) * 1_000_000n + 999_999n,
			endedNs: runStartedNs + BigInt(record.started_at_ms + record.duration_ms) * 1_000_000n + 1n,
			resources: record.resources,
			sandbox: record.sandbox,
		},
		output: record.output,
		errorOutput: record.extra_outputs[0] ?? null,
		trace: record.trace,
	};
}

const [unit, soak] = frozen.commands;
if (unit === undefined || soak === undefined) {
	throw new Error('the frozen run has two commands');
}

const unitFacts = factsOf(unit, 0);

function manifestFacts(change: Partial<ManifestFacts> = {}): ManifestFacts {
	const {tool, mode: _mode, ...rest} = frozen.environment.sandbox;
	return {
		runId: frozen.run_id,
		plan,
		planBytes,
		source: {
			checkout: frozen.source.checkout,
			tree: frozen.source.tree,
			head_before: frozen.source.head_before,
			head_after: frozen.source.head_after,
			tracked_changes_after: 0,
		},
		producer: {version: frozen.producer.version, role: frozen.producer.role},
		environment: {...frozen.environment, ...rest, tool},
		secretRules: {rules: frozen.secret_scan.rules, rules_sha256: frozen.secret_scan.rules_sha256},
		ledger: frozen.ledger,
		startedWallMs: Date.parse(frozen.started_at),
		elapsedNs: BigInt(Date.parse(frozen.finished_at) - Date.parse(frozen.started_at)) * 1_000_000n,
		commands: frozen.commands,
		stop: null,
		...change,
	};
}

test('the builders give the frozen run byte for byte', t => {
	const commands = [buildCommandRecord(unitFacts), buildCommandRecord(factsOf(soak, 15))];
	t.deepEqual(commands, frozen.commands);
	t.deepEqual(manifestBytes(buildManifest(manifestFacts({commands}))), runBytes('manifest.json'));
});

const verdicts: ReadonlyArray<{readonly title: string; readonly ended: Partial<EndedFacts>; readonly expected: number; readonly passed: boolean}> = [
	{title: 'completed with the expected exit code passes', ended: {waitStatus: 3 << 8}, expected: 3, passed: true},
	{title: 'completed with another exit code does not pass', ended: {waitStatus: 3 << 8}, expected: 0, passed: false},
	{title: 'a death by KILL does not pass where 137 is expected', ended: {waitStatus: 9}, expected: 137, passed: false},
	{title: 'a timeout does not pass with the expected exit code', ended: {status: 'timeout', trigger: 'timeout', waitStatus: 0}, expected: 0, passed: false},
	{
		title: 'a descendant that had to be ended does not pass',
		ended: {status: 'descendant_cleanup', trigger: 'descendant', waitStatus: 0},
		expected: 0,
		passed: false,
	},
	{title: 'too much output does not pass', ended: {status: 'output_limit', trigger: 'output_limit', waitStatus: 0}, expected: 0, passed: false},
	{title: 'a child that was not reaped does not pass', ended: {status: 'cleanup_failed', trigger: 'internal', waitStatus: null}, expected: 0, passed: false},
];

for (const {title, ended, expected, passed} of verdicts) {
	test(title, t => {
		const record = buildCommandRecord({...unitFacts, command: {...unitFacts.command, expected_exit_code: expected}, ended: {...unitFacts.ended, ...ended}});
		t.is(record.passed, passed);
	});
}

test('the names of the environment are recorded sorted, its values never', t => {
	const record = buildCommandRecord({...unitFacts, command: {...unitFacts.command, env: {b: 'value-b', A: 'value-a', _: 'value-c'}}});
	t.deepEqual(record.env_names, ['A', '_', 'b']);
	t.notRegex(JSON.stringify(record), /value-/);
});

test('a duration is the difference of whole milliseconds, so that start and duration add up', t => {
	const record = buildCommandRecord({
		...unitFacts,
		ended: {...unitFacts.ended, startedNs: unitFacts.runStartedNs + 1_900_000n, endedNs: unitFacts.runStartedNs + 3_100_000n},
	});
	t.is(record.started_at_ms, 1);
	t.is(record.duration_ms, 2);
});

test('split streams give the output of stderr as the one extra output', t => {
	const errorOutput: OutputFile = {...unit.output, path: 'output/000.err'};
	t.deepEqual(buildCommandRecord({...unitFacts, errorOutput}).extra_outputs, [errorOutput]);
});

const passing = [unit, {...soak, passed: true}];
const stop: Stop = {reason: 'source_drift', command: {index: 1, id: 'soak'}, errno: null, stage: null, signal: null, termination: null};
const redacted = [unit, {...soak, passed: true, extra_outputs: [{...soak.output, redactions: [{offset: 0, length: 10 as const, rule: 'jwt'}]}]}];
const drifted = {...manifestFacts().source, head_after: 'f'.repeat(40)};

const results: ReadonlyArray<{readonly title: string; readonly change: Partial<ManifestFacts>; readonly result: Manifest['result']}> = [
	{title: 'passed when every command of the plan passed', change: {commands: passing}, result: 'passed'},
	{title: 'failed when one command did not pass', change: {commands: [...frozen.commands]}, result: 'failed'},
	{title: 'failed when a command of the plan is missing', change: {commands: [unit]}, result: 'failed'},
	{title: 'failed when nothing was executed', change: {commands: []}, result: 'failed'},
	{title: 'failed when there is a stop', change: {commands: passing, stop}, result: 'failed'},
	{title: 'failed when anything was redacted, also in stderr', change: {commands: redacted}, result: 'failed'},
	{title: 'failed when HEAD moved', change: {commands: passing, source: drifted}, result: 'failed'},
	{
		title: 'failed when a tracked path changed',
		change: {commands: passing, source: {...drifted, head_after: frozen.source.sha, tracked_changes_after: 1}},
		result: 'failed',
	},
];

for (const {title, change, result} of results) {
	test(`the result is ${title}`, t => {
		const manifest = buildManifest(manifestFacts(change));
		t.is(manifest.result, result);
		t.true(manifestSchema.safeParse(manifest).success);
		t.is(manifest.claims.length, manifest.commands.length);
	});
}

test('the number of redactions is counted over all outputs', t => {
	t.is(buildManifest(manifestFacts({commands: redacted})).secret_scan.redactions, 1);
});

test('finished_at follows the monotonic clock, whatever the wall clock did meanwhile', t => {
	const manifest = buildManifest(manifestFacts({startedWallMs: 1_785_585_600_000, elapsedNs: 90_061_999_999n}));
	t.is(manifest.started_at, '2026-08-01T12:00:00.000Z');
	t.is(manifest.finished_at, '2026-08-01T12:01:30.061Z');
});

test('manifestBytes() refuses a manifest above 16 MiB', t => {
	const big = buildManifest(manifestFacts({commands: [{...unit, argv: ['x'.repeat(manifestLimits.maxBytes)]}]}));
	t.throws(() => manifestBytes(big), {code: 'EVIDENCE_WRITE_FAILED', message: /the limit is 16777216: split the plan/});
});
