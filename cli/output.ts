import {fstatSync} from 'node:fs';
import {BailiffError, errnoOf, type JsonValue} from '../core/errors.ts';
import {visibleJson, visibleText} from '../core/visible-text.ts';
import type {Reply} from './command-spec.ts';
import {type ExitCode, exitCodeOf, exitCodes, isBailiffError} from './exit-codes.ts';

/**
 * Writes a reply: with `isJson` its one object to stdout, else its text to stdout and its note to stderr.
 *
 * Source: design.md, "Command line".
 */
export function writeReply(reply: Reply, isJson: boolean): number {
	if (isJson && reply.isAnswered !== true) {
		writeJson(reply.json);
		return reply.exitCode;
	}

	if (reply.note !== undefined) {
		writeError(reply.note);
	}

	if (reply.text.length > 0) {
		process.stdout.write(typeof reply.text === 'string' ? withLineFeed(visibleText(reply.text)) : reply.text);
	}

	return reply.exitCode;
}

/**
 * Writes what was thrown: an error of ours as ErrorAnswer on stdout with `isJson` and as text on stderr otherwise; anything else is a bug, whose stack goes to stderr.
 *
 * Returns the exit code. Source: shapes.ts: ErrorAnswer.
 */
export function writeFailure(thrown: unknown, isJson: boolean): ExitCode {
	const error = isBailiffError(thrown) ? thrown : (machineLimit(thrown) ?? thrown);
	if (!isBailiffError(error)) {
		writeError(`bailiff: this is a bug of bailiff, please report it\n${stackOf(error)}`);
		return writeBug(isJson);
	}

	if (isJson) {
		writeJson({error: {code: error.code, message: error.message, details: error.details}});
	} else {
		writeError(describe(error));
	}

	return exitCodeOf(error);
}

/**
 * Gives a crash outside of any command, which Node itself reports with its stack on stderr, our exit code and its object on stdout.
 */
export function guardCrashes(isJson: boolean): void {
	process.on('uncaughtExceptionMonitor', () => {
		const code = writeBug(isJson);
		// Node sets 1 after this event and before the next.
		process.once('exit', () => {
			process.exitCode = code;
		});
	});
}

/**
 * Makes a closed reader of stdout quiet (EPIPE), and any other failure to write there an exit code of its own.
 */
export function guardStdout(): void {
	process.stdout.on('error', error => {
		if (errnoOf(error) === 'EPIPE') {
			return;
		}

		writeError(`bailiff: CLI_OUTPUT_FAILED: the answer could not be written to stdout (${errnoOf(error) ?? 'unknown'}): make room and ask again`);
		process.exitCode = exitCodes.uncertain;
	});
}

/** True where stdout is a regular file: then nobody reads along. */
export function isStdoutFile(): boolean {
	try {
		return fstatSync(1).isFile();
	} catch (error) {
		if (errnoOf(error) === null) {
			throw error;
		}

		return false;
	}
}

/** Writes text to stderr, safe to show. A closed reader is nobody's error. */
export function writeError(text: string): void {
	stderrStream().write(withLineFeed(visibleText(text)));
}

let isStderrGuarded = false;

/** stderr, opened only when something is to be said: opening it costs a twentieth of a start (R-PERF-5). */
export function stderrStream(): NodeJS.WriteStream {
	if (!isStderrGuarded) {
		isStderrGuarded = true;
		process.stderr.on('error', () => {});
	}

	return process.stderr;
}

/** What the machine refuses to any program is no bug of this one. */
const machineLimits: Readonly<Record<string, string>> = {
	EMFILE: 'this process may not open more files: raise its limit (ulimit -n) to 256 or more',
	ENFILE: 'too many files are open on this machine',
	ENOMEM: 'there is no memory left: free some, or raise the limit of this process',
};

function machineLimit(error: unknown): BailiffError | null {
	const errno = errnoOf(error);
	const mend = errno === null ? undefined : machineLimits[errno];
	return mend === undefined ? null : new BailiffError('CLI_MACHINE_LIMIT', `${mend} (${errno})`, {cause: error, details: {errno}});
}

function writeBug(isJson: boolean): ExitCode {
	if (isJson) {
		writeJson({error: {code: 'BUG', message: 'this is a bug of bailiff; the stack stands on stderr', details: {}}});
	}

	return exitCodes.bug;
}

function describe(error: BailiffError): string {
	const hint = error.code === 'CLI_USAGE' ? '\n(bailiff --help lists the commands, bailiff help COMMAND shows one with an example)' : '';
	return `bailiff: ${error.code}: ${error.message}${hint}`;
}

/** Writes the one object of `--json` to stdout, on one line. */
export function writeJson(value: JsonValue): void {
	process.stdout.write(`${visibleJson(JSON.stringify(value))}\n`);
}

function stackOf(error: unknown): string {
	return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function withLineFeed(text: string): string {
	return text.endsWith('\n') ? text : `${text}\n`;
}
