import {type ChildProcess, spawn} from 'node:child_process';
import type {Readable, Writable} from 'node:stream';
import {supervisorPath} from '../../native/index.ts';
import {EventDecoder, type SupervisorEvent} from '../../runner/protocol.ts';

/** The supervisor's program alone, spoken to on its own protocol. */
export type BareSupervisor = {
	readonly child: ChildProcess;
	readonly requests: Writable;
	/** The event stream itself, for tests that read it late. */
	readonly events: Readable;
	/** The next event; rejects at the end of the stream. */
	readonly next: () => Promise<SupervisorEvent>;
	/** Every event up to and with the first of this type. */
	readonly until: (type: SupervisorEvent['type']) => Promise<SupervisorEvent[]>;
	/** Exit code and signal, once it has ended. */
	readonly ended: Promise<{readonly code: number | null; readonly signal: string | null}>;
};

/** Starts the supervisor, through `wrapper` (a program that executes its arguments) where one is given. */
export function startBareSupervisor(wrapper: readonly string[] = []): BareSupervisor {
	const [program, ...args] = [...wrapper, supervisorPath()];
	const child = spawn(program, args, {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], env: {}});
	const requests = child.stdio[3] as Writable;
	const events = child.stdio[4] as Readable;
	requests.on('error', () => undefined);
	const queue: SupervisorEvent[] = [];
	const waiting: Array<() => void> = [];
	const decoder = new EventDecoder();
	let isOver = false;
	const wake = (): void => {
		for (const resolve of waiting.splice(0)) {
			resolve();
		}
	};
	events.on('data', (bytes: Buffer) => {
		queue.push(...decoder.push(bytes));
		wake();
	});
	events.on('close', () => {
		isOver = true;
		wake();
	});

	async function next(): Promise<SupervisorEvent> {
		for (;;) {
			const event = queue.shift();
			if (event !== undefined) {
				return event;
			}

			if (isOver) {
				throw new Error('the supervisor says no more');
			}

			await new Promise<void>(resolve => {
				waiting.push(resolve);
			});
		}
	}

	return {
		child,
		requests,
		events,
		next,
		async until(type) {
			const seen: SupervisorEvent[] = [];
			do {
				seen.push(await next());
			} while (seen.at(-1)?.type !== type);
			return seen;
		},
		ended: new Promise(resolve => {
			child.once('exit', (code, signal) => {
				resolve({code, signal});
			});
		}),
	};
}
