import {realpathSync} from 'node:fs';
import path from 'node:path';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {faultSentence, fileFaultOf} from '../core/file-fault.ts';
import {closing, SafeDirectory} from '../core/safe-file.ts';
import {toAbsolute} from './arguments.ts';

const maxBytes = 1_048_576;
const leastBytes = 8;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * The values of files that hold one value a line; empty lines count for nothing.
 *
 * Shape: each file regular, no link, one name, owned by the caller, mode 0600, at most 1 MiB; each value at least 8 bytes.
 * Refuses: RUN_SENSITIVE_FILE with file, line number and mend, never with a value. Source: R-OUT-2, C-TRUST-4.
 */
export function readSensitiveFiles(files: readonly string[]): Buffer[] {
	return files.flatMap(file => readValues(toAbsolute(file)));
}

function readValues(file: string): Buffer[] {
	const values = lines(readPrivate(file));
	const short = values.findIndex(value => value.length > 0 && value.length < leastBytes);
	if (short !== -1) {
		throw refused(
			file,
			`holds a value of less than ${leastBytes} bytes in line ${short + 1}: such a value would be found everywhere, make it longer or leave it out`,
		);
	}

	return values.filter(value => value.length > 0);
}

function readPrivate(file: string): Buffer {
	try {
		const directory = SafeDirectory.open(realpathSync(path.dirname(file)));
		return closing(directory, opened => opened.readFile(path.basename(file), {uid: process.getuid?.() ?? -1, mode: 0o600, maxBytes})).bytes;
	} catch (error) {
		const fault = fileFaultOf(error);
		if (fault !== null) {
			const mend = fault === 'mode' ? `: chmod 600 ${JSON.stringify(file)}` : '';
			throw refused(file, `${faultSentence(fault)}${fault === 'mode' ? ' (0600)' : ''}${mend}`, error);
		}

		if (error instanceof BailiffError || errnoOf(error) === null) {
			throw error;
		}

		throw refused(file, `cannot be read (${errnoOf(error) ?? ''})`, error);
	}
}

function lines(bytes: Buffer): Buffer[] {
	const found: Buffer[] = [];
	for (let start = 0; start <= bytes.length; ) {
		const next = bytes.indexOf(lineFeed, start);
		const end = next === -1 ? bytes.length : next;
		found.push(bytes.subarray(start, bytes[end - 1] === carriageReturn && end > start ? end - 1 : end));
		start = end + 1;
	}

	return found;
}

function refused(file: string, reason: string, cause?: unknown): BailiffError {
	return new BailiffError('RUN_SENSITIVE_FILE', `the sensitive file ${JSON.stringify(file)} ${reason}`, {
		details: {path: file},
		...(cause === undefined ? {} : {cause}),
	});
}
