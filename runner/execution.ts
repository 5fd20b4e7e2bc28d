import type {Clock} from '../core/clock.ts';
import {
	buildCommandRecord,
	type CommandRecord,
	type KnownValues,
	mayContinueAfter,
	type ResolvedCommand,
	type ResolvedPlan,
	type Stop,
	scanCommandFiles,
} from '../evidence/index.ts';
import type {DeferredWrites} from './deferred-writes.ts';
import type {Executable} from './executables.ts';
import type {CommandOutcome, CommandRequest, StartStage, Supervisor} from './outcome.ts';
import type {CheckoutCheck} from './ports.ts';
import {findExecutable, type Preparation} from './preparation.ts';
import type {PrivateHome} from './private-home.ts';
import type {RunControl} from './run-control.ts';
import type {RunEvent} from './run-events.ts';

/** Everything that the commands of one run share. */
export type ExecutionContext = {
	readonly plan: ResolvedPlan;
	readonly checkout: {readonly path: string; readonly check: CheckoutCheck};
	readonly preparation: Preparation;
	readonly home: PrivateHome;
	readonly known: KnownValues;
	readonly writes: DeferredWrites;
	readonly supervisor: Supervisor;
	readonly control: RunControl;
	readonly clock: Clock;
	/** CLOCK_MONOTONIC when the started line was written, nanoseconds. */
	readonly runStartedNs: bigint;
	readonly onEvent: (event: RunEvent) => void;
	readonly toRequest: (command: ResolvedCommand, executable: Executable) => CommandRequest;
};

/** The executed prefix, why it ended, and the state of the checkout after it. */
export type Execution = {
	readonly records: readonly CommandRecord[];
	readonly stop: Stop | null;
	readonly head: string;
	readonly trackedChanges: number;
};

type Drift = {readonly head: string; readonly trackedChanges: number};
type Step = {readonly record: CommandRecord | null; readonly stop: Stop | null; readonly drift: Drift | null};

const noStop = {command: null, errno: null, stage: null, signal: null, termination: null} as const;

/**
 * Runs the commands of a plan one after another until the plan or its first stop ends; there is no automatic re-run.
 *
 * Source: R-STATUS-4, R-END-7, R-END-8, shapes.ts: Stop.
 */
export async function executeCommands(context: ExecutionContext): Promise<Execution> {
	const records: CommandRecord[] = [];
	let stop: Stop | null = null;
	let drift: Drift | null = null;
	for (const command of context.plan.commands) {
		const step = await executeCommand(context, command);
		if (step.record !== null) {
			records.push(step.record);
		}

		stop = step.stop;
		drift = step.drift ?? drift;
		if (stop !== null || (step.record !== null && !mayContinueAfter(step.record, context.plan.fail_fast))) {
			break;
		}
	}

	context.writes.flush();
	// The state after the last executed command; where none was, the preparation has just proved that it is the commit.
	const {head, trackedChanges} = drift ?? {head: context.plan.source_sha, trackedChanges: 0};
	return {records, stop: stop ?? lateStop(context, records), head, trackedChanges};
}

async function executeCommand(context: ExecutionContext, command: ResolvedCommand): Promise<Step> {
	const signal = context.control.signal();
	if (signal !== null) {
		return {record: null, stop: {...noStop, reason: 'interrupted', signal}, drift: null};
	}

	const executable =
		context.preparation.executables[command.index] ?? findExecutable(context.preparation.finder, {...context, command, checkout: context.checkout.path});
	if ('errno' in executable) {
		return startFailed(context, command, {stage: 'resolve', errno: executable.errno});
	}

	const atMs = Number((context.clock.monotonicNs() - context.runStartedNs) / 1_000_000n);
	context.onEvent({type: 'command-started', index: command.index, id: command.id, timeoutSeconds: command.timeout_seconds, atMs});
	const running = context.supervisor.run(context.toRequest(command, executable));
	context.writes.flush();
	const outcome = await running;
	switch (outcome.kind) {
		case 'start-failed':
			return startFailed(context, command, outcome);
		case 'interrupted':
			return notExecuted(context, command, {...noStop, reason: 'interrupted', signal: outcome.signal, termination: outcome.termination});
		case 'internal':
			context.onEvent({type: 'warning', message: outcome.message});
			return notExecuted(context, command, {...noStop, reason: 'internal_error', termination: outcome.termination});
		case 'ended':
			break;
	}

	return ended(context, command, {executable, outcome});
}

async function ended(
	context: ExecutionContext,
	command: ResolvedCommand,
	facts: {readonly executable: Executable; readonly outcome: Extract<CommandOutcome, {kind: 'ended'}>},
): Promise<Step> {
	const {executable, outcome} = facts;
	const files = scanCommandFiles({index: command.index, ...outcome}, context.known);
	context.writes.defer(files);
	const record = buildCommandRecord({
		command,
		executable: {path: executable.recordedPath, sha256: executable.sha256},
		ended: outcome,
		runStartedNs: context.runStartedNs,
		...files,
	});
	const drift = await context.checkout.check.drift();
	context.onEvent({
		type: 'command-ended',
		index: command.index,
		id: command.id,
		status: record.execution_status,
		isPassed: record.passed,
		durationMs: record.duration_ms,
	});
	return {record, stop: stopAfter(context, record, {drift, hasSecret: files.hasSecret}), drift};
}

/** The reasons that leave the command in the prefix, in the order of shapes.ts: Stop. */
function stopAfter(context: ExecutionContext, record: CommandRecord, seen: {readonly drift: Drift; readonly hasSecret: boolean}): Stop | null {
	const command = {index: record.index, id: record.id};
	const signal = context.control.signal();
	if (signal !== null) {
		return {...noStop, reason: 'interrupted', signal};
	}

	if (seen.hasSecret) {
		return {...noStop, reason: 'secret_detected', command};
	}

	const hasDrifted = seen.drift.head !== context.plan.source_sha || seen.drift.trackedChanges > 0;
	return hasDrifted ? {...noStop, reason: 'source_drift', command} : null;
}

function lateStop(context: ExecutionContext, records: readonly CommandRecord[]): Stop | null {
	const last = records.at(-1);
	if (last === undefined || last.passed || records.length === context.plan.commands.length) {
		return null;
	}

	return {...noStop, reason: 'command_failed', command: {index: last.index, id: last.id}};
}

function startFailed(context: ExecutionContext, command: ResolvedCommand, failure: {readonly stage: StartStage; readonly errno: string}): Step {
	return notExecuted(context, command, {...noStop, reason: 'start_failed', stage: failure.stage, errno: failure.errno});
}

function notExecuted(context: ExecutionContext, command: ResolvedCommand, stop: Stop): Step {
	const detail = stop.errno === null ? '' : ` (${stop.stage ?? ''}: ${stop.errno})`;
	context.onEvent({type: 'command-not-executed', index: command.index, id: command.id, reason: `${stop.reason}${detail}`});
	return {record: null, stop: {...stop, command: {index: command.index, id: command.id}}, drift: null};
}
