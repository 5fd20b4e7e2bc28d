import {realpathSync} from 'node:fs';
import {release} from 'node:os';
import {type Clock, systemClock} from '../core/clock.ts';
import {sha256Hex} from '../core/digest.ts';
import {BailiffError} from '../core/errors.ts';
import {version} from '../core/version.ts';
import {
	buildManifest,
	containmentOf,
	findSecrets,
	type KnownValues,
	LedgerWriter,
	type Manifest,
	manifestBytes,
	type Plan,
	type ResolvedCommand,
	type ResolvedPlan,
	RunStage,
	resolvePlan,
	type StorePrimitives,
	scanPlan,
	secretRuleSet,
} from '../evidence/index.ts';
import {loadNative} from '../native/index.ts';
import {openContainment, type Surroundings} from './containment.ts';
import {DeferredWrites} from './deferred-writes.ts';
import type {Executable} from './executables.ts';
import {type Execution, executeCommands} from './execution.ts';
import type {CommandRequest, Supervisor} from './outcome.ts';
import type {CheckoutCheck} from './ports.ts';
import {chooseRunId, type Preparation, plainLimits, prepareExecutables} from './preparation.ts';
import {createPrivateHome, type PrivateHome} from './private-home.ts';
import {createRunControl, type RunControl} from './run-control.ts';
import type {RunEvent} from './run-events.ts';
import type {RunSandbox, SandboxTool} from './sandbox/sandbox.ts';
import {startSupervisor} from './supervisor.ts';

/** One run. The caller holds the issue lock from before the call until after it (C-LOCK-1). */
export type RunRequest = {
	readonly plan: Plan;
	/** The exact bytes that `plan` was parsed from. */
	readonly planBytes: Uint8Array;
	/** Null: a new one is made. */
	readonly runId: string | null;
	readonly checkout: {readonly path: string; readonly check: CheckoutCheck};
	/** Absolute; trusted and locked by the caller. */
	readonly verificationDirectory: string;
	readonly surroundings: Surroundings;
	readonly role: string | null;
	readonly known: KnownValues;
	readonly control?: RunControl;
	readonly clock?: Clock;
	readonly onEvent?: (event: RunEvent) => void;
};

/** A published run. */
export type PublishedRun = {readonly manifest: Manifest; readonly manifestSha256: string; readonly runDirectory: string};

type Settled = {
	readonly request: RunRequest;
	readonly plan: ResolvedPlan;
	readonly runId: string;
	readonly clock: Clock;
	readonly preparation: Preparation;
	readonly tree: string;
};

/**
 * Runs a plan in custody against its exact commit and publishes the evidence; a failed run is published too, as failed.
 *
 * Refuses before anything runs (exit 3): the RUN_SANDBOX_ codes, RUN_SECRET_IN_PLAN, RUN_SOURCE_MISMATCH,
 * RUN_CHECKOUT_DIRTY, RUN_EXECUTABLE_MISSING, RUN_HOME_FAILED, RUN_NATIVE_MISSING, EVIDENCE_RUN_EXISTS.
 * Throws EVIDENCE_WRITE_FAILED when the evidence cannot be written: no run then stands under the id, unless it was only the ledger's
 * `published` line that failed, after the rename; the next run writes that line.
 * Durability: when it resolves, the run and its two ledger lines survive a power loss.
 * Source: runner.md, E-PUB, E-LED.
 */
export async function runPlan(request: RunRequest): Promise<PublishedRun> {
	const clock = request.clock ?? systemClock;
	const plan = resolvePlan(request.plan);
	const runId = chooseRunId(request.runId, clock);
	refuseLimits(plan);
	loadNative();
	scanPlan(request.plan, request.planBytes, request.known);
	refuseSecretNames(request, runId);
	const {tree} = await request.checkout.check.verify(plan.source_sha);
	const preparation = prepareExecutables(plan, request.checkout.path);
	return withLedger(request, clock, ledger => runSettled({request, plan, runId, clock, preparation, tree}, ledger));
}

async function withLedger<Result>(request: RunRequest, clock: Clock, action: (ledger: LedgerWriter) => Promise<Result>): Promise<Result> {
	const ledger = LedgerWriter.open(request.verificationDirectory, clock);
	try {
		return await action(ledger);
	} finally {
		ledger.close();
	}
}

async function runSettled(settled: Settled, ledger: LedgerWriter): Promise<PublishedRun> {
	const {request, runId} = settled;
	const stage = RunStage.open(request.verificationDirectory, runId, storePrimitives());
	try {
		const run = await runCommands(settled, {ledger, stage});
		const bytes = manifestBytes(run);
		stage.write('plan.json', request.planBytes);
		stage.write('manifest.json', bytes);
		stage.publish();
		const manifestSha256 = sha256Hex(bytes);
		ledger.published({runId, manifestSha256, result: run.result});
		request.onEvent?.({type: 'published', runId, result: run.result});
		return {manifest: run, manifestSha256, runDirectory: stage.runDirectory};
	} finally {
		stage.discard();
	}
}

async function runCommands(settled: Settled, open: {readonly ledger: LedgerWriter; readonly stage: RunStage}): Promise<Manifest> {
	const {request, clock} = settled;
	const control = request.control ?? createRunControl();
	const home = createPrivateHome(loadNative(), clock);
	try {
		const supervisor = await startSupervisor({clock});
		try {
			control.attach(supervisor);
			return await runContained(settled, {...open, supervisor, control, home});
		} finally {
			control.attach(null);
			await supervisor.close();
		}
	} finally {
		if (!home.remove()) {
			request.onEvent?.({type: 'warning', message: `the private directory of the run could not be removed: ${home.home}`});
		}
	}
}

