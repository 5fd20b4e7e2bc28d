import {setTimeout as sleep} from 'node:timers/promises';
import {type Clock, systemClock} from '../core/clock.ts';
import {BailiffError} from '../core/errors.ts';
import {loadNative, type NativeParts, supervisorPath} from '../native/index.ts';
import {becomeCustodian} from './custodian.ts';
import type {CommandOutcome, CommandRequest, InterruptSignal, Supervisor} from './outcome.ts';
import {OutputCollector} from './output-collector.ts';
import {type EndFacts, EventDecoder, encodeControl, encodeRun, encodeSandboxControl, protocolVersion, type SupervisorEvent} from './protocol.ts';
import {ownLeader, type Running, stopSampler, takeChunk, toEnded, toOrphaned} from './running-command.ts';
import {Sampler} from './sampler.ts';
import {encodeErrand} from './sandbox/errand.ts';
import {InsideRun, type SandboxEvent, setupMs} from './sandbox/inside-run.ts';
import {type Companion, spawnCompanion} from './spawn.ts';
import {watchSilence} from './watchdog.ts';
import {agree, endOrphans, presentChildren} from './witness.ts';

/** How long a supervisor may take to say hello, and to end once its request pipe is closed. */
const helloMs = 10_000;
const closeMs = 12_000;

/** Where the native supervisor is and which clock counts; both have defaults. */
export type SupervisorOptions = {
	readonly clock?: Clock;
	/** Absolute path of the program; for tests that put another build in its place. */
	readonly program?: string;
};

/**
 * Starts the native supervisor of one run and makes bailiff its custodian until `close` (R-MECH-1, R-MECH-4).
 *
 * Refuses: RUN_NATIVE_MISSING where a native part is not built; RUN_SUPERVISOR_FAILED when the program does not start or speaks another protocol.
 * Order: one command at a time; the caller closes it in every case.
 */
export async function startSupervisor(options: SupervisorOptions = {}): Promise<Supervisor> {
	const native = loadNative();
	const program = options.program ?? supervisorPath();
	const release = becomeCustodian(native);
	try {
		const others = presentChildren(native);
		const companion = await spawnCompanion(program);
		const session = new SupervisorSession({native, companion, others, release, clock: options.clock ?? systemClock});
		await session.greet();
		return session;
	} catch (error) {
		release();
		throw error;
	}
}

type Parts = {
	readonly native: NativeParts;
	readonly companion: Companion;
	readonly others: ReadonlySet<string>;
	readonly release: () => void;
	readonly clock: Clock;
};

class SupervisorSession implements Supervisor {
	readonly #parts: Parts;
	readonly #decoder = new EventDecoder();
	#onHello: (() => void) | null = null;
	#running: Running | null = null;
	#seq = 0;
	/** Why no further command can run, once that is so. */
	#fault: string | null = null;

	constructor(parts: Parts) {
		this.#parts = parts;
		const {requests, events} = parts.companion;
		// A supervisor that is gone is noticed by its end; broken pipes say no more than that.
		requests.on('error', () => undefined);
		events.on('error', () => undefined);
		events.on('data', (bytes: Buffer) => {
			this.#receive(bytes);
		});
		void this.#followEnd();
	}

	/** Waits for the supervisor's first word. Refuses: RUN_SUPERVISOR_FAILED. */
	async greet(): Promise<void> {
		const hello = new Promise<void>(resolve => {
			this.#onHello = resolve;
		});
		const giveUp = new AbortController();
		await Promise.race([hello, this.#parts.companion.ended, sleep(helloMs, undefined, {ref: false, signal: giveUp.signal})]);
		giveUp.abort();
		if (this.#onHello !== null || this.#fault !== null) {
			const reason = this.#fault ?? 'it did not answer';
			this.#parts.companion.signal('SIGKILL');
			throw new BailiffError('RUN_SUPERVISOR_FAILED', `the native supervisor does not work here: ${reason}; run "bailiff doctor"`);
		}
	}

	async run(request: CommandRequest): Promise<CommandOutcome> {
		return this.#execute(request, request.sandbox ? new InsideRun(request.sandbox, {isRehearsal: false}) : null);
	}

	async rehearse(request: CommandRequest): Promise<readonly string[]> {
		const inside = request.sandbox ? new InsideRun(request.sandbox, {isRehearsal: true}) : null;
		return inside === null ? [] : inside.rehearsalProblems(await this.#execute(request, inside));
	}

	async #execute(request: CommandRequest, inside: InsideRun | null): Promise<CommandOutcome> {
		if (this.#fault !== null || this.#running !== null) {
			return {kind: 'internal', message: this.#fault ?? 'a command runs already', termination: null};
		}

		this.#seq += 1;
		const seq = this.#seq;
		const frame = request.sandbox ? encodeErrand(request, request.sandbox, seq) : encodeRun(request, seq);
		if (frame === null) {
			return {kind: 'start-failed', stage: 'exec', errno: 'E2BIG'};
		}

		return new Promise(resolve => {
			this.#running = this.#track(request, {seq, inside, resolve});
			this.#parts.companion.requests.write(frame);
		});
	}

	interrupt(signal: InterruptSignal): void {
		const running = this.#running;
		if (running === null) {
			return;
		}

		this.#parts.companion.requests.write(encodeControl(running.interruptedBy === null ? 'interrupt' : 'kill'));
		if (running.interruptedBy === null) {
			running.interruptedBy = signal;
			// A supervisor that a command stopped would hear of this only at its deadline.
			running.stopWatching();
			running.stopWatching = this.#watch(0n);
			this.#parts.companion.signal('SIGCONT');
		}
	}

	async close(): Promise<void> {
		const {companion, release} = this.#parts;
		this.#fault ??= 'the supervisor is closed';
		companion.requests.end();
		const giveUp = new AbortController();
		await Promise.race([companion.ended, this.#killLater(giveUp.signal)]);
		giveUp.abort();
		await companion.ended;
		release();
	}

	async #killLater(signal: AbortSignal): Promise<void> {
		try {
			await sleep(closeMs, undefined, {signal});
			this.#parts.companion.signal('SIGKILL');
		} catch {
			// It ended by itself, which is the rule.
		}
	}

	#track(request: CommandRequest, own: Pick<Running, 'seq' | 'inside' | 'resolve'>): Running {
		const {clock} = this.#parts;
		const running: Running = {
			request,
			...own,
			output: new OutputCollector(request.maxOutputBytes),
			stopWatching: this.#watch(request.timeoutNs + (own.inside === null ? 0n : BigInt(setupMs) * 1_000_000n)),
			startedNs: clock.monotonicNs(),
			leader: null,
			sampler: null,
			interruptedBy: null,
		};
		return running;
	}

	#watch(timeoutNs: bigint): () => void {
		const {native, companion} = this.#parts;
		return watchSilence(native, {supervisor: companion.pid, signal: companion.signal, timeoutNs});
	}

	#receive(bytes: Buffer): void {
		if (this.#fault !== null && this.#running === null) {
			return;
		}

		try {
			for (const event of this.#decoder.push(bytes)) {
				this.#take(event);
			}
		} catch (error) {
			this.#fail(error instanceof Error ? error.message : 'unreadable events');
		}
	}

	#take(event: SupervisorEvent): void {
		if (event.type === 'hello') {
			this.#greeted(event.version);
			return;
		}

		if (event.type === 'fatal') {
			this.#fault = `${event.message} (${event.errno})`;
			return;
		}

		const running = this.#running;
		if (running === null || event.seq !== running.seq) {
			throw new BailiffError('RUN_SUPERVISOR_FAILED', `the supervisor spoke of command ${event.seq}, which does not run`);
		}

		this.#takeOfCommand(running, event);
	}

