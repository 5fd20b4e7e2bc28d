import type {Clock} from '../core/clock.ts';
import {visibleLine} from '../core/visible-text.ts';
import type {RunEvent} from '../runner/run-events.ts';

/** Where progress goes: stderr, and what kind of reader it has. */
export type ProgressSink = {
	readonly write: (text: string) => void;
	/** A terminal that can redraw a line. */
	readonly isTerminal: boolean;
	readonly hasColour: boolean;
	/** Columns now; read again at each redraw. */
	readonly columns: () => number;
};

/** stderr as a sink: redrawn only on a terminal that can, coloured only there and where NO_COLOR does not forbid it. */
export function terminalSink(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): ProgressSink {
	const isTerminal = stream.isTTY && env['TERM'] !== 'dumb';
	return {
		write: text => {
			stream.write(text);
		},
		isTerminal,
		hasColour: isTerminal && (env['NO_COLOR'] ?? '') === '',
		columns: () => stream.columns,
	};
}

const nsPerMs = 1_000_000n;
const eraseLine = '\r\u001b[2K';

/**
 * The live view of one run: on a terminal one line for the running command, redrawn with the time elapsed against its deadline; else plain lines, one per change.
 *
 * Source: E-VIEW-2.
 */
export class Progress {
	readonly #sink: ProgressSink;
	readonly #clock: Clock;
	#total = 0;
	#running: {readonly event: CommandStarted; readonly startedNs: bigint} | null = null;

	constructor(sink: ProgressSink, clock: Clock) {
		this.#sink = sink;
		this.#clock = clock;
	}

	/** Shows one event of the run. */
	onEvent(event: RunEvent): void {
		switch (event.type) {
			case 'run-started':
				this.#total = event.commands;
				this.#line(`run ${event.runId}: ${event.commands} ${event.commands === 1 ? 'command' : 'commands'}`);
				return;
			case 'command-started':
				this.#start(event);
				return;
			case 'command-ended':
				this.#end(event, `${verdict(event, this.#sink.hasColour)}, ${seconds(event.durationMs)}`);
				return;
			case 'command-not-executed':
				this.#end(event, `not executed, ${visibleLine(event.reason, 500)}`);
				return;
			case 'warning':
				this.say(`warning: ${event.message}`);
				return;
			case 'published':
				this.#line(`run ${event.runId}: evidence published, ${coloured(event.result, event.result === 'passed', this.#sink.hasColour)}`);
				return;
			default:
				event satisfies never;
		}
	}

	/** Says one line, above the live one. */
	say(text: string): void {
		this.#line(visibleLine(text, 2000));
		this.tick();
	}

	/** Draws the live line again; the caller's timer calls it. Does nothing where nothing is live. */
	tick(): void {
		if (this.#running === null || !this.#sink.isTerminal) {
			return;
		}

		const {event, startedNs} = this.#running;
		const elapsed = seconds(Number((this.#clock.monotonicNs() - startedNs) / nsPerMs));
		const text = `${this.#place(event.index)} ${event.id}  ${elapsed} of ${event.timeoutSeconds} s`;
		this.#sink.write(`${eraseLine}${text.slice(0, Math.max(this.#sink.columns() - 1, 10))}`);
	}

	#start(event: CommandStarted): void {
		if (!this.#sink.isTerminal) {
			this.#line(`${this.#place(event.index)} ${event.id}: started, deadline ${event.timeoutSeconds} s`);
		}

		this.#running = {event, startedNs: this.#clock.monotonicNs()};
		this.tick();
	}

	#end(event: {readonly index: number; readonly id: string}, outcome: string): void {
		this.#line(`${this.#place(event.index)} ${event.id}: ${outcome}`);
		this.#running = null;
	}

	#line(text: string): void {
		this.#sink.write(`${this.#running === null || !this.#sink.isTerminal ? '' : eraseLine}${text}\n`);
	}

	#place(index: number): string {
		return `[${String(index + 1).padStart(String(this.#total).length)}/${this.#total}]`;
	}
}

type CommandStarted = Extract<RunEvent, {type: 'command-started'}>;
type CommandEnded = Extract<RunEvent, {type: 'command-ended'}>;

function verdict(event: CommandEnded, hasColour: boolean): string {
	const word = event.isPassed ? 'passed' : 'failed';
	return `${coloured(word, event.isPassed, hasColour)}${event.status === 'completed' ? '' : ` (${event.status})`}`;
}

function coloured(word: string, isGood: boolean, hasColour: boolean): string {
	return hasColour ? `\u001b[${isGood ? 32 : 31}m${word}\u001b[39m` : word;
}

function seconds(milliseconds: number): string {
	return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;
}
