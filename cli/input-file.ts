import {type BigIntStats, realpathSync} from 'node:fs';
import path from 'node:path';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {fileRefusal} from '../core/file-fault.ts';
import {closing, type FileContent, SafeDirectory} from '../core/safe-file.ts';
import {toAbsolute} from './arguments.ts';

/**
 * The bytes of a file that the caller names, relative to where they stand or absolute, and their digest, from one descriptor.
 *
 * Shape: links are followed once, by name, since the caller named the file; whatever is then found must be a regular file of at most `maxBytes`.
 * Nothing is waited for: a FIFO, a device or a directory is refused before it is opened.
 * Refuses: CORE_FILE_UNREADABLE, CORE_FILE_NOT_REGULAR, CORE_FILE_TOO_LARGE (with the limit), CORE_FILE_CHANGED.
 */
export function readInputFile(given: string, maxBytes: number): FileContent {
	const absolute = toAbsolute(given);
	let real: string;
	try {
		real = realpathSync(absolute);
	} catch (error) {
		throw fileRefusal(errnoOf(error) === 'ENOENT' ? 'missing' : 'unreadable', absolute, {cause: error});
	}

	if (real === '/') {
		throw notRegular(absolute, 'a directory');
	}

	return closing(SafeDirectory.open(path.dirname(real)), directory =>
		closing(directory.file(path.basename(real)), file => {
			if (!file.status.isFile()) {
				throw notRegular(absolute, kindOf(file.status));
			}

			if (file.status.size > BigInt(maxBytes)) {
				throw new BailiffError('CORE_FILE_TOO_LARGE', `${JSON.stringify(absolute)} has ${file.status.size} bytes, the limit is ${maxBytes}`, {
					details: {path: absolute, fault: 'too-large', limit: maxBytes},
				});
			}

			return file.read(maxBytes);
		}),
	);
}

function notRegular(file: string, kind: string): BailiffError {
	return new BailiffError('CORE_FILE_NOT_REGULAR', `${JSON.stringify(file)} is ${kind}, a regular file was expected`, {details: {path: file, fault: 'type'}});
}

function kindOf(status: BigIntStats): string {
	const kinds = [
		['a directory', status.isDirectory()],
		['a FIFO', status.isFIFO()],
		['a socket', status.isSocket()],
		['a device', status.isBlockDevice() || status.isCharacterDevice()],
	] as const;
	return kinds.find(([, isThis]) => isThis)?.[0] ?? 'of another kind';
}
