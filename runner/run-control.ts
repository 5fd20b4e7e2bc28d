import type {InterruptSignal, Supervisor} from './outcome.ts';

/** The handle by which a caller interrupts a run (R-END-7). */
export type RunControl = {
	/** Ends the run: the running command by the ladder, a second call straight by KILL. Safe at any moment. */
	readonly interrupt: (signal: InterruptSignal) => void;
	/** The first signal that arrived, or null. */
	readonly signal: () => InterruptSignal | null;
	/** Used by the run: where later signals go. */
	readonly attach: (supervisor: Supervisor | null) => void;
};

/** Makes the control of one run. */
export function createRunControl(): RunControl {
	let first: InterruptSignal | null = null;
	let target: Supervisor | null = null;
	return {
		interrupt(signal) {
			first ??= signal;
			target?.interrupt(signal);
		},
		signal: () => first,
		attach(supervisor) {
			target = supervisor;
		},
	};
}
