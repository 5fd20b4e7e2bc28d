import {BailiffError} from '../core/errors.ts';
import type {CommandOutcome, CommandRequest, InterruptSignal} from './outcome.ts';
import type {OutputCollector} from './output-collector.ts';
import type {EndFacts, SupervisorEvent} from './protocol.ts';
import type {Sampler, Samples} from './sampler.ts';
import type {InsideRun} from './sandbox/inside-run.ts';
import {judgeEnd, judgeOrphaned} from './verdict.ts';
import type {Agreement, OrphanEnding} from './witness.ts';

/** The command that runs now. */
export type Running = {
	readonly request: CommandRequest;
	readonly seq: number;
	readonly output: OutputCollector;
	readonly resolve: (outcome: CommandOutcome) => void;
	/** Null without a sandbox. */
	readonly inside: InsideRun | null;
	stopWatching: () => void;
	startedNs: bigint;
	leader: number | null;
	sampler: Sampler | null;
	interruptedBy: InterruptSignal | null;
};

/** Takes one chunk of output. Refuses: RUN_SUPERVISOR_FAILED for one that does not follow, or crosses the bound. */
export function takeChunk(running: Running, chunk: Extract<SupervisorEvent, {readonly type: 'chunk'}>): void {
	if (!running.output.add(chunk.stream, chunk)) {
		throw new BailiffError('RUN_SUPERVISOR_FAILED', `the supervisor sent output at ${chunk.offset} that does not follow or crosses the bound`);
	}
}

/** Ends the sampling, if it ever began, and gives what was taken. */
export function stopSampler(running: Running): Samples {
	return running.sampler?.stop() ?? {lines: [], peakRssBytes: null};
}

/** The command's leader as far as its status speaks of the command: in a sandbox the leader that bailiff knows is bubblewrap. */
export function ownLeader(running: Running): number | null {
	return running.inside === null ? running.leader : null;
}

/**
 * The outcome of a command whose end the supervisor reported and the witness looked at.
 *
 * Refuses: RUN_SUPERVISOR_FAILED when other bytes were kept than were sent. Source: verdict.ts.
 */
export function toEnded(running: Running, facts: EndFacts, agreement: Agreement): CommandOutcome {
	const {output, interruptedBy, inside} = running;
	if (output.lengthOf('out') !== facts.keptBytes.out || output.lengthOf('err') !== facts.keptBytes.err) {
		throw new BailiffError('RUN_SUPERVISOR_FAILED', 'the supervisor kept other bytes than it sent');
	}

	return judgeEnd({
		facts,
		agreement,
		output,
		samples: stopSampler(running),
		isSplit: running.request.streams === 'split',
		interruptedBy,
		sandbox: inside?.record(agreement.isAgreed) ?? null,
	});
}

/** The outcome of a command whose supervisor is gone: internal where nothing of it ever started, else cleanup_failed. Source: R-MECH-4. */
export function toOrphaned(running: Running, ending: OrphanEnding, last: {readonly endedNs: bigint; readonly fault: string}): CommandOutcome {
	const {inside, output, interruptedBy, startedNs} = running;
	const hasStarted = inside === null ? running.leader !== null || ending.found > 0 : inside.hasStarted;
	if (!hasStarted) {
		return {kind: 'internal', message: `the supervisor ended before it said that the command started: ${last.fault}`, termination: null};
	}

	return judgeOrphaned({
		ending,
		output,
		samples: stopSampler(running),
		isSplit: running.request.streams === 'split',
		interruptedBy,
		startedNs,
		endedNs: last.endedNs,
		sandbox: inside?.record(false) ?? null,
	});
}
