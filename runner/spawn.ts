import type {Readable, Writable} from 'node:stream';
import {finished} from 'node:stream/promises';
import type {Options} from 'execa';
import {BailiffError, errnoOf} from '../core/errors.ts';

/** One program to run to its end. Nothing is inherited: the environment is exactly `env`, and no name is looked up. */
export type ProgramRequest = {
	/** Absolute path of the program. */
	readonly file: string;
	/** Without argv[0]. */
	readonly args: readonly string[];
	readonly cwd: string;
	readonly env: Readonly<Record<string, string>>;
	/** Written to stdin, which then ends. Absent: stdin is at its end at once. */
	readonly input?: Uint8Array;
	/** Written once to a pipe that the program gets as 3, and ended: for a secret, which must stand in no argument, file or environment (C-HARD-6). */
	readonly channel?: Uint8Array;
	/** Open descriptors of this process that the program gets as 3, 4, ... (C-HARD-5); from 4 on where there is a channel. */
	readonly descriptors?: readonly number[];
	readonly maxStdoutBytes: number;
	readonly maxStderrBytes: number;
	readonly timeoutMs: number;
	/** From TERM to KILL, for the whole process group. */
	readonly graceMs: number;
	/** File mode creation mask of the program; ours where absent. */
	readonly umask?: number;
	/** Ends the program as a timeout does. */
	readonly signal?: AbortSignal;
};

/** What became of a program: data, never thrown. `exitCode` and `signal` are both null when it did not start. */
export type ProgramResult = {
	readonly exitCode: number | null;
	readonly signal: string | null;
	/** At most the asked number of bytes. */
	readonly stdout: Buffer;
	readonly stderr: Buffer;
	/** It wrote more than was asked for and was ended. */
	readonly isTruncated: boolean;
	readonly didTimeOut: boolean;
	/** Symbolic errno of a failed start, else null. */
	readonly startErrno: string | null;
};

/** How long after KILL a program's pipes may stay open. */
const closeAfterKillMs = 500;

/** The processes that this module started and that were not reaped yet: whoever else is a child of ours was adopted (R-MECH-4). */
const startedPids = new Set<number>();

/** Whether `pid` is a child that was started here, as opposed to an orphan that this process adopted as a subreaper. */
export function isStartedHere(pid: number): boolean {
	return startedPids.has(pid);
}

/**
 * Runs one program in its own session and process group and collects what it wrote.
 *
 * Limits: past `timeoutMs`, or past a byte limit, the group gets TERM and after `graceMs` KILL. Whoever left the group and keeps a pipe open is not
 * waited for: half a second after KILL the pipes are closed on this side, and what came until then is the answer.
 */
export async function spawnProgram(request: ProgramRequest): Promise<ProgramResult> {
	// Loaded on first use: execa alone costs more than the rest of bailiff's start (R-PERF-5).
	const {execa} = await import('execa');
	const subprocess = withUmask(request.umask, () => execa(request.file, request.args, programOptions(request)));
	const {pid} = subprocess;
	noteStarted(pid);
	let didTimeOut = false;
	let killTimer: NodeJS.Timeout | undefined;
	let closeTimer: NodeJS.Timeout | undefined;
	const end = (): void => {
		killGroup(pid, 'SIGTERM');
		killTimer ??= setTimeout(() => {
			killGroup(pid, 'SIGKILL');
			closeTimer = setTimeout(() => {
				subprocess.stdout?.destroy();
				subprocess.stderr?.destroy();
			}, closeAfterKillMs);
		}, request.graceMs);
	};
	const timer = setTimeout(() => {
		didTimeOut = true;
		end();
	}, request.timeoutMs);
	request.signal?.addEventListener('abort', end);
	if (request.signal?.aborted === true) {
		end();
	}

	try {
		const result = await subprocess;
		return toProgramResult(result, didTimeOut);
	} finally {
		clearTimeout(timer);
		clearTimeout(killTimer);
		clearTimeout(closeTimer);
		request.signal?.removeEventListener('abort', end);
		startedPids.delete(pid ?? 0);
	}
}

/** The mask belongs to the whole process, but starting a program is synchronous: nothing else of ours is made meanwhile. */
function withUmask<Started>(umask: number | undefined, start: () => Started): Started {
	if (umask === undefined) {
		return start();
	}

	const before = process.umask(umask);
	try {
		return start();
	} finally {
		process.umask(before);
	}
}

function noteStarted(pid: number | undefined): void {
	if (pid !== undefined) {
		startedPids.add(pid);
	}
}

/** A program that lives on beside us and speaks over two descriptors: it reads ours as 3 and writes to us as 4. */
export type Companion = {
	readonly pid: number;
	readonly requests: Writable;
	readonly events: Readable;
	/** Signals it while it was not reaped; afterwards its number may mean somebody else, and nothing happens. */
	readonly signal: (name: 'SIGCONT' | 'SIGKILL') => void;
	/** Resolves when it has ended, was reaped, and all that it said was read from `events`; never rejects. */
	readonly ended: Promise<void>;
};

/**
 * Starts a companion in its own session with an empty environment and nothing else open.
 *
 * Refuses: RUN_SUPERVISOR_FAILED when it cannot be started. Source: R-MECH-1, R-MECH-2.
 */
