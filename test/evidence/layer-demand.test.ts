import test from 'ava';
import {layerProblems} from '../../evidence/layer-demand.ts';
import type {CommandRecord, Manifest} from '../../evidence/manifest-schema.ts';
import {exampleManifest} from '../helpers/example-run.ts';

const sandbox: NonNullable<CommandRecord['sandbox']> = {
	mode: 'required',
	layers: {fs_write: 'kernel', fs_read: 'partial', network: 'kernel', pid: 'kernel', env: 'kernel', memory: 'none', processes: 'kernel', syscalls: 'kernel'},
	network: 'loopback',
	mounts_sha256: 'a'.repeat(64),
	filter_sha256: 'b'.repeat(64),
	limits: {memory_bytes: 'none', cpu_seconds: 'rlimit', processes: 'cgroup1', open_files: 'rlimit', file_size_bytes: 'rlimit', tmp_bytes: 'mount'},
	leftovers: 0,
	quiet: true,
};

function withSandboxes(...sandboxes: ReadonlyArray<CommandRecord['sandbox']>): Manifest {
	const manifest = exampleManifest();
	const [first] = manifest.commands;
	return {...manifest, commands: first === undefined ? [] : sandboxes.map(record => ({...first, sandbox: record}))};
}

const cases = [
	['nothing is demanded of a run without a sandbox', withSandboxes(null), [], []],
	['a held layer satisfies the demand', withSandboxes(sandbox), ['fs_write', 'network'], []],
	[
		'a layer that is held in part or not at all is named',
		withSandboxes(sandbox),
		['fs_read', 'memory'],
		['/commands/0/sandbox/layers/fs_read', '/commands/0/sandbox/layers/memory'],
	],
	['a command without a sandbox is named beside one with it', withSandboxes(sandbox, null), ['pid'], ['/commands/1/sandbox']],
	['a run that executed nothing held nothing', withSandboxes(), ['pid'], ['/commands']],
] as const;

for (const [title, manifest, layers, pointers] of cases) {
	test(title, t => {
		const found = layerProblems(manifest, layers);
		t.deepEqual(
			found.map(problem => problem.pointer),
			[...pointers],
		);
		t.true(found.every(problem => problem.code === 'EVIDENCE_LAYER_NOT_HELD'));
	});
}