type RunParts = {
	readonly ledger: LedgerWriter;
	readonly stage: RunStage;
	readonly supervisor: Supervisor;
	readonly control: RunControl;
	readonly home: PrivateHome;
};

async function runContained(settled: Settled, parts: RunParts): Promise<Manifest> {
	const {request, plan, runId, clock, preparation} = settled;
	const {verificationDirectory, surroundings, checkout} = request;
	const sandbox = await openContainment({plan, preparation, verificationDirectory, surroundings, checkout: checkout.path, home: parts.home}, parts.supervisor);
	try {
		const started = parts.ledger.started({runId, planSha256: sha256Hex(request.planBytes), sourceSha: plan.source_sha});
		const runStartedNs = clock.monotonicNs();
		request.onEvent?.({type: 'run-started', runId, commands: plan.commands.length});
		const execution = await executeAll(settled, {...parts, writes: new DeferredWrites(parts.stage), sandbox, runStartedNs});
		return toManifest(settled, {execution, started, tool: sandbox.tool, elapsedNs: clock.monotonicNs() - runStartedNs});
	} finally {
		if (!(await sandbox.close())) {
			request.onEvent?.({type: 'warning', message: 'a control group of the run could not be removed'});
		}
	}
}

async function executeAll(
	settled: Settled,
	parts: RunParts & {readonly writes: DeferredWrites; readonly sandbox: RunSandbox; readonly runStartedNs: bigint},
): Promise<Execution> {
	const {request, plan, preparation, clock} = settled;
	return executeCommands({
		...parts,
		plan,
		preparation,
		clock,
		checkout: request.checkout,
		known: request.known,
		onEvent: request.onEvent ?? (() => undefined),
		toRequest: (command, executable) => toCommandRequest(settled, {command, executable, home: parts.home, sandbox: parts.sandbox}),
	});
}

function toCommandRequest(
	settled: Settled,
	parts: {readonly command: ResolvedCommand; readonly executable: Executable; readonly home: PrivateHome; readonly sandbox: RunSandbox},
): CommandRequest {
	const {command, executable, home} = parts;
	const {sandbox, limits} = parts.sandbox.prepare(command);
	return {
		executable: executable.program,
		argv: command.argv,
		// Inside, a link on the way to the checkout need not be there.
		checkout: sandbox === null ? settled.request.checkout.path : realpathSync(settled.request.checkout.path),
		cwd: command.cwd,
		env: {PATH: settled.plan.path, HOME: home.home, TMPDIR: home.tmp, LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', TZ: 'UTC', ...command.env},
		timeoutNs: secondsToNs(command.timeout_seconds),
		leakTimeoutNs: command.leak_timeout_seconds === null ? null : secondsToNs(command.leak_timeout_seconds),
		maxOutputBytes: command.max_output_bytes,
		streams: command.streams,
		limits: sandbox === null ? plainLimits(command, effectiveUid()) : limits,
		sandbox,
	};
}

function toManifest(
	settled: Settled,
	facts: {
		readonly execution: Execution;
		readonly started: {readonly n: number; readonly sha256: string; readonly atMs: number};
		readonly tool: SandboxTool | null;
		readonly elapsedNs: bigint;
	},
): Manifest {
	const {request, plan, runId, tree} = settled;
	const {execution, started} = facts;
	return buildManifest({
		runId,
		plan,
		planBytes: request.planBytes,
		source: {
			checkout: request.checkout.check.isCanonical ? 'canonical' : 'other',
			tree,
			head_before: plan.source_sha,
			head_after: execution.head,
			tracked_changes_after: execution.trackedChanges,
		},
		producer: {version, role: request.role},
		environment: {arch: process.arch, kernel: release(), node: process.version, containment: containmentOf(plan), tool: facts.tool},
		secretRules: secretRuleSet,
		ledger: {n: started.n, sha256: started.sha256},
		startedWallMs: started.atMs,
		elapsedNs: facts.elapsedNs,
		commands: execution.records,
		stop: execution.stop,
	});
}

function refuseLimits(plan: ResolvedPlan): void {
	for (const command of plan.commands.filter(({sandbox}) => sandbox.mode === 'off')) {
		plainLimits(command, effectiveUid());
	}
}

function effectiveUid(): number {
	return process.geteuid?.() ?? -1;
}

/** Run id and role stand in the manifest as they are, so neither may hold a secret (E-V3-6). */
function refuseSecretNames(request: RunRequest, runId: string): void {
	for (const [what, text] of [
		['run id', runId],
		['role', request.role ?? ''],
	] as const) {
		const [hit] = findSecrets(Buffer.from(text), request.known);
		if (hit !== undefined) {
			throw new BailiffError(
				'RUN_SECRET_IN_PLAN',
				`the ${what} holds what looks like a secret (rule ${hit.rule}): it would stand in the evidence, choose another one`,
				{
					details: {what, rule: hit.rule},
				},
			);
		}
	}
}

function storePrimitives(): StorePrimitives {
	const native = loadNative();
	return {
		renameNoReplace: (from, to) => native.renameNoReplace(from, to),
		syncFilesystem: directory => native.syncFilesystem(directory),
	};
}

function secondsToNs(seconds: number): bigint {
	return BigInt(Math.max(1, Math.round(seconds * 1e9)));
}
