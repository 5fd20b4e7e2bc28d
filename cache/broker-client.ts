import {closeSync} from 'node:fs';
import {setTimeout as sleep} from 'node:timers/promises';
import {type Clock, systemClock} from '../core/clock.ts';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {loadNative} from '../native/index.ts';
import {type BrokerHandle, connectTo, readHandle} from './broker-handle.ts';
import {
	type BrokerAnswer,
	type BrokerQuestion,
	type BrokerRequest,
	type GrantedAnswer,
	LineReader,
	lineOf,
	parseAnswer,
	protocolFault,
} from './broker-protocol.ts';

/** How long to wait for an answer, and what ends the waiting. */
export type CallOptions = {
	/** Beside what the broker itself was asked to wait. Default 30 s. */
	readonly timeoutMs?: number;
	/** What it carries as reason is thrown; the connection is of no use afterwards. */
	readonly signal?: AbortSignal;
};

const answerMs = 30_000;
const nsPerMs = 1_000_000n;
const connectRounds = 50;
const connectPauseMs = 20;

/** A connection to the broker of one lease. Requests are sent one after the other, in the order of the calls. */
export class BrokerClient {
	readonly handle: BrokerHandle;
	readonly file: string;
	readonly #fd: number;
	readonly #clock: Clock;
	readonly #reader = new LineReader();
	#turn: Promise<unknown> = Promise.resolve();
	#lastId = 0;
	#isBusy = false;
	#isClosed = false;
	#received: number | null = null;

	private constructor(file: string, handle: BrokerHandle, {fd, clock}: {readonly fd: number; readonly clock: Clock}) {
		this.file = file;
		this.handle = handle;
		this.#fd = fd;
		this.#clock = clock;
	}

	/**
	 * Reads the handle at the absolute path `file` and connects to its broker, whose user must be ours.
	 *
	 * Refuses: as `readHandle` and `connectTo`. Source: BR-2.
	 */
	static async connect(file: string, clock: Clock = systemClock): Promise<BrokerClient> {
		const handle = readHandle(file);
		for (let round = 1; ; round++) {
			try {
				return new BrokerClient(file, handle, {fd: connectTo(file), clock});
			} catch (error) {
				if (!(error instanceof BailiffError) || error.code !== 'CACHE_LOCK_BUSY' || round === connectRounds) {
					throw error;
				}
			}

			await sleep(connectPauseMs);
		}
	}

	/**
	 * Asks and waits for the answer. A descriptor that came with it is the caller's.
	 *
	 * Refuses: what the broker refuses, by its code; CACHE_BROKER_PROTOCOL, CACHE_BROKER_STALE where it does not answer in time, CACHE_LEASE_EXPIRED
	 * where it ended. Source: BR-3.
	 */
	ask(question: BrokerQuestion, options: CallOptions = {}): Promise<{readonly answer: GrantedAnswer; readonly descriptor: number | null}> {
		const asked = this.#turn.then(async () => this.#exchange(question, options));
		this.#turn = asked.catch(() => {});
		return asked;
	}

	/** Whether the other end is still there; looked at without waiting. True while a request is under way. */
	isConnected(): boolean {
		if (this.#isClosed) {
			return false;
		}

		try {
			return this.#isBusy || loadNative().receiveBytes(this.#fd) === null;
		} catch {
			return false;
		}
	}

	/** Closes the connection; for a holder that ends the lease. Further calls do nothing. */
	close(): void {
		if (!this.#isClosed) {
			this.#isClosed = true;
			loadNative().shutdownSocket(this.#fd);
			void this.#turn.finally(() => {
				closeSync(this.#fd);
			});
		}
	}

	async #exchange(question: BrokerQuestion, options: CallOptions): Promise<{readonly answer: GrantedAnswer; readonly descriptor: number | null}> {
		options.signal?.throwIfAborted();
		const id = ++this.#lastId;
		const request: BrokerRequest = {v: 1, id, token: this.handle.token, ...question};
		const abort = (): void => {
			loadNative().shutdownSocket(this.#fd);
		};
		options.signal?.addEventListener('abort', abort, {once: true});
		this.#isBusy = true;
		this.#received = null;
		try {
			this.#send(lineOf(request));
			const waitMs = question.op === 'acquire_repository' ? question.wait_seconds * 1000 : 0;
			const answer = await this.#receive(waitMs + (options.timeoutMs ?? answerMs));
			options.signal?.throwIfAborted();
			return {answer: granted(answer, id), descriptor: this.#takeDescriptor()};
		} catch (error) {
			options.signal?.throwIfAborted();
			throw error;
		} finally {
			const unclaimed = this.#takeDescriptor();
			if (unclaimed !== null) {
				closeSync(unclaimed);
			}

			this.#isBusy = false;
			options.signal?.removeEventListener('abort', abort);
		}
	}

	#takeDescriptor(): number | null {
		const descriptor = this.#received;
		this.#received = null;
		return descriptor;
	}

	#send(line: Buffer): void {
		try {
			if (!this.#isClosed && loadNative().sendBytes(this.#fd, line, -1) === line.length) {
				return;
			}
		} catch (error) {
			throw this.#ended(error);
		}

		throw this.#ended(undefined);
	}

	async #receive(timeoutMs: number): Promise<BrokerAnswer> {
		const deadlineNs = this.#clock.monotonicNs() + BigInt(timeoutMs) * nsPerMs;
		for (;;) {
			const leftMs = Number((deadlineNs - this.#clock.monotonicNs()) / nsPerMs);
			if (leftMs <= 0) {
				// An answer that comes too late would be taken for that of the next request.
				loadNative().shutdownSocket(this.#fd);
				throw new BailiffError('CACHE_BROKER_STALE', `the broker of ${this.file} did not answer within ${timeoutMs / 1000} s`, {
					details: {path: this.file, timeout_ms: timeoutMs},
				});
			}

			await loadNative().waitReadable([this.#fd], leftMs);
			const line = this.#look();
			if (line !== null) {
				return parseAnswer(line);
			}
		}
	}

	#look(): Buffer | null {
		let received: ReturnType<ReturnType<typeof loadNative>['receiveBytes']>;
		try {
			received = loadNative().receiveBytes(this.#fd);
		} catch (error) {
			throw this.#ended(error);
		}

		if (received === null) {
			return null;
		}

		if (received.descriptor !== -1) {
			if (this.#received !== null) {
				closeSync(received.descriptor);
				throw protocolFault('the broker sent two descriptors');
			}

			this.#received = received.descriptor;
		}

		if (received.bytes.length === 0) {
			throw this.#ended(undefined);
		}

		return this.#reader.push(received.bytes);
	}

	#ended(cause: unknown): BailiffError {
		return new BailiffError('CACHE_LEASE_EXPIRED', `the broker of ${this.file} ended, and its lease with it`, {
			cause,
			details: {path: this.file, errno: errnoOf(cause)},
		});
	}
}

function granted(answer: BrokerAnswer, id: number): GrantedAnswer {
	if (!answer.ok) {
		throw new BailiffError(answer.error.code, answer.error.message, {details: answer.error.details});
	}

	if (answer.id !== id) {
		throw protocolFault(`the broker answered request ${answer.id} where ${id} was asked`);
	}

	return answer;
}