export async function spawnCompanion(file: string): Promise<Companion> {
	const {execa} = await import('execa');
	const subprocess = execa(file, [], {
		cwd: '/',
		env: {},
		extendEnv: false,
		preferLocal: false,
		stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
		buffer: false,
		detached: true,
		cleanup: false,
		reject: false,
	});
	const [, , , requests, events] = subprocess.stdio;
	const {pid} = subprocess;
	if (pid === undefined || !isWritable(requests) || !isReadable(events)) {
		const result = await subprocess;
		throw new BailiffError('RUN_SUPERVISOR_FAILED', `the native supervisor ${file} cannot be started: run "bailiff doctor"`, {cause: result});
	}

	startedPids.add(pid);
	const ended = waitForEnd(subprocess, pid, events);
	const signal = (name: 'SIGCONT' | 'SIGKILL'): void => {
		subprocess.kill(name);
	};
	return {pid, requests, events, signal, ended};
}

async function waitForEnd(subprocess: Promise<unknown>, pid: number, events: Readable): Promise<void> {
	await subprocess;
	startedPids.delete(pid);
	try {
		// What it said before it died comes first.
		await finished(events, {writable: false});
	} catch {
		// A stream that broke off has ended too.
	}
}

function isWritable(stream: unknown): stream is Writable {
	return typeof stream === 'object' && stream !== null && 'write' in stream;
}

function isReadable(stream: unknown): stream is Readable {
	return typeof stream === 'object' && stream !== null && 'on' in stream;
}

/** A command in the foreground: it shares our terminal, our process group and our standard streams. */
export type ForegroundRequest = {
	/** The program, looked up on the PATH of `env`, and its arguments. */
	readonly argv: readonly string[];
	readonly cwd: string;
	readonly env: Readonly<Record<string, string>>;
	/** Open descriptors of this process that the command gets as 3, 4, ... (C-HARD-5). */
	readonly descriptors: readonly number[];
	/** `stderr`: what it writes to stdout goes there, so that stdout is the caller's alone. */
	readonly stdout: 'inherit' | 'stderr';
	readonly umask: number;
	/** Called once it runs, with the way to signal it. */
	readonly onStarted?: (signal: (name: NodeJS.Signals) => void) => void;
};

/** How it ended; all null but `startErrno` where it did not start. */
export type ForegroundEnd = Pick<ProgramResult, 'exitCode' | 'signal' | 'startErrno'>;

/** Runs a command in the foreground to its own end; nobody ends it but a signal. Source: C-LOCK-4. */
export async function spawnForeground(request: ForegroundRequest): Promise<ForegroundEnd> {
	const {execa} = await import('execa');
	const [file = '', ...args] = request.argv;
	const subprocess = withUmask(request.umask, () =>
		execa(file, args, {
			cwd: request.cwd,
			env: {...request.env},
			extendEnv: false,
			preferLocal: false,
			stdio: ['inherit', request.stdout === 'stderr' ? 2 : 'inherit', 'inherit', ...request.descriptors.filter(isDescriptor)],
			buffer: false,
			cleanup: false,
			reject: false,
		}),
	);
	noteStarted(subprocess.pid);
	if (subprocess.pid !== undefined) {
		request.onStarted?.(name => subprocess.kill(name));
	}

	try {
		const result = await subprocess;
		const didStart = result.exitCode !== undefined || result.signal !== undefined;
		return {exitCode: result.exitCode ?? null, signal: result.signal ?? null, startErrno: didStart ? null : (errnoOf(result) ?? 'EIO')};
	} finally {
		startedPids.delete(subprocess.pid ?? 0);
	}
}

function programOptions(request: ProgramRequest): Options & {readonly encoding: 'buffer'; readonly reject: false} {
	return {
		cwd: request.cwd,
		env: {...request.env},
		extendEnv: false,
		preferLocal: false,
		stdio: [
			request.input === undefined ? 'ignore' : 'pipe',
			'pipe',
			'pipe',
			...(request.channel === undefined ? [] : [request.channel]),
			...(request.descriptors ?? []).filter(isDescriptor),
		],
		...(request.input === undefined ? {} : {input: request.input}),
		encoding: 'buffer',
		maxBuffer: {stdout: request.maxStdoutBytes, stderr: request.maxStderrBytes},
		stripFinalNewline: false,
		// An own session: no controlling terminal to prompt on, and a Ctrl-C reaches bailiff alone, which then ends in order.
		detached: true,
		cleanup: false,
		forceKillAfterDelay: request.graceMs,
		reject: false,
	};
}

type EndedProgram = {
	readonly exitCode?: number | undefined;
	readonly signal?: string | undefined;
	readonly stdout?: unknown;
	readonly stderr?: unknown;
	readonly isMaxBuffer: boolean;
	readonly code?: string | undefined;
};

function toProgramResult(result: EndedProgram, didTimeOut: boolean): ProgramResult {
	return {
		exitCode: result.exitCode ?? null,
		signal: result.signal ?? null,
		stdout: asBuffer(result.stdout),
		stderr: asBuffer(result.stderr),
		isTruncated: result.isMaxBuffer,
		didTimeOut,
		startErrno: result.exitCode === undefined && result.signal === undefined && !result.isMaxBuffer ? (errnoOf(result) ?? 'EIO') : null,
	};
}

/** execa hands any number through unchanged; its types name only these. */
function isDescriptor(descriptor: number): descriptor is 3 | 4 | 5 | 6 | 7 | 8 | 9 {
	return Number.isInteger(descriptor) && descriptor > 2;
}

/** The bytes without a copy. */
function asBuffer(bytes: unknown): Buffer {
	return bytes instanceof Uint8Array ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : Buffer.alloc(0);
}

function killGroup(pid: number | undefined, signal: 'SIGTERM' | 'SIGKILL'): void {
	if (pid === undefined) {
		return;
	}

	try {
		process.kill(-pid, signal);
	} catch {
		// Nobody of it is left (ESRCH), or it runs as somebody else by now (EPERM): in both cases its own end is waited for.
	}
}
