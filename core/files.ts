import {chmodSync, closeSync, constants, fchmodSync, fdatasyncSync, fstatSync, fsyncSync, mkdirSync, openSync, writeSync} from 'node:fs';
import {BailiffError, errnoOf} from './errors.ts';
import {fileRefusal} from './file-fault.ts';

/** Everybody else is kept out, whatever the umask: files 0600, directories 0700 (E-PUB-1). */
export const privateModes = {file: 0o600, directory: 0o700} as const;

const permissionBits = 0o7777;

/**
 * Writes all bytes at `position`, however many calls the kernel needs; returns the position after the last byte. Throws the failed call's own error.
 *
 * Refuses: CORE_FILE_UNWRITABLE when the kernel takes no byte and names no reason.
 */
export function writeFully(descriptor: number, bytes: Uint8Array, position: number): number {
	let done = 0;
	while (done < bytes.length) {
		const count = writeSync(descriptor, bytes, done, bytes.length - done, position + done);
		if (count === 0) {
			throw new BailiffError('CORE_FILE_UNWRITABLE', `only ${done} of ${bytes.length} bytes could be written`, {details: {written: done, bytes: bytes.length}});
		}

		done += count;
	}

	return position + done;
}

/**
 * Creates a file of mode exactly 0600 with these bytes; nothing that exists is ever opened or replaced (EEXIST). Throws the failed call's own error.
 *
 * Durability: none until the filesystem is flushed.
 */
export function createPrivateFile(path: string, bytes: Uint8Array): void {
	const descriptor = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, privateModes.file);
	try {
		fchmodSync(descriptor, privateModes.file);
		writeFully(descriptor, bytes, 0);
	} finally {
		closeSync(descriptor);
	}
}

/** Creates a directory of mode exactly 0700, also under a umask or a set-group-id parent. Throws the failed call's own error (EEXIST where something stands). */
export function createPrivateDirectory(path: string): void {
	mkdirSync(path, {mode: privateModes.directory});
	// A umask can have taken even our own bits, so that the directory cannot be opened yet; nobody else can have replaced it in a trusted parent.
	chmodSync(path, privateModes.directory);
}

/**
 * Makes sure that `path` is a directory of ours with mode exactly 0700; creates it (flushed into its parent) where nothing stands.
 *
 * Refuses: CORE_FILE_UNTRUSTED, CORE_FILE_NOT_REGULAR for anything else that stands there; it is never changed. Source: C-TRUST-3, C-TRUST-7.
 */
export function ensurePrivateDirectory(path: string, parent: string): void {
	try {
		createPrivateDirectory(path);
		flushDirectory(parent);
	} catch (error) {
		if (errnoOf(error) !== 'EEXIST') {
			throw error;
		}
	}

	const descriptor = openDirectory(path);
	try {
		const status = fstatSync(descriptor);
		if (status.uid !== process.geteuid?.()) {
			throw fileRefusal('owner', path);
		}

		if ((status.mode & permissionBits) !== privateModes.directory) {
			throw fileRefusal('mode', path);
		}
	} finally {
		closeSync(descriptor);
	}
}

/** Flushes a directory, so that the names in it survive a power loss. Throws the failed call's own error. */
export function flushDirectory(path: string): void {
	const descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
	try {
		fsyncSync(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

/** Flushes the data of an open file and what is needed to find it again (its size). Throws the failed call's own error. */
export function flushFile(descriptor: number): void {
	fdatasyncSync(descriptor);
}

function openDirectory(path: string): number {
	try {
		return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
	} catch (error) {
		const errno = errnoOf(error);
		throw fileRefusal(errno === 'ENOTDIR' || errno === 'ELOOP' ? 'type' : 'unreadable', path, {cause: error});
	}
}
