import {closeSync} from 'node:fs';
import {errnoOf} from '../core/errors.ts';
import {loadNative} from '../native/index.ts';
import {type BrokerAnswer, LineReader, lineOf, protocolFault} from './broker-protocol.ts';
import type {HeldLock} from './lock-session.ts';

/** What one look at a connection brought: a whole line, nothing yet, or its end. */
export type Received = {readonly kind: 'line'; readonly line: Buffer} | {readonly kind: 'nothing'} | {readonly kind: 'end'};

/** One client of a broker: its socket, and what hangs on it. */
export class BrokerConnection {
	readonly fd: number;
	/** A request of it is being worked on; its abort ends a wait. */
	work: AbortController | null = null;
	/** Its end ends the lease (BR-4). */
	isHolder = false;
	/** The repository lock whose descriptor it was given. */
	lent: HeldLock | null = null;
	#isGone = false;
	readonly #reader = new LineReader();

	constructor(fd: number) {
		this.fd = fd;
	}

	/** Shut down; the descriptor stays open until `close`, so that its number cannot come to mean something else meanwhile. */
	get isGone(): boolean {
		return this.#isGone;
	}

	/** Reads what is there. Refuses: CACHE_BROKER_PROTOCOL also for a descriptor, and for a byte while a request is being worked on. */
	receive(): Received {
		let received: ReturnType<ReturnType<typeof loadNative>['receiveBytes']>;
		try {
			received = loadNative().receiveBytes(this.fd);
		} catch (error) {
			if (errnoOf(error) === null) {
				throw error;
			}

			return {kind: 'end'};
		}

		if (received === null) {
			return {kind: 'nothing'};
		}

		if (received.descriptor !== -1) {
			closeSync(received.descriptor);
			throw protocolFault('a descriptor came with the request: none is taken');
		}

		if (received.bytes.length === 0) {
			return {kind: 'end'};
		}

		if (this.work !== null) {
			throw protocolFault('a request came before the last one was answered: one at a time');
		}

		const line = this.#reader.push(received.bytes);
		return line === null ? {kind: 'nothing'} : {kind: 'line', line};
	}

	/** Sends an answer, with it a descriptor where one is given. False: it did not arrive whole, and the connection is gone. */
	send(answer: BrokerAnswer, descriptor = -1): boolean {
		const line = lineOf(answer);
		try {
			if (!this.#isGone && loadNative().sendBytes(this.fd, line, descriptor) === line.length) {
				return true;
			}
		} catch (error) {
			if (errnoOf(error) === null) {
				throw error;
			}
		}

		this.shutDown();
		return false;
	}

	/** Ends the connection in both directions and whatever it waits for. */
	shutDown(): void {
		if (!this.#isGone) {
			this.#isGone = true;
			loadNative().shutdownSocket(this.fd);
		}

		this.work?.abort(protocolFault('the client went away'));
	}

	/** Closes the descriptor; nobody may wait for it any more. */
	close(): void {
		this.shutDown();
		closeSync(this.fd);
	}
}
