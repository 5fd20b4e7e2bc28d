import {constants} from 'node:os';
import {BailiffError} from '../core/errors.ts';
import type {CommandRequest, StartStage} from './outcome.ts';

/** The version that both sides must speak (native/src/supervisor/supervisor.h). */
export const protocolVersion = 1;

/** What made a command end, as the supervisor says it; `interrupted` is no trigger of a manifest. */
export type SupervisorTrigger = 'timeout' | 'output_limit' | 'descendant' | 'internal' | 'interrupted';

/** The facts of one command's end, each from a system call that the supervisor made (R-END-5). Times: CLOCK_MONOTONIC, nanoseconds; null where it did not happen. */
export type EndFacts = {
	readonly trigger: SupervisorTrigger | null;
	readonly isReaped: boolean;
	readonly wasTermSent: boolean;
	readonly wasKillSent: boolean;
	readonly isCleaned: boolean;
	/** Whether end of file was reached; with combined streams the second is true. */
	readonly isAtEnd: {readonly out: boolean; readonly err: boolean};
	/** Raw; means nothing unless the leader was reaped. */
	readonly waitStatus: number;
	readonly escaped: number;
	readonly reapedCount: number;
	/** How many lived at the last look, and one of them, where the cleanup could not be proved. */
	readonly leftAlive: number;
	readonly leftPid: number;
	/** How many lived on after the leader and had to be ended. */
	readonly leftovers: number;
	readonly seenBytes: {readonly out: number; readonly err: number};
	readonly keptBytes: {readonly out: number; readonly err: number};
	readonly startNs: bigint;
	readonly endNs: bigint;
	readonly triggerNs: bigint | null;
	readonly termNs: bigint | null;
	readonly killNs: bigint | null;
	readonly userUs: number;
	readonly systemUs: number;
	readonly maxRssBytes: number;
};

/** One event of the supervisor. `seq` is the number of the command that it speaks of. */
export type SupervisorEvent =
	| {readonly type: 'hello'; readonly version: number; readonly pid: number}
	| {readonly type: 'started'; readonly seq: number; readonly pid: number; readonly startNs: bigint}
	| {readonly type: 'chunk'; readonly seq: number; readonly stream: 'out' | 'err'; readonly offset: number; readonly tUs: number; readonly bytes: Buffer}
	| {readonly type: 'start-failed'; readonly seq: number; readonly stage: StartStage; readonly errno: string}
	| {readonly type: 'ended'; readonly seq: number; readonly facts: EndFacts}
	| {readonly type: 'fatal'; readonly errno: string; readonly message: string}
	/** Bytes of the first process inside a sandbox, which speaks this protocol too. */
	| {readonly type: 'relay'; readonly seq: number; readonly bytes: Buffer}
	/** What it saw before it held (runner/sandbox/observation.ts). */
	| {readonly type: 'observed'; readonly seq: number; readonly parts: readonly Buffer[]}
	/** Bubblewrap was started. */
	| {readonly type: 'entered'; readonly seq: number; readonly pid: number}
	/** Bubblewrap and everything inside are gone, or could not be ended (`isClean` false). */
	| {readonly type: 'gone'; readonly seq: number; readonly waitStatus: number; readonly isClean: boolean; readonly wasKilled: boolean; readonly said: string};

const headerBytes = 5;
/** The largest payload that the supervisor takes. */
export const maxRequestBytes = 8 * 1024 * 1024;
const maxEventBytes = 5 * 1024 * 1024;
const noValue = 0xffff_ffff_ffff_ffffn;

/** The triggers and stages by their numbers on the wire. */
const triggers = [null, 'timeout', 'output_limit', 'descendant', 'internal', 'interrupted'] as const;
const stages: readonly (StartStage | null)[] = [null, 'chdir', 'resolve', 'exec', 'interpreter', 'fork'];

/** Symbols that Node's table lacks. */
const rareErrnos: ReadonlyMap<number, string> = new Map([
	[15, 'ENOTBLK'],
	[79, 'ELIBACC'],
	[80, 'ELIBBAD'],
	[83, 'ELIBEXEC'],
]);
const errnoNames: ReadonlyMap<number, string> = new Map(
	[...rareErrnos, ...Object.entries(constants.errno).map(([name, number]) => [number, name] as const)].toReversed(),
);

/** The symbol of an errno (`ENOENT`); `E` and the number where it has none here. Source: shapes.ts ErrnoName. */
export function errnoName(errno: number): string {
	return errno === constants.errno.EAGAIN ? 'EAGAIN' : (errnoNames.get(errno) ?? `E${errno}`);
}

/** One frame of the protocol. */
export function frame(type: number, payload: Buffer): Buffer {
	const header = Buffer.alloc(headerBytes);
	header.writeUInt32LE(payload.length, 0);
	header.writeUInt8(type, 4);
	return Buffer.concat([header, payload]);
}

