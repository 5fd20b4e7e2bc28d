/** The typed face of the native parts (R-MECH-6). The implementation loads build/native/bailiff.node. */

/** One process as the independent witness saw it in /proc. */
export type ProcessRow = {
	readonly pid: number;
	readonly ppid: number;
	readonly pgrp: number;
	readonly session: number;
	/** Clock ticks since boot: with the pid, the identity of a process. */
	readonly startTime: number;
	/** State letter of the main thread. */
	readonly state: string;
	/** Any thread is not Z or X (R-END-4). */
	readonly isLive: boolean;
};
