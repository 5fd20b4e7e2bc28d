import {BailiffError} from '../core/errors.ts';

const interrupts = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs `work` with a signal that SIGINT, SIGTERM and SIGHUP abort, so that git is ended, own staging removed and every lock given back; a second one ends the
 * process at once.
 *
 * Source: C-LOCK-6, C-BOOT-8.
 */
export async function withInterrupts<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
	const controller = new AbortController();
	const onInterrupt = (name: NodeJS.Signals): void => {
		release();
		controller.abort(new BailiffError('CLI_INTERRUPTED', `${name} arrived: the work was broken off in order`, {details: {signal: name}}));
	};
	const release = (): void => {
		for (const name of interrupts) {
			process.off(name, onInterrupt);
		}
	};
	for (const name of interrupts) {
		process.on(name, onInterrupt);
	}

	try {
		return await work(controller.signal);
	} finally {
		release();
	}
}