/**
 * The frame that asks for one command, or null when it is larger than any kernel takes (E2BIG).
 *
 * Shape: strings without NUL; `seq` >= 1. Source: R-MECH-2, native/src/supervisor/protocol.c.
 */
export function encodeRun(request: CommandRequest, seq: number): Buffer | null {
	const {limits} = request;
	const environment = Object.entries(request.env).map(([name, value]) => `${name}=${value}`);
	const fixed = Buffer.alloc(77);
	fixed.writeUInt32LE(seq, 0);
	fixed.writeBigUInt64LE(request.timeoutNs, 4);
	fixed.writeBigUInt64LE(request.leakTimeoutNs ?? noValue, 12);
	fixed.writeBigUInt64LE(BigInt(request.maxOutputBytes), 20);
	fixed.writeUInt8(request.streams === 'split' ? 1 : 0, 28);
	for (const [index, limit] of [limits.openFiles, limits.memoryBytes, limits.cpuSeconds, limits.processes, limits.fileSizeBytes].entries()) {
		fixed.writeBigUInt64LE(limit === null ? noValue : BigInt(limit), 29 + 8 * index);
	}

	fixed.writeUInt32LE(request.argv.length, 69);
	fixed.writeUInt32LE(environment.length, 73);
	const strings = [request.executable, request.checkout, request.cwd, ...request.argv, ...environment].map(string => `${string}\0`).join('');
	const payload = Buffer.concat([fixed, Buffer.from(strings, 'utf8')]);
	return payload.length > maxRequestBytes ? null : frame(1, payload);
}

const controls = {interrupt: 2, kill: 3} as const;
const sandboxControls = {release: 5, drop: 7} as const;

/** The frame that ends the running command: by the ladder, or straight by KILL (R-END-7). */
export function encodeControl(kind: keyof typeof controls): Buffer {
	return frame(controls[kind], Buffer.alloc(0));
}

/** The frame that lets go on, or gives up, what is held in the sandbox of command `seq` (S-MECH-4). */
export function encodeSandboxControl(kind: keyof typeof sandboxControls, seq: number): Buffer {
	const payload = Buffer.alloc(4);
	payload.writeUInt32LE(seq, 0);
	return frame(sandboxControls[kind], payload);
}

/** Cuts the byte stream of the supervisor into events. Total: what does not fit the protocol is refused, never guessed. */
export class EventDecoder {
	#pending: Buffer = Buffer.alloc(0);

