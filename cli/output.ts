import type {BailiffError, JsonValue} from '../core/errors.ts';
import {errnoOf} from '../core/errors.ts';
import type {Reply} from './command-spec.ts';
import {type ExitCode, exitCodeOf, exitCodes, isBailiffError} from './exit-codes.ts';
import {visibleText} from './visible-text.ts';

/**
 * Writes a reply: with `isJson` its one object to stdout, else its text to stdout and its note to stderr.
 *
 * Source: design.md, "Command line".
 */
export function writeReply(reply: Reply, isJson: boolean): ExitCode {
	if (isJson) {
		writeJson(reply.json);
		return reply.exitCode;
	}

	if (reply.note !== undefined) {
		process.stderr.write(withLineFeed(visibleText(reply.note)));
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
export function writeFailure(error: unknown, isJson: boolean): ExitCode {
	if (!isBailiffError(error)) {
		process.stderr.write(withLineFeed(visibleText(`bailiff: this is a bug of bailiff, please report it\n${stackOf(error)}`)));
		if (isJson) {
			writeJson({error: {code: 'BUG', message: 'this is a bug of bailiff; the stack stands on stderr', details: {}}});
		}

		return exitCodes.bug;
	}

	if (isJson) {
		writeJson({error: {code: error.code, message: error.message, details: error.details}});
	} else {
		process.stderr.write(withLineFeed(visibleText(describe(error))));
	}

	return exitCodeOf(error);
}

/**
 * Makes a closed reader of stdout or stderr quiet (EPIPE), and any other failure to write an exit code of its own.
 */
export function guardStreams(): void {
	process.stderr.on('error', () => {});
	process.stdout.on('error', error => {
		if (errnoOf(error) === 'EPIPE') {
			return;
		}

		process.stderr.write(`bailiff: CLI_OUTPUT_FAILED: the answer could not be written to stdout (${errnoOf(error) ?? 'unknown'}): make room and ask again\n`);
		process.exitCode = exitCodes.uncertain;
	});
}

function describe(error: BailiffError): string {
	const hint = error.code === 'CLI_USAGE' ? '\n(bailiff --help lists the commands, bailiff help COMMAND shows one with an example)' : '';
	return `bailiff: ${error.code}: ${error.message}${hint}`;
}

function writeJson(value: JsonValue): void {
	process.stdout.write(`${JSON.stringify(value)}\n`);
}

function stackOf(error: unknown): string {
	return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function withLineFeed(text: string): string {
	return text.endsWith('\n') ? text : `${text}\n`;
}
