import {canonicalJson} from '../../core/canonical-json.ts';
import {systemClock} from '../../core/clock.ts';
import {sha256Hex} from '../../core/digest.ts';
import {
	buildCommandRecord,
	buildManifest,
	type CommandRecord,
	LedgerWriter,
	type Manifest,
	manifestBytes,
	outputPaths,
	parsePlan,
	type ResolvedPlan,
	RunStage,
	resolvePlan,
	type StorePrimitives,
	type TraceLine,
} from '../../evidence/index.ts';
import {example} from './example-run.ts';

/** What one command of a produced run left. */
export type Produced = {readonly output: Buffer; readonly trace: readonly TraceLine[]};

/**
 * Publishes a passed run below `verification` the way a runner does: ledger, stage, records, manifest. Every command is `true` with the given output.
 */
export function produceRun(
	verification: string,
	run: {readonly runId: string; readonly commands: readonly Produced[]; readonly primitives: StorePrimitives},
): Manifest {
	const {runId, commands, primitives} = run;
	const planBytes = Buffer.from(
		JSON.stringify({
			schema: 'verification-plan/v3',
			...example.target,
			source_sha: example.sha,
			sandbox: {mode: 'off'},
			commands: commands.map((_, index) => ({id: `c${index}`, argv: ['true'], timeout_seconds: 60, max_output_bytes: 1_048_576})),
		}),
	);
	const plan = resolvePlan(parsePlan(planBytes));
	const ledger = LedgerWriter.open(verification, systemClock);
	try {
		const started = ledger.started({runId, planSha256: sha256Hex(planBytes), sourceSha: example.sha});
		const stage = RunStage.open(verification, runId, primitives);
		stage.write('plan.json', planBytes);
		const manifest = buildManifest({
			runId,
			plan,
			planBytes,
			source: {checkout: 'other', tree: example.tree, head_before: example.sha, head_after: example.sha, tracked_changes_after: 0},
			producer: {version: '0.1.0', role: null},
			environment: {arch: 'x64', kernel: '6.1', node: 'v20', containment: 'descent', tool: null},
			secretRules: {rules: 1, rules_sha256: '0'.repeat(64)},
			ledger: {n: started.n, sha256: started.sha256},
			startedWallMs: started.atMs,
			elapsedNs: 1_000_000n * BigInt(commands.length + 1),
			commands: commands.map((produced, index) => recordOf(stage, plan, {produced, index})),
			stop: null,
		});
		const bytes = manifestBytes(manifest);
		stage.write('manifest.json', bytes);
		stage.publish();
		ledger.published({runId, manifestSha256: sha256Hex(bytes), result: manifest.result});
		return manifest;
	} finally {
		ledger.close();
	}
}

/** One chunk a `bytes` of output, as a runner traces it. */
export function chunksOf(bytes: number, chunks: number): TraceLine[] {
	const size = Math.ceil(bytes / chunks);
	return Array.from({length: chunks}, (_, index) => ({
		t_us: index,
		kind: 'out',
		offset: index * size,
		length: Math.min(size, bytes - index * size),
		cpu_us: null,
		rss_bytes: null,
		processes: null,
	}));
}

function recordOf(stage: RunStage, plan: ResolvedPlan, {produced, index}: {produced: Produced; index: number}): CommandRecord {
	const command = plan.commands[index];
	if (command === undefined) {
		throw new Error('the plan has as many commands as were produced');
	}

	const paths = outputPaths(index);
	const stored = stage.write(paths.output, produced.output);
	const startedNs = 1_000_000n * BigInt(index);
	return buildCommandRecord({
		command,
		executable: {path: '/usr/bin/true', sha256: null},
		ended: {
			status: 'completed',
			trigger: null,
			termination: {term_sent: false, kill_sent: false, direct_child_reaped: true, group_cleanup_completed: true},
			escaped: 0,
			waitStatus: 0,
			startedNs,
			endedNs: startedNs + 1_000_000n,
			resources: {user_us: 0, system_us: 0, max_rss_bytes: 0, peak_group_rss_bytes: null, samples: 0},
			sandbox: null,
		},
		runStartedNs: 0n,
		output: {...stored, seen_bytes: stored.bytes, complete: true, redactions: []},
		errorOutput: null,
		trace: stage.write(paths.trace, Buffer.from(produced.trace.map(line => `${canonicalJson(line)}\n`).join(''))),
	});
}