	/**
	 * The events that are whole after `bytes`, in order.
	 *
	 * Refuses: RUN_SUPERVISOR_FAILED for a frame that is too large, unknown, or of the wrong length. After a refusal the stream is of no use.
	 */
	push(bytes: Buffer): SupervisorEvent[] {
		this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
		const events: SupervisorEvent[] = [];
		for (let length = this.#frameLength(); length !== null; length = this.#frameLength()) {
			events.push(decodeFrame(this.#pending.readUInt8(4), this.#pending.subarray(headerBytes, length)));
			this.#pending = this.#pending.subarray(length);
		}

		return events;
	}

	#frameLength(): number | null {
		if (this.#pending.length < headerBytes) {
			return null;
		}

		const length = this.#pending.readUInt32LE(0);
		if (length > maxEventBytes) {
			throw malformed(`a frame of ${length} bytes`);
		}

		return this.#pending.length < headerBytes + length ? null : headerBytes + length;
	}
}

function malformed(what: string): BailiffError {
	return new BailiffError('RUN_SUPERVISOR_FAILED', `the supervisor sent ${what}, which its protocol does not know: rebuild the native parts`);
}

/** Smallest and largest payload of each event, by its number on the wire. */
const payloadBounds: readonly (readonly [number, number])[] = [
	[1, 0],
	[8, 8],
	[16, 16],
	[22, maxEventBytes],
	[9, 9],
	[126, 126],
	[4, 1024],
	[5, maxEventBytes],
	[4, maxEventBytes],
	[8, 8],
	[9, 4096],
];

function decodeFrame(type: number, payload: Buffer): SupervisorEvent {
	const [smallest, largest] = payloadBounds[type] ?? [1, 0];
	if (payload.length < smallest || payload.length > largest) {
		throw malformed(`a frame of type ${type} with ${payload.length} bytes`);
	}

	switch (type) {
		case 1:
			return {type: 'hello', version: payload.readUInt32LE(0), pid: payload.readUInt32LE(4)};
		case 2:
			return {type: 'started', seq: payload.readUInt32LE(0), pid: payload.readUInt32LE(4), startNs: payload.readBigUInt64LE(8)};
		case 3:
			return decodeChunk(payload);
		case 4:
			return decodeStartFailed(payload);
		case 5:
			return decodeEnded(payload);
		case 6:
			return {type: 'fatal', errno: errnoName(payload.readUInt32LE(0)), message: payload.toString('latin1', 4)};
		default:
			return decodeOfSandbox(type, payload);
	}
}

function decodeOfSandbox(type: number, payload: Buffer): SupervisorEvent {
	const seq = payload.readUInt32LE(0);
	switch (type) {
		case 7:
			return {type: 'relay', seq, bytes: payload.subarray(4)};
		case 8:
			return {type: 'observed', seq, parts: decodeParts(payload.subarray(4))};
		case 9:
			return {type: 'entered', seq, pid: payload.readUInt32LE(4)};
		default:
			return decodeGone(payload, seq);
	}
}

function decodeChunk(payload: Buffer): SupervisorEvent {
	const stream = payload.readUInt8(4);
	if (stream > 1) {
		throw malformed(`a chunk of stream ${stream}`);
	}

	return {
		type: 'chunk',
		seq: payload.readUInt32LE(0),
		stream: stream === 0 ? 'out' : 'err',
		offset: readCount(payload, 5),
		tUs: readCount(payload, 13),
		bytes: payload.subarray(21),
	};
}

function decodeStartFailed(payload: Buffer): SupervisorEvent {
	const stage = stages[payload.readUInt8(4)];
	if (stage === undefined || stage === null) {
		throw malformed(`the start stage ${payload.readUInt8(4)}`);
	}

	return {type: 'start-failed', seq: payload.readUInt32LE(0), stage, errno: errnoName(payload.readUInt32LE(5))};
}

function decodeParts(payload: Buffer): Buffer[] {
	const parts: Buffer[] = [];
	for (let at = 0; at < payload.length; ) {
		const length = at + 4 > payload.length ? payload.length : payload.readUInt32LE(at);
		if (at + 4 + length > payload.length) {
			throw malformed('an observation that is cut off');
		}

		parts.push(payload.subarray(at + 4, at + 4 + length));
		at += 4 + length;
	}

	return parts;
}

function decodeGone(payload: Buffer, seq: number): SupervisorEvent {
	const flags = payload.readUInt8(8);
	return {
		type: 'gone',
		seq,
		waitStatus: payload.readUInt32LE(4),
		isClean: (flags & 1) !== 0,
		wasKilled: (flags & 2) !== 0,
		said: payload.toString('utf8', 9),
	};
}

/** Where the numbers of an `ended` event stand, after six single bytes and six counts. */
function numberAt(index: number): number {
	return 30 + 8 * index;
}

function decodeEnded(payload: Buffer): SupervisorEvent {
	const trigger = triggers[payload.readUInt8(4)];
	const flags = payload.readUInt8(5);
	if (trigger === undefined || flags > 0b11_1111) {
		throw malformed(`the trigger ${payload.readUInt8(4)} with flags ${flags}`);
	}

	const has = (bit: number): boolean => (flags & (1 << bit)) !== 0;
	const count = (index: number): number => payload.readUInt32LE(6 + 4 * index);
	const facts: EndFacts = {
		trigger,
		isReaped: has(0),
		wasTermSent: has(1),
		wasKillSent: has(2),
		isCleaned: has(3),
		isAtEnd: {out: has(4), err: has(5)},
		waitStatus: count(0),
		escaped: count(1),
		reapedCount: count(2),
		leftAlive: count(3),
		leftPid: count(4),
		leftovers: count(5),
		seenBytes: {out: readCount(payload, numberAt(0)), err: readCount(payload, numberAt(1))},
		keptBytes: {out: readCount(payload, numberAt(2)), err: readCount(payload, numberAt(3))},
		startNs: payload.readBigUInt64LE(numberAt(4)),
		endNs: payload.readBigUInt64LE(numberAt(5)),
		triggerNs: readMoment(payload, numberAt(6)),
		termNs: readMoment(payload, numberAt(7)),
		killNs: readMoment(payload, numberAt(8)),
		userUs: readCount(payload, numberAt(9)),
		systemUs: readCount(payload, numberAt(10)),
		maxRssBytes: readCount(payload, numberAt(11)),
	};
	return {type: 'ended', seq: payload.readUInt32LE(0), facts};
}

function readCount(payload: Buffer, at: number): number {
	const value = payload.readBigUInt64LE(at);
	if (value > BigInt(Number.MAX_SAFE_INTEGER)) {
		throw malformed(`the number ${value}`);
	}

	return Number(value);
}

function readMoment(payload: Buffer, at: number): bigint | null {
	const value = payload.readBigUInt64LE(at);
	return value === 0n ? null : value;
}
