import type {Clock} from '../core/clock.ts';
import type {RunEvent} from '../runner/run-events.ts';
import {visibleLine} from './visible-text.ts';

/** Where progress goes: stderr, and what kind of reader it has. */
export type ProgressSink = {
	readonly write: (text: string) => void;
	/** A terminal that can redraw a line. */
	readonly isTerminal: boolean;
	readonly hasColour: boolean;
	/** Columns now; read again at each redraw. */
	readonly columns: () => number;
};

/** The live view of one run (E-VIEW-2). */
export type Progress = {
	readonly onEvent: (event: RunEvent) => void;
	/** Says something once, above the live line. */
	readonly say: (line: string) => void;
	/** Draws the live line again; the caller's timer calls it. Does nothing where nothing is live. */
	readonly tick: () => void;
};

const nsPerMs = 1_000_000n;

/**
 * Makes the live view of one run: on a terminal one line per running command, redrawn with the time elapsed against its deadline; else plain lines, one per change.
 *
 * Source: E-VIEW-2.
 */
export function createProgress(sink: ProgressSink, clock: Clock): Progress {
	let total = 0;
	let running: {readonly event: CommandStarted; readonly startedNs: bigint} | null = null;
	const clear = sink.isTerminal ? '\r\u001b[2K' : '';

	function line(text: string): void {
		sink.write(`${running === null ? '' : clear}${text}\n`);
	}

	function tick(): void {
		if (running === null || !sink.isTerminal) {
			return;
		}

		const elapsed = seconds(Number((clock.monotonicNs() - running.startedNs) / nsPerMs));
		const text = `${place(running.event.index, total)} ${running.event.id}  ${elapsed} of ${running.event.timeoutSeconds} s`;
		sink.write(`${clear}${text.slice(0, Math.max(sink.columns() - 1, 10))}`);
	}

	function onEvent(event: RunEvent): void {
		switch (event.type) {
			case 'run-started':
				total = event.commands;
				line(`run ${event.runId}: ${event.commands} ${event.commands === 1 ? 'command' : 'commands'}`);
				return;
			case 'command-started':
				if (!sink.isTerminal) {
					line(`${place(event.index, total)} ${event.id}: started, deadline ${event.timeoutSeconds} s`);
				}

				running = {event, startedNs: clock.monotonicNs()};
				tick();
				return;
			case 'command-ended':
				line(`${place(event.index, total)} ${event.id}: ${verdict(event, sink.hasColour)}, ${seconds(event.durationMs)}`);
				running = null;
				return;
			case 'command-not-executed':
				line(`${place(event.index, total)} ${event.id}: not executed, ${visibleLine(event.reason, 500)}`);
				running = null;
				return;
			case 'warning':
				say(`warning: ${event.message}`);
				return;
			case 'published':
				line(`run ${event.runId}: evidence published, ${coloured(event.result, event.result === 'passed', sink.hasColour)}`);
				return;
			default:
				event satisfies never;
		}
	}

	function say(text: string): void {
		line(visibleLine(text, 2000));
		tick();
	}

	return {onEvent, say, tick};
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

function place(index: number, total: number): string {
	return `[${String(index + 1).padStart(String(total).length)}/${total}]`;
}

function seconds(milliseconds: number): string {
	return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;
}
