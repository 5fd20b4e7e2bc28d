/** The two clocks: wall time for people, monotonic time for every deadline and duration. Handed in, so that tests can step it. */
export type Clock = {
	/** Milliseconds since the epoch, UTC. May be stepped by an operator; never used for durations. */
	readonly wallMs: () => number;
	/** Nanoseconds of CLOCK_MONOTONIC. */
	readonly monotonicNs: () => bigint;
};

/** The clock of this machine. */
export const systemClock: Clock = {
	wallMs: () => Date.now(),
	monotonicNs: () => process.hrtime.bigint(),
};

/** RFC 3339 in UTC with milliseconds (shapes.ts: Rfc3339Ms) of `wallMs` milliseconds since the epoch. */
export function toRfc3339Ms(wallMs: number): string {
	return new Date(wallMs).toISOString();
}
