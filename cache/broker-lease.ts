import {setTimeout as sleep} from 'node:timers/promises';
import {type Clock, systemClock} from '../core/clock.ts';
import {BailiffError} from '../core/errors.ts';
import type {LeaseStanding} from './broker-protocol.ts';
import type {LockWait} from './lock.ts';
import type {HeldLock, LockSession} from './lock-session.ts';

const nsPerMs = 1_000_000n;
const nsPerSecond = 1_000_000_000n;
const pauseMs = 10;

/** What a lease stands on: the session that took the issue lock, and for how long. */
export type LeaseGround = {readonly locks: LockSession; readonly issue: HeldLock; readonly ttlSeconds: number; readonly clock?: Clock};

/**
 * A lease on one issue: its lock is held until the time is over or the lease is ended, and the repository lock is nested in it.
 *
 * Time is monotonic. Everything is given back by closing alone, the repository lock first (BR-4).
 */
export class BrokerLease {
	readonly #ground: LeaseGround;
	readonly #clock: Clock;
	#expiresNs: bigint;
	#repository: HeldLock | null = null;
	#isTaking = false;
	#hasEnded = false;

	constructor(ground: LeaseGround) {
		this.#ground = ground;
		this.#clock = ground.clock ?? systemClock;
		this.#expiresNs = this.#clock.monotonicNs() + BigInt(ground.ttlSeconds) * nsPerSecond;
	}

	/** How long the lease still has, in whole milliseconds, rounded up; 0 when it is over. */
	remainingMs(): number {
		const leftNs = this.#expiresNs - this.#clock.monotonicNs();
		return this.#hasEnded || leftNs <= 0n ? 0 : Number((leftNs + nsPerMs - 1n) / nsPerMs);
	}

	/** Returns only while the lease lives and its lock file is the one that was locked. Refuses: CACHE_LEASE_EXPIRED, CACHE_LOCK_REPLACED. */
	assertAlive(): void {
		if (this.remainingMs() === 0) {
			throw new BailiffError('CACHE_LEASE_EXPIRED', 'the lease is over: start a new broker', {details: {resource: 'issue'}});
		}

		this.#ground.issue.assertHeld();
	}

	/** Lets the lease end `ttlSeconds` from now. Refuses: CACHE_LEASE_EXPIRED. */
	renew(ttlSeconds: number): void {
		this.assertAlive();
		this.#expiresNs = this.#clock.monotonicNs() + BigInt(ttlSeconds) * nsPerSecond;
	}

	/**
	 * Takes the repository lock inside the lease; one holder at a time, in the lease as outside of it.
	 *
	 * Refuses: CACHE_LOCK_BUSY after `timeoutMs`, CACHE_LEASE_EXPIRED, CACHE_LOCK_ codes. Source: BR-3, C-LOCK-2.
	 */
	async acquireRepository(wait: LockWait): Promise<HeldLock> {
		this.assertAlive();
		const deadlineNs = this.#clock.monotonicNs() + BigInt(wait.timeoutMs ?? 0) * nsPerMs;
		while (this.#isTaking || this.#repository !== null) {
			if (this.#clock.monotonicNs() >= deadlineNs) {
				throw new BailiffError('CACHE_LOCK_BUSY', 'the repository lock is held within this lease already: release_repository gives it back');
			}

			await pause(wait.signal);
			this.assertAlive();
		}

		this.#isTaking = true;
		try {
			const leftMs = Number((deadlineNs - this.#clock.monotonicNs()) / nsPerMs);
			const lock = await this.#ground.locks.repository({...wait, timeoutMs: Math.max(0, leftMs)});
			this.#repository = lock;
			return lock;
		} finally {
			this.#isTaking = false;
		}
	}

	/** Gives the repository lock back; with `only`, just where that one is still held. Without effect where none is. */
	async releaseRepository(only: HeldLock | null = null): Promise<void> {
		const held = this.#repository;
		if (held !== null && (only === null || only === held)) {
			this.#repository = null;
			await held.release();
		}
	}

	/** How the lease stands, as every answer says. */
	standing(): LeaseStanding {
		return {
			issue: this.#hasEnded ? 'free' : 'held',
			repository: this.#repository === null ? 'free' : 'held',
			expires_in_seconds: Math.floor(this.remainingMs() / 1000),
		};
	}

	/** Ends the lease: the nested repository lock is closed first, then the issue lock. Further calls do nothing. Source: BR-4. */
	async end(): Promise<void> {
		this.#hasEnded = true;
		this.#repository = null;
		await this.#ground.locks.release();
	}
}

async function pause(signal: AbortSignal | undefined): Promise<void> {
	try {
		await sleep(pauseMs, undefined, signal === undefined ? {} : {signal});
	} catch {
		signal?.throwIfAborted();
	}
}
