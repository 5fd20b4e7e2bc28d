import type {SandboxRecord, Status, Termination, Trigger} from '../evidence/index.ts';
import type {CommandOutcome, InterruptSignal} from './outcome.ts';
import type {OutputCollector} from './output-collector.ts';
import type {EndFacts} from './protocol.ts';
import type {Samples} from './sampler.ts';
import type {Agreement, OrphanEnding} from './witness.ts';

/** All that is known of a command whose end the supervisor reported. */
export type EndedCommand = {
	readonly facts: EndFacts;
	readonly agreement: Agreement;
	readonly output: OutputCollector;
	readonly samples: Samples;
	readonly isSplit: boolean;
	readonly interruptedBy: InterruptSignal | null;
	/** Null without a sandbox. */
	readonly sandbox: SandboxRecord | null;
};

const statusOfTrigger = {
	timeout: 'timeout',
	output_limit: 'output_limit',
	descendant: 'descendant_cleanup',
	internal: null,
	interrupted: null,
} as const satisfies Record<NonNullable<EndFacts['trigger']>, Status | null>;

/**
 * The outcome that the facts of a reported end amount to; inferred from nothing else. Source: R-STATUS-1, R-STATUS-2, R-END-6, R-END-7, the truth table of shapes.ts.
 */
export function judgeEnd(command: EndedCommand): CommandOutcome {
	const {facts, agreement} = command;
	const termination: Termination = {
		term_sent: facts.wasTermSent,
		kill_sent: facts.wasKillSent || agreement.wasKillSent,
		direct_child_reaped: facts.isReaped,
		group_cleanup_completed: facts.isCleaned && agreement.isAgreed,
	};
	if (facts.trigger === 'interrupted') {
		return {kind: 'interrupted', signal: command.interruptedBy ?? 'SIGTERM', termination};
	}

	const isClean = termination.direct_child_reaped && termination.group_cleanup_completed;
	const status = facts.trigger === null ? 'completed' : statusOfTrigger[facts.trigger];
	if (!isClean) {
		return toEnded(command, {status: 'cleanup_failed', trigger: facts.trigger ?? 'internal', termination});
	}

	if (status === null || termination.term_sent !== (facts.trigger !== null)) {
		return {kind: 'internal', message: 'the supervisor met an error of its own while the command ran, and ended the command', termination};
	}

	return toEnded(command, {status, trigger: facts.trigger, termination});
}

function toEnded(
	command: EndedCommand,
	verdict: {readonly status: Status; readonly trigger: Trigger | null; readonly termination: Termination},
): CommandOutcome {
	const {facts, output, samples} = command;
	return {
		kind: 'ended',
		...verdict,
		escaped: facts.escaped,
		waitStatus: facts.isReaped ? facts.waitStatus : null,
		startedNs: facts.startNs,
		endedNs: facts.endNs,
		output: output.captured('out', {seenBytes: facts.seenBytes.out, isAtEnd: facts.isAtEnd.out}),
		errorOutput: command.isSplit ? output.captured('err', {seenBytes: facts.seenBytes.err, isAtEnd: facts.isAtEnd.err}) : null,
		trace: output.trace(samples.lines),
		resources: facts.isReaped
			? {
					user_us: facts.userUs,
					system_us: facts.systemUs,
					max_rss_bytes: facts.maxRssBytes,
					peak_group_rss_bytes: samples.peakRssBytes,
					samples: samples.lines.length,
				}
			: null,
		sandbox: command.sandbox,
		interruptedBy: command.interruptedBy,
	};
}

/** All that is known of a command whose supervisor is gone. */
export type OrphanedCommand = {
	readonly ending: OrphanEnding;
	readonly output: OutputCollector;
	readonly samples: Samples;
	readonly isSplit: boolean;
	readonly interruptedBy: InterruptSignal | null;
	readonly startedNs: bigint;
	readonly endedNs: bigint;
	/** Null without a sandbox. */
	readonly sandbox: SandboxRecord | null;
};

/**
 * The outcome of a command whose supervisor died: cleanup_failed with trigger internal, even if nobody is left, since the order of proof is broken.
 * Source: R-MECH-4.
 */
export function judgeOrphaned(command: OrphanedCommand): CommandOutcome {
	const {ending, output, samples} = command;
	const captured = (stream: 'out' | 'err') => output.captured(stream, {seenBytes: output.lengthOf(stream), isAtEnd: false});
	return {
		kind: 'ended',
		status: 'cleanup_failed',
		trigger: 'internal',
		termination: {term_sent: false, kill_sent: ending.wasKillSent, direct_child_reaped: ending.leader !== null, group_cleanup_completed: false},
		escaped: 0,
		waitStatus: ending.leader?.waitStatus ?? null,
		startedNs: command.startedNs,
		endedNs: command.endedNs,
		output: captured('out'),
		errorOutput: command.isSplit ? captured('err') : null,
		trace: output.trace(samples.lines),
		resources:
			ending.leader === null
				? null
				: {
						user_us: Math.round(ending.leader.userMicros),
						system_us: Math.round(ending.leader.systemMicros),
						max_rss_bytes: ending.leader.maxRssBytes,
						peak_group_rss_bytes: samples.peakRssBytes,
						samples: samples.lines.length,
					},
		sandbox: command.sandbox,
		interruptedBy: command.interruptedBy,
	};
}
