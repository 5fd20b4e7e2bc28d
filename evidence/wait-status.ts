/** Linux names of the signals 1 to 31, in their order. */
const usualNames =
	'HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS'.split(
		' ',
	);

/** How a child ended: exactly one of the two, or neither when it was not reaped. */
export type ChildEnd = {readonly exit_code: number | null; readonly signal: string | null};

/** The name of signal `number` as the manifest writes it, or null outside 1 to 64. Source: shapes.ts: SignalName. */
export function signalName(number: number): string | null {
	const usual = usualNames[number - 1];
	if (usual !== undefined) {
		return `SIG${usual}`;
	}

	if (number === 32 || number === 33) {
		return `SIG${number}`;
	}

	if (!Number.isInteger(number) || number < 34 || number > 64) {
		return null;
	}

	return number === 34 ? 'SIGRTMIN' : `SIGRTMIN+${number - 34}`;
}

/**
 * Reads a raw wait status as waitpid gives it: low seven bits the signal (0: exited), bit 7 core, bits 8 to 15 the exit code.
 *
 * A death by signal stays a signal and is never folded into 128+n. Null (not reaped), a stop and a continuation give neither.
 * Source: R-STATUS-5.
 */
export function readWaitStatus(waitStatus: number | null): ChildEnd {
	if (waitStatus === null) {
		return {exit_code: null, signal: null};
	}

	const signal = waitStatus & 0x7f;
	if (signal === 0) {
		return {exit_code: (waitStatus >> 8) & 0xff, signal: null};
	}

	return {exit_code: null, signal: signal === 0x7f ? null : signalName(signal)};
}
