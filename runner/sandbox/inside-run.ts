import {BailiffError} from '../../core/errors.ts';
import type {SandboxRecord} from '../../evidence/index.ts';
import type {CommandOutcome, InterruptSignal, SandboxRequest, SandboxVerdict, StartStage} from '../outcome.ts';
import {type EndFacts, EventDecoder, type SupervisorEvent} from '../protocol.ts';

/** What the supervisor says once bubblewrap and everything inside are gone. */
export type GoneFacts = Extract<SupervisorEvent, {readonly type: 'gone'}>;

/** What the supervisor says of a sandbox. */
export type SandboxEvent = Extract<SupervisorEvent, {readonly type: 'entered' | 'relay' | 'observed' | 'gone'}>;

/** What the session of the supervisor does with what is told from inside. */
export type InsideHooks = {
	readonly order: (kind: 'release' | 'drop') => void;
	readonly started: (startNs: bigint) => void;
	readonly chunk: (chunk: Extract<SupervisorEvent, {readonly type: 'chunk'}>) => void;
	readonly ended: (facts: EndFacts, isGone: boolean) => void;
	readonly settle: (outcome: CommandOutcome) => void;
	readonly interruptedBy: InterruptSignal | null;
};

/** The building of a sandbox may take this long before the supervisor ends it (native/src/supervisor/sandbox.c), and a bit. */
export const setupMs = 32_000;

/** One command inside a sandbox, from bailiff's side: what its first process says, judged before the command starts. */
export class InsideRun {
	readonly #sandbox: SandboxRequest;
	readonly #isRehearsal: boolean;
	readonly #decoder = new EventDecoder();
	#bubblewrap = 0;
	#verdict: SandboxVerdict | null = null;
	#startFailure: {readonly stage: StartStage; readonly errno: string} | null = null;
	#fault: string | null = null;
	/** Null until the first process inside has reported the end. */
	#facts: EndFacts | null = null;
	#hasStarted = false;

	constructor(sandbox: SandboxRequest, options: {readonly isRehearsal: boolean}) {
		this.#sandbox = sandbox;
		this.#isRehearsal = options.isRehearsal;
	}

	/**
	 * Takes one event of the sandbox and tells the session what follows from it.
	 *
	 * Refuses: RUN_SUPERVISOR_FAILED for bytes from inside that do not fit the protocol.
	 */
	take(event: SandboxEvent, hooks: InsideHooks): void {
		if (event.type === 'entered') {
			this.#bubblewrap = event.pid;
		} else if (event.type === 'relay') {
			for (const told of this.#decoder.push(event.bytes)) {
				this.#takeFromInside(told, hooks);
			}
		} else if (event.type === 'gone' && this.#facts === null) {
			hooks.settle(this.#outcomeWithoutEnd(event, hooks.interruptedBy));
		} else if (event.type === 'gone' && this.#facts !== null) {
			hooks.ended(this.#facts, event.isClean);
		}
	}

	/** The record of the manifest (S-REC), or null where nothing was observed. */
	record(isQuiet: boolean): SandboxRecord | null {
		const record = this.#verdict?.record ?? null;
		return record === null ? null : {...record, leftovers: this.#facts?.leftovers ?? 0, quiet: isQuiet};
	}

	/** The first process inside said that the command runs. */
	get hasStarted(): boolean {
		return this.#hasStarted;
	}

	/** What became of a command whose end was never reported from inside. */
	#outcomeWithoutEnd(gone: GoneFacts, interruptedBy: InterruptSignal | null): CommandOutcome {
		const termination = {term_sent: false, kill_sent: gone.wasKilled, direct_child_reaped: !this.#hasStarted, group_cleanup_completed: gone.isClean};
		if (this.#startFailure !== null && gone.isClean) {
			return {kind: 'start-failed', ...this.#startFailure};
		}

		if (interruptedBy !== null && !this.#hasStarted && gone.isClean) {
			return {kind: 'interrupted', signal: interruptedBy, termination};
		}

		return {kind: 'internal', message: this.#reason(gone), termination: this.#hasStarted ? termination : null};
	}

	/** Why the sandbox of a rehearsal would not do; empty where it would. */
	rehearsalProblems(outcome: CommandOutcome): readonly string[] {
		if (this.#verdict !== null) {
			return this.#verdict.problems;
		}

		return [outcome.kind === 'internal' ? outcome.message : `the sandbox could not be tried (${outcome.kind})`];
	}

	#takeFromInside(event: SupervisorEvent, hooks: InsideHooks): void {
		if (event.type === 'observed') {
			hooks.order(this.#judge(event.parts));
		} else if (event.type === 'started') {
			this.#hasStarted = true;
			hooks.started(event.startNs);
		} else if (event.type === 'chunk') {
			hooks.chunk(event);
		} else if (event.type === 'ended') {
			this.#facts = event.facts;
		} else if (event.type === 'start-failed') {
			this.#startFailure = {stage: event.stage, errno: event.errno};
		} else if (event.type === 'fatal') {
			this.#fault = `${event.message} (${event.errno})`;
		}
	}

	/** Whether the held command may go on. A rehearsal never does. */
	#judge(parts: readonly Buffer[]): 'release' | 'drop' {
		try {
			this.#verdict = this.#sandbox.judge({parts, bubblewrap: this.#bubblewrap});
		} catch (error) {
			if (!(error instanceof BailiffError)) {
				throw error;
			}

			this.#verdict = {record: null, problems: [error.message]};
		}

		return this.#isRehearsal || this.#verdict.problems.length > 0 ? 'drop' : 'release';
	}

	#reason(gone: GoneFacts): string {
		const problems = this.#verdict?.problems ?? [];
		if (problems.length > 0) {
			return `the sandbox does not hold what the plan asks for: ${problems.join('; ')}`;
		}

		const said = this.#fault ?? gone.said.trim().slice(0, 500);
		if (this.#hasStarted) {
			return `the first process of the sandbox ended before it reported the end of the command${said === '' ? '' : `: ${said}`}`;
		}

		return `the sandbox could not be built: ${said === '' ? `bubblewrap ended with status ${gone.waitStatus}` : said}; run "bailiff doctor"`;
	}
}
