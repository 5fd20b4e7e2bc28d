import {BailiffError} from '../core/errors.ts';
import type {InterruptSignal} from '../runner/outcome.ts';
import type {RunControl} from '../runner/run-control.ts';

const interrupts = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const satisfies readonly InterruptSignal[];

/** The signals of this process while a run is in custody. */
export type RunSignals = {
	/** Ends a wait for the issue lock. */
	readonly abort: AbortSignal;
	/** Gives the signals back to their defaults. */
	readonly release: () => void;
};

/**
 * Leads the signals of this process to a run: SIGINT, SIGTERM and SIGHUP end it in order, a second one by KILL; SIGTSTP is ignored, since a stopped bailiff keeps no deadline, and SIGUSR1,
 * by which Node would open a debugger to every command that reaches the loopback.
 *
 * `say` is called once for each thing that a person should know. Source: R-END-7.
 */
export function leadSignals(control: RunControl, say: (line: string) => void): RunSignals {
	const waiting = new AbortController();
	let count = 0;
	const onInterrupt = (signal: NodeJS.Signals): void => {
		const name = interrupts.find(known => known === signal);
		if (name === undefined) {
			return;
		}

		count++;
		if (count === 1) {
			say(`${name}: ending the run in order; a second signal kills what runs`);
		}

		control.interrupt(name);
		waiting.abort(new BailiffError('CLI_INTERRUPTED', `${name} arrived before the run began: nothing was run`, {details: {signal: name}}));
	};
	let isStopSaid = false;
	const onStop = (): void => {
		if (!isStopSaid) {
			isStopSaid = true;
			say('SIGTSTP is ignored while a run is in custody: a stopped bailiff could not keep its deadlines');
		}
	};

	for (const signal of interrupts) {
		process.on(signal, onInterrupt);
	}

	process.on('SIGTSTP', onStop);
	process.on('SIGUSR1', ignore);
	return {
		abort: waiting.signal,
		release() {
			for (const signal of interrupts) {
				process.off(signal, onInterrupt);
			}

			process.off('SIGTSTP', onStop);
			process.off('SIGUSR1', ignore);
		},
	};
}

function ignore(): void {
	// A listener is what keeps Node's debugger shut.
}
