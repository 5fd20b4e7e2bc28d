import type {CommandRequest, SandboxRequest} from '../outcome.ts';
import {encodeRun, frame, maxRequestBytes} from '../protocol.ts';

const runInside = 4;
const confine = 6;

/**
 * The frame that asks for one command inside a sandbox, or null when it is larger than any kernel takes (E2BIG).
 *
 * Shape: what bubblewrap needs, then the frames that go to the first process inside as they are. Source: S-MECH, native/src/supervisor/protocol.c.
 */
export function encodeErrand(request: CommandRequest, sandbox: SandboxRequest, seq: number): Buffer | null {
	const run = encodeRun(request, seq);
	if (run === null) {
		return null;
	}

	const confinement = Buffer.from([sandbox.isLandlocked ? '\u0001' : '\0', ...sandbox.writable.map(path => `${path}\0`)].join(''));
	const frames = Buffer.concat([frame(confine, confinement), run]);
	const fixed = Buffer.alloc(28);
	fixed.writeUInt32LE(seq, 0);
	fixed.writeBigUInt64LE(request.timeoutNs, 4);
	fixed.writeUInt32LE(sandbox.argv.length, 12);
	fixed.writeUInt32LE(sandbox.joinFiles.length, 16);
	fixed.writeUInt32LE(sandbox.filter.length, 20);
	fixed.writeUInt32LE(frames.length, 24);
	const strings = Buffer.from([sandbox.program, ...sandbox.argv, ...sandbox.joinFiles].map(string => `${string}\0`).join(''));
	const payload = Buffer.concat([fixed, strings, sandbox.filter, frames]);
	return payload.length > maxRequestBytes ? null : frame(runInside, payload);
}
