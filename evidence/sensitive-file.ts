import {realpathSync} from 'node:fs';
import path from 'node:path';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {faultSentence, fileFaultOf} from '../core/file-fault.ts';
import {closing, SafeDirectory} from '../core/safe-file.ts';
import {leastValueBytes} from './known-values.ts';

const maxBytes = 1_048_576;

/**
 * The values of a file that holds one a line, LF or CRLF; empty lines count for nothing.
 *
 * Shape: an absolute path of a regular file, no link, one name, owned by the caller, mode 0600, at most 1 MiB; each value at least 8 bytes.
 * Refuses: RUN_SENSITIVE_FILE with file, line number and mend, never with a value; also a file without any value, since whoever names it
 * relies on it. Source: design.md (`--sensitive-file`), R-OUT-2, C-TRUST-4.
 */
export function readSensitiveFile(file: string): Buffer[] {
	const lines = readPrivate(file)
		.toString('latin1')
		.split('\n')
		.map(line => Buffer.from(line.replace(/\r$/, ''), 'latin1'));
	const short = lines.findIndex(line => line.length > 0 && line.length < leastValueBytes);
	if (short !== -1) {
		throw refused(
			file,
			`holds a value of less than ${leastValueBytes} bytes in line ${short + 1}: such a value would be found everywhere, make it longer or leave it out`,
		);
	}

	const values = lines.filter(line => line.length > 0);
	if (values.length === 0) {
		throw refused(file, 'holds no value: write one a line, or leave the file out');
	}

	return values;
}

function readPrivate(file: string): Buffer {
	try {
		const directory = SafeDirectory.open(realpathSync(path.dirname(file)));
		return closing(directory, opened => opened.readFile(path.basename(file), {uid: process.geteuid?.() ?? -1, mode: 0o600, maxBytes})).bytes;
	} catch (error) {
		const fault = fileFaultOf(error);
		if (fault !== null) {
			throw refused(file, `${faultSentence(fault)}${fault === 'mode' ? ` (0600): chmod 600 ${JSON.stringify(file)}` : ''}`, error);
		}

		if (error instanceof BailiffError || errnoOf(error) === null) {
			throw error;
		}

		throw refused(file, `cannot be read (${errnoOf(error) ?? ''})`, error);
	}
}

function refused(file: string, reason: string, cause?: unknown): BailiffError {
	return new BailiffError('RUN_SENSITIVE_FILE', `the sensitive file ${JSON.stringify(file)} ${reason}`, {
		details: {path: file},
		...(cause === undefined ? {} : {cause}),
	});
}
