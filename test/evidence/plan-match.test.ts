import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {type CommandRecord, type Manifest, parsePlan, type ResolvedPlan, resolvePlan, type SandboxRecord} from '../../evidence/index.ts';
import {planMatchProblems} from '../../evidence/plan-match.ts';
import {layers, type Plan} from '../../evidence/plan-schema.ts';
import {example, exampleDirectory, exampleManifest} from '../helpers/example-run.ts';

const plan = parsePlan(readFileSync(join(exampleDirectory, example.runId, 'plan.json')));

function pointers(manifest: Manifest, resolved: ResolvedPlan): string[] {
	return planMatchProblems(manifest, resolved).map(problem => problem.pointer);
}

function withFirst(change: Partial<CommandRecord>, manifest = exampleManifest()): Manifest {
	return {...manifest, commands: manifest.commands.map((command, index) => (index === 0 ? {...command, ...change} : command))};
}

test('planMatchProblems() finds nothing in the example', t => {
	t.deepEqual(pointers(exampleManifest(), resolvePlan(plan)), []);
});

const otherPlans: ReadonlyArray<readonly [title: string, change: Partial<Plan>, pointers: readonly string[]]> = [
	['another owner', {owner: 'other'}, ['/target/owner']],
	['another repository', {repository: 'other'}, ['/target/repository']],
	['another issue', {issue: 8}, ['/target/issue']],
	['another commit', {source_sha: '0'.repeat(40)}, ['/source/sha']],
	[
		'a sandbox where none was used',
		{sandbox: {mode: 'required'}},
		['/environment/sandbox/mode', '/environment/containment', '/commands/0/sandbox', '/commands/1/sandbox'],
	],
];

for (const [title, change, expected] of otherPlans) {
	test(`planMatchProblems() refuses a plan with ${title}`, t => {
		t.deepEqual(pointers(exampleManifest(), resolvePlan({...plan, ...change})), [...expected]);
	});
}

const [first] = exampleManifest().commands;
const otherRecords: ReadonlyArray<readonly [title: string, change: Partial<CommandRecord>, pointer: string]> = [
	['another purpose', {purpose: 'red'}, '/purpose'],
	['another limit of output', {max_output_bytes: 1}, '/max_output_bytes'],
	['no names of env', {env_names: []}, '/env_names'],
	['a name of env too much', {env_names: ['CI', 'X']}, '/env_names'],
	['a second output where streams are combined', {extra_outputs: first === undefined ? [] : [{...first.output, path: 'output/000.err'}]}, '/extra_outputs'],
	['an output at the place of another', first === undefined ? {} : {output: {...first.output, path: 'output/001.log'}}, '/output/path'],
	['a trace at the place of another', first === undefined ? {} : {trace: {...first.trace, path: 'output/001.trace.jsonl'}}, '/trace/path'],
];

for (const [title, change, pointer] of otherRecords) {
	test(`planMatchProblems() refuses a record with ${title}`, t => {
		t.deepEqual(pointers(withFirst(change), resolvePlan(plan)), [`/commands/0${pointer}`]);
	});
}

test('planMatchProblems() asks for stderr where streams are split', t => {
	const split = resolvePlan({...plan, commands: plan.commands.map(command => ({...command, streams: 'split' as const}))});
	t.deepEqual(pointers(exampleManifest(), split), ['/commands/0/extra_outputs', '/commands/1/extra_outputs']);
});

const noLimit = {memory_bytes: 'none', cpu_seconds: 'none', processes: 'none', open_files: 'rlimit', file_size_bytes: 'none', tmp_bytes: 'none'} as const;
const record: SandboxRecord = {
	mode: 'required',
	layers: {fs_write: 'kernel', fs_read: 'partial', network: 'kernel', pid: 'kernel', env: 'kernel', memory: 'none', processes: 'none', syscalls: 'kernel'},
	network: 'loopback',
	mounts_sha256: '0'.repeat(64),
	filter_sha256: '0'.repeat(64),
	limits: noLimit,
	leftovers: 0,
	quiet: true,
};
const tool = {path: '/usr/bin/bwrap', version: '0.8.0', sha256: '0'.repeat(64), setuid: false};

/** The example as if both commands had run under a sandbox. */
function sandboxed(change: Partial<SandboxRecord> = {}): Manifest {
	const manifest = exampleManifest();
	const sandbox = {...record, ...change};
	return {
		...manifest,
		environment: {...manifest.environment, containment: 'pid-namespace', sandbox: {mode: 'required', tool}},
		commands: manifest.commands.map((command, index) => ({...command, sandbox: index === 0 ? sandbox : record})),
	};
}

const required = {...plan, sandbox: {mode: 'required'}} satisfies Plan;

test('planMatchProblems() finds nothing where a sandbox did what the plan asks for', t => {
	t.deepEqual(pointers(sandboxed(), resolvePlan(required)), []);
});

const sandboxes: ReadonlyArray<readonly [title: string, change: Partial<SandboxRecord>, plan: Plan, pointers: readonly string[]]> = [
	['another network', {network: 'host'}, required, ['/commands/0/sandbox/network']],
	['a layer that was not observed as kernel', {layers: {...record.layers, syscalls: 'partial'}}, required, ['/commands/0/sandbox/layers/syscalls']],
	[
		'a layer that the plan names and that is missing',
		{},
		{...required, sandbox: {mode: 'required', require: [...layers].filter(layer => layer !== 'fs_read' && layer !== 'processes')}},
		['/commands/0/sandbox/layers/memory', '/commands/1/sandbox/layers/memory'],
	],
	[
		'a limit that the plan asks for and that did not bind',
		{limits: {...noLimit, open_files: 'none'}},
		{...required, limits: {open_files: 100}},
		['/commands/0/sandbox/limits/open_files'],
	],
	[
		'a sandbox although the plan turns it off',
		{},
		plan,
		['/environment/sandbox/mode', '/environment/containment', '/commands/0/sandbox', '/commands/1/sandbox'],
	],
];

for (const [title, change, asked, expected] of sandboxes) {
	test(`planMatchProblems() refuses ${title}`, t => {
		t.deepEqual(pointers(sandboxed(change), resolvePlan(asked)), [...expected]);
	});
}

test('planMatchProblems() refuses a containment that is not the weakest of the plan', t => {
	const inside = sandboxed();
	const expected = ['/environment/containment'];
	t.deepEqual(pointers({...inside, environment: {...inside.environment, containment: 'descent'}}, resolvePlan(required)), expected);
	const plain = exampleManifest();
	t.deepEqual(pointers({...plain, environment: {...plain.environment, containment: 'pid-namespace'}, commands: []}, resolvePlan(plan)), expected);
});

test('planMatchProblems() refuses a sandbox without its tool, a tool without a sandbox, and a pid namespace that was none', t => {
	const manifest = sandboxed();
	const {environment} = manifest;
	t.deepEqual(pointers({...manifest, environment: {...environment, sandbox: {mode: 'required', tool: null}}}, resolvePlan(required)), [
		'/environment/sandbox/tool',
	]);
	const plain = exampleManifest();
	t.deepEqual(pointers({...plain, environment: {...plain.environment, containment: 'pid-namespace', sandbox: {mode: 'off', tool}}}, resolvePlan(plan)), [
		'/environment/sandbox/tool',
		'/environment/containment',
	]);
});
