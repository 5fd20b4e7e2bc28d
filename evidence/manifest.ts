import {canonicalFile} from '../core/canonical-json.ts';
import {toRfc3339Ms} from '../core/clock.ts';
import {sha256Hex} from '../core/digest.ts';
import {BailiffError} from '../core/errors.ts';
import {buildClaims} from './claims.ts';
import type {CommandRecord, Manifest, OutputFile, Resources, SandboxRecord, Status, Stop, Termination, Trigger} from './manifest-schema.ts';
import type {ResolvedCommand, ResolvedPlan} from './plan.ts';
import {readWaitStatus} from './wait-status.ts';

/** Limits of a manifest. Source: E-V3-1, E-V3-2. */
export const manifestLimits = {maxBytes: 16 * 1_048_576, maxDepth: 24} as const;

const nsPerMs = 1_000_000n;

/** What happened to one executed command; the runner's outcome of kind `ended` fits as it is. Times: CLOCK_MONOTONIC, nanoseconds. */
export type EndedFacts = {
	readonly status: Status;
	readonly trigger: Trigger | null;
	readonly termination: Termination;
	readonly escaped: number;
	/** Raw, null when the leader was not reaped. */
	readonly waitStatus: number | null;
	readonly startedNs: bigint;
	readonly endedNs: bigint;
	readonly resources: Resources | null;
	readonly sandbox: SandboxRecord | null;
};

/** Everything that the record of one executed command is made of. */
export type CommandFacts = {
	readonly command: ResolvedCommand;
	readonly executable: CommandRecord['executable'];
	readonly ended: EndedFacts;
	/** When the run started, CLOCK_MONOTONIC, nanoseconds. */
	readonly runStartedNs: bigint;
	/** What was stored of the combined output, or of stdout. */
	readonly output: OutputFile;
	/** What was stored of stderr, null with combined streams. */
	readonly errorOutput: OutputFile | null;
	readonly trace: CommandRecord['trace'];
};

/** Everything that a manifest is made of, beside its commands. */
export type ManifestFacts = {
	readonly runId: string;
	readonly plan: ResolvedPlan;
	readonly planBytes: Uint8Array;
	readonly source: Pick<Manifest['source'], 'checkout' | 'tree' | 'head_before' | 'head_after' | 'tracked_changes_after'>;
	readonly producer: Pick<Manifest['producer'], 'version' | 'role'>;
	readonly environment: Pick<Manifest['environment'], 'arch' | 'kernel' | 'node' | 'containment'> & {readonly tool: Manifest['environment']['sandbox']['tool']};
	readonly secretRules: Pick<Manifest['secret_scan'], 'rules' | 'rules_sha256'>;
	/** The `started` line of this run in the ledger. */
	readonly ledger: Manifest['ledger'];
	/** Milliseconds since the epoch, when the started line was written. */
	readonly startedWallMs: number;
	/** Monotonic nanoseconds from there to the end of the run. */
	readonly elapsedNs: bigint;
	readonly commands: readonly CommandRecord[];
	readonly stop: Stop | null;
};

/**
 * The record of one executed command. `passed` is exactly: completed, and the exit code as expected; a death by signal never passes.
 *
 * Source: shapes.ts: CommandRecord, R-STATUS-3, R-STATUS-5.
 */
export function buildCommandRecord(facts: CommandFacts): CommandRecord {
	const {command, ended} = facts;
	const end = readWaitStatus(ended.waitStatus);
	const startedAtMs = wholeMs(ended.startedNs - facts.runStartedNs);
	return {
		index: command.index,
		id: command.id,
		purpose: command.purpose,
		argv: [...command.argv],
		cwd: command.cwd,
		env_names: Object.keys(command.env).toSorted(),
		executable: facts.executable,
		expected_exit_code: command.expected_exit_code,
		...end,
		timeout_seconds: command.timeout_seconds,
		max_output_bytes: command.max_output_bytes,
		execution_status: ended.status,
		termination: ended.termination,
		trigger: ended.trigger,
		escaped: ended.escaped,
		started_at_ms: startedAtMs,
		duration_ms: wholeMs(ended.endedNs - facts.runStartedNs) - startedAtMs,
		output: facts.output,
		extra_outputs: facts.errorOutput === null ? [] : [facts.errorOutput],
		trace: facts.trace,
		resources: ended.resources,
		sandbox: ended.sandbox,
		passed: ended.status === 'completed' && end.exit_code === command.expected_exit_code,
	};
}

/** The manifest of a run; claims, redaction count and result are derived, never handed in. Source: shapes.ts: Manifest, E-V3-2 to E-V3-5. */
export function buildManifest(facts: ManifestFacts): Manifest {
	const {plan} = facts;
	const redactions = countRedactions(facts.commands);
	return {
		schema: 'evidence-manifest/v3',
		run_id: facts.runId,
		target: {owner: plan.owner, repository: plan.repository, issue: plan.issue},
		source: {object_format: 'sha1', sha: plan.source_sha, clean_before: true, ...facts.source},
		plan: {path: 'plan.json', sha256: sha256Hex(facts.planBytes), bytes: facts.planBytes.length},
		producer: {name: 'bailiff', ...facts.producer},
		environment: {
			platform: 'linux',
			arch: facts.environment.arch,
			kernel: facts.environment.kernel,
			node: facts.environment.node,
			containment: facts.environment.containment,
			sandbox: {mode: plan.sandboxMode, tool: facts.environment.tool},
		},
		secret_scan: {...facts.secretRules, redactions},
		ledger: facts.ledger,
		started_at: toRfc3339Ms(facts.startedWallMs),
		finished_at: toRfc3339Ms(facts.startedWallMs + wholeMs(facts.elapsedNs)),
		commands: [...facts.commands],
		claims: buildClaims(facts.commands),
		stop: facts.stop,
		result: isPassed(facts, redactions) ? 'passed' : 'failed',
	};
}

/** The exact bytes of manifest.json: RFC 8785 and one LF. Refuses: EVIDENCE_WRITE_FAILED above 16 MiB. Source: E-V3-1, E-V3-2. */
export function manifestBytes(manifest: Manifest): Buffer {
	const bytes = canonicalFile(manifest);
	if (bytes.length > manifestLimits.maxBytes) {
		throw new BailiffError('EVIDENCE_WRITE_FAILED', `the manifest has ${bytes.length} bytes, the limit is ${manifestLimits.maxBytes}: split the plan`, {
			details: {bytes: bytes.length, limit: manifestLimits.maxBytes},
		});
	}

	return bytes;
}

function isPassed(facts: ManifestFacts, redactions: number): boolean {
	return (
		facts.stop === null &&
		facts.commands.length === facts.plan.commands.length &&
		facts.commands.every(command => command.passed) &&
		redactions === 0 &&
		facts.source.head_after === facts.plan.source_sha &&
		facts.source.tracked_changes_after === 0
	);
}

function countRedactions(commands: readonly CommandRecord[]): number {
	return commands.flatMap(command => [command.output, ...command.extra_outputs]).reduce((sum, output) => sum + output.redactions.length, 0);
}

function wholeMs(ns: bigint): number {
	return Number(ns / nsPerMs);
}
