import {closeSync} from 'node:fs';
import {BailiffError} from '../core/errors.ts';
import {loadNative} from '../native/index.ts';
import {BrokerConnection, type Received} from './broker-connection.ts';
import type {BrokerLease} from './broker-lease.ts';
import {type BrokerAnswer, type BrokerRequest, type GrantedAnswer, type ProbedResource, parseRequest, refusalOf} from './broker-protocol.ts';
import type {HeldLock} from './lock-session.ts';

/** Why a lease ended. */
export type LeaseEnd = 'released' | 'expired' | 'holder-lost' | 'lifeline' | 'signal';

/** What a server serves. */
export type BrokerService = {
	readonly listener: number;
	readonly lease: BrokerLease;
	readonly isToken: (token: string) => boolean;
	/** Whether a lock is free now. */
	readonly probe: (resource: ProbedResource) => boolean;
	/** Gives every lock back and removes the broker's own files, before the end is answered. */
	readonly finish: () => Promise<void>;
	/** Names the repository lock in messages. */
	readonly repositoryLock: string;
};

const maxConnections = 128;
const longestWaitMs = 2_000_000_000;

/**
 * Serves one lease: accepts connections, checks whose they are, answers their requests one at a time each, and ends with the lease.
 *
 * One thread of the addon waits for all sockets; no request is worked on outside of JavaScript. Source: BR-2, BR-3, BR-4.
 */
export class BrokerServer {
	readonly #service: BrokerService;
	readonly #native = loadNative();
	readonly #connections = new Map<number, BrokerConnection>();
	readonly #pending = new Set<Promise<void>>();
	readonly #wake: readonly [number, number];
	#end: LeaseEnd | null = null;
	#bug: {readonly error: unknown} | null = null;
	#isClosed = false;

	constructor(service: BrokerService) {
		this.#service = service;
		this.#wake = this.#native.socketPair();
	}

	/** Ends the lease from outside; the first reason counts. */
	end(reason: LeaseEnd): void {
		this.#end ??= reason;
		this.#rouse();
	}

	/** Serves until the lease ends and everything was given back; only bugs are thrown, after that. */
	async run(): Promise<LeaseEnd> {
		try {
			while (!this.#hasEnded()) {
				await this.#round();
			}
		} finally {
			await this.#close();
		}

		if (this.#bug !== null) {
			throw this.#bug.error;
		}

		return this.#end ?? 'expired';
	}

	#hasEnded(): boolean {
		if (this.#service.lease.remainingMs() === 0) {
			this.#end ??= 'expired';
		}

