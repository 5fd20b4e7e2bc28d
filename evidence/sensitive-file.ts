import {closeSync, constants, fstatSync, openSync, readSync} from 'node:fs';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {type FileFault, faultSentence} from '../core/file-fault.ts';
import {leastValueBytes} from './known-values.ts';

/** More than anybody has; keeps a wrong file from becoming a million values. */
const maxBytes = 65_536;

/**
 * Reads known values from a file: one a line, LF or CRLF, the last line with or without its end.
 *
 * Shape: a regular file of this user, mode 0600, no link, one name, at most 64 KiB; each value at least 8 bytes.
 * Refuses: RUN_SENSITIVE_FILE, which never quotes a value. Source: design.md (`--sensitive-file`), C-TRUST-4.
 */
export function readSensitiveFile(path: string): Buffer[] {
	const bytes = readTrusted(path);
	const lines = bytes.toString('latin1').split('\n');
	if (lines.at(-1) === '') {
		lines.pop();
	}

	if (lines.length === 0) {
		throw refusal(path, 'holds no value: write one a line');
	}

	return lines.map((line, index) => {
		const value = Buffer.from(line.replace(/\r$/, ''), 'latin1');
		if (value.length < leastValueBytes) {
			throw refusal(
				path,
				`has a value of ${value.length} bytes on line ${index + 1}: at least ${leastValueBytes} are needed, shorter ones would hit by chance`,
			);
		}

		return value;
	});
}

function readTrusted(path: string): Buffer {
	let descriptor: number;
	try {
		// Neither a link nor a pipe without a writer may lead us elsewhere or make us wait.
		descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
	} catch (error) {
		const errno = errnoOf(error);
		throw refusal(path, errno === 'ELOOP' ? faultSentence('link') : `cannot be read (${errno ?? 'no errno'})`, error);
	}

	try {
		const fault = faultOf(descriptor);
		if (fault !== null) {
			throw refusal(path, `${faultSentence(fault)}: it must be a regular file of yours with mode 0600, one name and at most ${maxBytes} bytes`);
		}

		const bytes = Buffer.alloc(maxBytes + 1);
		let length = 0;
		for (let count = -1; count !== 0 && length <= maxBytes; length += count) {
			count = readSync(descriptor, bytes, length, bytes.length - length, null);
		}

		return bytes.subarray(0, length);
	} finally {
		closeSync(descriptor);
	}
}

function faultOf(descriptor: number): FileFault | null {
	const status = fstatSync(descriptor);
	if (!status.isFile()) {
		return 'type';
	}

	if (status.uid !== process.geteuid?.()) {
		return 'owner';
	}

	if ((status.mode & 0o7777) !== 0o600) {
		return 'mode';
	}

	if (status.nlink !== 1) {
		return 'nlink';
	}

	return status.size > maxBytes ? 'too-large' : null;
}

function refusal(path: string, sentence: string, cause?: unknown): BailiffError {
	return new BailiffError('RUN_SENSITIVE_FILE', `the sensitive file ${JSON.stringify(path)} ${sentence}`, {cause, details: {path}});
}