	#takeOfCommand(running: Running, event: Exclude<SupervisorEvent, {readonly type: 'hello' | 'fatal'}>): void {
		switch (event.type) {
			case 'started':
				running.leader = event.pid;
				this.#started(running, event.startNs);
				break;
			case 'chunk':
				takeChunk(running, event);
				break;
			case 'start-failed':
				this.#settle(running, {kind: 'start-failed', stage: event.stage, errno: event.errno});
				break;
			case 'ended':
				this.#ended(running, event.facts, true);
				break;
			case 'entered':
			case 'relay':
			case 'observed':
			case 'gone':
				this.#takeOfSandbox(running, event);
		}
	}

	#takeOfSandbox(running: Running, event: SandboxEvent): void {
		if (running.inside === null) {
			throw new BailiffError('RUN_SUPERVISOR_FAILED', `the supervisor spoke of a sandbox (${event.type}), and there is none`);
		}

		running.leader = event.type === 'entered' ? event.pid : running.leader;
		running.inside.take(event, {
			order: kind => {
				this.#parts.companion.requests.write(encodeSandboxControl(kind, running.seq));
				if (kind === 'release') {
					// The time for the building of the sandbox is over.
					running.stopWatching();
					running.stopWatching = this.#watch(running.request.timeoutNs);
				}
			},
			started: startNs => this.#started(running, startNs),
			chunk: chunk => takeChunk(running, chunk),
			ended: (facts, isGone) => this.#ended(running, facts, isGone),
			settle: outcome => this.#settle(running, outcome),
			interruptedBy: running.interruptedBy,
		});
	}

	#greeted(version: number): void {
		if (version !== protocolVersion) {
			this.#fault = `it speaks protocol ${version}, this bailiff speaks ${protocolVersion}: rebuild the native parts`;
		}

		this.#onHello?.();
		this.#onHello = null;
	}

	#started(running: Running, startNs: bigint): void {
		const {native, companion, clock} = this.#parts;
		running.startedNs = startNs;
		if (running.leader !== null) {
			running.sampler = new Sampler(native, {leader: running.leader, supervisor: companion.pid, startedNs: startNs, clock});
		}
	}

	/** Nothing is called clean before the independent witness agrees (R-MECH-3). */
	#ended(running: Running, facts: EndFacts, isGone: boolean): void {
		const {native, companion} = this.#parts;
		const witness = agree(native, {leader: running.leader, supervisor: companion.pid});
		this.#settle(running, toEnded(running, facts, {...witness, isAgreed: witness.isAgreed && isGone}));
	}

	#settle(running: Running, outcome: CommandOutcome): void {
		running.stopWatching();
		stopSampler(running);
		this.#running = null;
		running.resolve(outcome);
	}

	/** A supervisor that cannot be understood is no use any more: its end is brought about, and then dealt with as any other. */
	#fail(reason: string): void {
		this.#fault ??= reason;
		this.#parts.companion.signal('SIGKILL');
	}

	/** The supervisor is gone. A command that ran is ended and reaped by bailiff itself, and is cleanup_failed (R-MECH-4). */
	async #followEnd(): Promise<void> {
		const {native, companion, others, clock} = this.#parts;
		await companion.ended;
		this.#fault ??= 'the supervisor ended';
		const running = this.#running;
		if (running === null) {
			return;
		}

		running.stopWatching();
		stopSampler(running);
		const ending = await endOrphans(native, {leader: ownLeader(running), others, clock});
		this.#settle(running, toOrphaned(running, ending, {endedNs: clock.monotonicNs(), fault: this.#fault}));
	}
}