		return this.#end !== null || this.#bug !== null;
	}

	async #round(): Promise<void> {
		const {listener, lease} = this.#service;
		const waiting = [...this.#connections.values()].filter(({isGone}) => !isGone).map(({fd}) => fd);
		const doors = this.#connections.size < maxConnections ? [listener] : [];
		const ready = await this.#native.waitReadable([this.#wake[1], ...doors, ...waiting], Math.min(lease.remainingMs(), longestWaitMs));
		this.#native.receiveBytes(this.#wake[1]);
		if (this.#hasEnded()) {
			return;
		}

		for (const fd of ready) {
			if (fd === listener) {
				this.#accept();
			} else {
				this.#look(this.#connections.get(fd));
			}
		}

		this.#sweep();
	}

	#accept(): void {
		for (let fd = this.#native.acceptSocket(this.#service.listener); fd !== null; fd = this.#native.acceptSocket(this.#service.listener)) {
			const connection = new BrokerConnection(fd);
			const uid = this.#native.peerUid(fd);
			this.#connections.set(fd, connection);
			if (uid !== process.geteuid?.()) {
				this.#refuse(connection, null, denied(`a process of uid ${uid} has no part in this lease`));
			}

			if (this.#connections.size >= maxConnections) {
				return;
			}
		}
	}

	#look(connection: BrokerConnection | undefined): void {
		if (connection === undefined || connection.isGone || this.#end !== null) {
			return;
		}

		let received: Received;
		try {
			received = connection.receive();
		} catch (error) {
			this.#refuse(connection, null, error);
			return;
		}

		if (received.kind === 'end') {
			connection.shutDown();
		} else if (received.kind === 'line') {
			this.#begin(connection, received.line);
		}
	}

	#begin(connection: BrokerConnection, line: Buffer): void {
		let request: BrokerRequest;
		try {
			request = parseRequest(line);
			if (!this.#service.isToken(request.token)) {
				throw denied('the token is not that of this lease');
			}
		} catch (error) {
			this.#refuse(connection, null, error);
			return;
		}

		connection.work = new AbortController();
		const pending = this.#answer(connection, request).catch((error: unknown) => {
			this.#bug ??= {error};
		});
		this.#pending.add(pending);
		void pending.finally(() => {
			this.#pending.delete(pending);
			this.#rouse();
		});
	}

	async #answer(connection: BrokerConnection, request: BrokerRequest): Promise<void> {
		try {
			const lock = await this.#perform(connection, request);
			const free = request.op === 'probe' ? this.#service.probe(request.resource) : null;
			connection.work = null;
			const answer: GrantedAnswer = {v: 1, id: request.id, ok: true, lease: this.#service.lease.standing(), free};
			await this.#deliver(connection, answer, lock);
		} catch (error) {
			connection.work = null;
			if (!(error instanceof BailiffError)) {
				throw error;
			}

			connection.send(refusalOf(request.id, request.op === 'acquire_repository' ? this.#named(error) : error));
		}
	}

	/** Does what is asked; returns the repository lock where one was taken. */
	async #perform(connection: BrokerConnection, request: BrokerRequest): Promise<{readonly held: HeldLock; readonly isPassed: boolean} | null> {
		const {lease} = this.#service;
		if (request.op !== 'probe' && request.op !== 'release') {
			lease.assertAlive();
		}

		switch (request.op) {
			case 'acquire':
				connection.isHolder ||= request.hold;
				return null;
			case 'renew':
				lease.renew(request.ttl_seconds);
				return null;
			case 'acquire_repository': {
				const {signal} = connection.work ?? new AbortController();
				const held = await lease.acquireRepository({timeoutMs: request.wait_seconds * 1000, signal});
				return {held, isPassed: request.pass_descriptor};
			}

			case 'release_repository':
				await lease.releaseRepository();
				return null;
			case 'probe':
				return null;
			case 'release':
				this.#end ??= 'released';
				await this.#service.finish();
				return null;
			default:
				return request satisfies never;
		}
	}

	/** A lock whose answer did not arrive is held by nobody who knows of it: it goes back. */
	async #deliver(connection: BrokerConnection, answer: GrantedAnswer, lock: {readonly held: HeldLock; readonly isPassed: boolean} | null): Promise<void> {
		const hasArrived = connection.send(answer, lock?.isPassed === true ? (lock.held.fd ?? -1) : -1);
		if (lock === null) {
			return;
		}

		if (!hasArrived) {
			await this.#service.lease.releaseRepository(lock.held);
		} else if (lock.isPassed) {
			connection.lent = lock.held;
		}
	}

	/** Closes what is gone. Its holder's end is the lease's; a lock that was lent to it lives on only in what it started. */
	#sweep(): void {
		for (const connection of this.#connections.values()) {
			if (!connection.isGone || connection.work !== null) {
				continue;
			}

			this.#connections.delete(connection.fd);
			connection.close();
			if (connection.lent !== null) {
				this.#track(this.#service.lease.releaseRepository(connection.lent));
			}

			if (connection.isHolder) {
				this.#end ??= 'holder-lost';
			}
		}
	}

	#track(work: Promise<void>): void {
		const pending = work.catch((error: unknown) => {
			this.#bug ??= {error};
		});
		this.#pending.add(pending);
		void pending.finally(() => this.#pending.delete(pending));
	}

	#refuse(connection: BrokerConnection, id: number | null, error: unknown): void {
		if (!(error instanceof BailiffError)) {
			throw error;
		}

		const answer: BrokerAnswer = refusalOf(id, error);
		connection.send(answer);
		connection.shutDown();
	}

	#named(error: BailiffError): BailiffError {
		const {repositoryLock} = this.#service;
		return new BailiffError(error.code, error.message, {cause: error, details: {path: repositoryLock, ...error.details, resource: 'repository'}});
	}

	/** Wakes the thread that waits; a full pair wakes it, too. */
	#rouse(): void {
		if (this.#isClosed) {
			return;
		}

		try {
			this.#native.sendBytes(this.#wake[0], Buffer.from('.'), -1);
		} catch {
			// Nobody has read the last ones yet: it is being woken.
		}
	}

	async #close(): Promise<void> {
		for (const connection of this.#connections.values()) {
			connection.work?.abort(new BailiffError('CACHE_LEASE_EXPIRED', 'the lease is over: start a new broker', {details: {resource: 'issue'}}));
		}

		await this.#service.finish();
		await Promise.allSettled(this.#pending);
		this.#isClosed = true;
		for (const connection of this.#connections.values()) {
			connection.close();
		}

		this.#connections.clear();
		closeSync(this.#wake[0]);
		closeSync(this.#wake[1]);
	}
}

function denied(message: string): BailiffError {
	return new BailiffError('CACHE_BROKER_DENIED', message);
}
