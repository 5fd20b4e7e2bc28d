import {createHash, type Hash} from 'node:crypto';
import {closeSync, constants, type BigIntStats as FileStatus, fstatSync, opendirSync, openSync, readSync} from 'node:fs';
import {BailiffError, errnoOf} from './errors.ts';
import {type FileFault, fileRefusal} from './file-fault.ts';

/** What a file or directory must be. What is left out is not asked. */
export type EntryExpectation = {
	/** Numeric owner. */
	readonly uid?: number;
	/** All twelve permission bits, exactly: 0o600 also refuses set-uid, sticky and every wider mode. */
	readonly mode?: number;
};

/** What a regular file must be. */
export type FileExpectation = EntryExpectation & {
	/** Refused before a byte is read. */
	readonly maxBytes: number;
	/** Exact size. */
	readonly bytes?: number;
};

/** The bytes of one descriptor and their digest. */
export type FileContent = {readonly bytes: Buffer; readonly sha256: string};

// Linux on every architecture that Node runs on; node:fs does not name it. Opening by it never blocks and wakes no device.
const openPath = 0o10000000;
const permissionBits = 0o7777n;
const chunkBytes = 1_048_576;

/**
 * An open directory, from which everything below is reached one component at a time, so that no link is followed and a directory that
 * is swapped meanwhile is noticed. The caller closes it.
 *
 * Source: E-READ-6, facts/evidence.md cases 25 to 31.
 */
export class SafeDirectory {
	/** Where it was found, for messages only. */
	readonly path: string;
	readonly #descriptor: number;

	private constructor(path: string, descriptor: number) {
		this.path = path;
		this.#descriptor = descriptor;
	}

	/**
	 * Opens an absolute path by walking from `/`; no component may be a link.
	 *
	 * Refuses: CORE_FILE_UNTRUSTED (link, not absolute), CORE_FILE_NOT_REGULAR, CORE_FILE_UNREADABLE, each with `details.fault`.
	 */
	static open(path: string): SafeDirectory {
		if (!path.startsWith('/')) {
			throw new BailiffError('CORE_FILE_UNTRUSTED', `${JSON.stringify(path)} is not an absolute path`, {details: {path, fault: 'type'}});
		}

		let here = new SafeDirectory('/', openSync('/', constants.O_RDONLY | constants.O_DIRECTORY));
		for (const component of path.split('/').filter(part => part !== '')) {
			const next = closing(here, directory => directory.enter(component));
			here = next;
		}

		return here;
	}

	/** Opens the directory `name` directly below. Refuses as `open` does. */
	enter(name: string | Uint8Array): SafeDirectory {
		const path = this.#pathOf(name);
		const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
		return new SafeDirectory(path, opened(this.#reach(name), flags, path));
	}

	/** Opens the entry `name` directly below, whatever it is, without following a link or waiting for anything. The caller closes it. */
	file(name: string | Uint8Array): SafeFile {
		const path = this.#pathOf(name);
		const flags = openPath | constants.O_NOFOLLOW;
		return new SafeFile(path, opened(this.#reach(name), flags, path));
	}

	/**
	 * Reads a whole regular file: the digest is over the very bytes that are returned.
	 *
	 * Refuses: CORE_FILE_ codes with `details.fault`; nothing is read of a file that does not meet `expectation`.
	 */
	readFile(name: string, expectation: FileExpectation): FileContent {
		return closing(this.file(name), file => {
			const fault = file.faults(expectation)[0];
			if (fault !== undefined) {
				throw fileRefusal(fault, file.path);
			}

			return file.read(expectation.maxBytes);
		});
	}

	/**
	 * The names of at most `maxEntries` entries as bytes, `.` and `..` left out, in no order.
	 *
	 * Refuses: CORE_FILE_TOO_LARGE when there are more, CORE_FILE_UNREADABLE.
	 */
	entries(maxEntries: number): Buffer[] {
		let names: string[];
		try {
			names = listNames(`/proc/self/fd/${this.#descriptor}`, maxEntries + 1);
		} catch (error) {
			throw fileRefusal('unreadable', this.path, {cause: error});
		}

		if (names.length > maxEntries) {
			throw fileRefusal('too-large', this.path);
		}

		return names.map(name => Buffer.from(name, 'latin1'));
	}

	/** What keeps this directory from meeting `expectation`. */
	faults(expectation: EntryExpectation): FileFault[] {
		return entryFaults(this.status(), expectation);
	}

	/** fstat of the directory. */
	status(): FileStatus {
		return fstatSync(this.#descriptor, {bigint: true});
	}

	close(): void {
		closeSync(this.#descriptor);
	}

	#reach(name: string | Uint8Array): string | Buffer {
		const prefix = `/proc/self/fd/${this.#descriptor}/`;
		return typeof name === 'string' ? `${prefix}${name}` : Buffer.concat([Buffer.from(prefix), name]);
	}

	#pathOf(name: string | Uint8Array): string {
		const text = Buffer.from(name).toString('utf8');
		if (text === '' || text === '.' || text === '..' || /[/\0]/.test(text)) {
			throw new BailiffError('CORE_FILE_UNTRUSTED', `${JSON.stringify(text)} is not the name of one entry`, {details: {path: this.path, fault: 'type'}});
		}

		return this.path === '/' ? `/${text}` : `${this.path}/${text}`;
	}
}

/** One entry, held by its inode and not yet opened for reading. The caller closes it. */
export class SafeFile {
	/** Where it was found, for messages only. */
	readonly path: string;
	readonly #descriptor: number;
	readonly #status: FileStatus;

	constructor(path: string, descriptor: number) {
		this.path = path;
		this.#descriptor = descriptor;
		this.#status = fstatSync(descriptor, {bigint: true});
	}

	/** fstat as it was when the entry was opened. */
	get status(): FileStatus {
		return this.#status;
	}

	/** What keeps it from being a regular file with one name that meets `expectation`, most telling first. */
	faults(expectation: FileExpectation): FileFault[] {
		if (this.#status.isSymbolicLink()) {
			return ['link'];
		}

		if (!this.#status.isFile()) {
			return ['type'];
		}

		const faults = entryFaults(this.#status, expectation);
		if (this.#status.nlink !== 1n) {
			faults.push('nlink');
		}

		if (expectation.bytes !== undefined && this.#status.size !== BigInt(expectation.bytes)) {
			faults.push('size');
		}

		if (this.#status.size > BigInt(expectation.maxBytes)) {
			faults.push('too-large');
		}

		return faults;
	}

	/**
	 * All bytes and their digest, from one descriptor. Where `into` is large enough the bytes are a view of it, good until it is used again.
	 * Refuses: as `digest`.
	 */
	read(maxBytes: number, into?: Buffer): FileContent {
		const {bytes} = this.#checkedSize(maxBytes);
		const content = into !== undefined && into.length >= bytes ? into.subarray(0, bytes) : Buffer.allocUnsafe(bytes);
		const hash = createHash('sha256');
		let at = 0;
		this.#stream(content, hash, chunk => {
			at += chunk.length;
			return content.subarray(at);
		});
		return {bytes: content, sha256: hash.digest('hex')};
	}

	/**
	 * The digest and size of the file with flat memory (one chunk of 1 MiB).
	 *
	 * Refuses: CORE_FILE_NOT_REGULAR, CORE_FILE_TOO_LARGE above `maxBytes`, CORE_FILE_CHANGED when device, inode, size or a time moved while it was read,
	 * CORE_FILE_UNREADABLE.
	 */
	digest(maxBytes: number): {readonly sha256: string; readonly bytes: number} {
		return this.scan(maxBytes, () => {});
	}

	/**
	 * Hands every chunk (at most 1 MiB, good until the next one) to `use`; the digest is over the very bytes that were handed out.
	 *
	 * Refuses: as `digest`, and what `use` refuses.
	 */
	scan(maxBytes: number, use: (chunk: Buffer) => void): {readonly sha256: string; readonly bytes: number} {
		const {bytes} = this.#checkedSize(maxBytes);
		const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(bytes, chunkBytes)));
		const hash = createHash('sha256');
		this.#stream(buffer, hash, chunk => {
			use(chunk);
			return buffer;
		});
		return {sha256: hash.digest('hex'), bytes};
	}

	close(): void {
		closeSync(this.#descriptor);
	}

	#checkedSize(maxBytes: number): {readonly bytes: number} {
		const fault = this.faults({maxBytes}).find(found => found !== 'nlink');
		if (fault !== undefined) {
			throw fileRefusal(fault, this.path);
		}

		return {bytes: Number(this.#status.size)};
	}

	/** Reads exactly the size that fstat gave into what `next` offers, so that a file that grows is neither waited for nor followed. */
	#stream(first: Buffer, hash: Hash, next: (chunk: Buffer) => Buffer): void {
		// The magic link leads to the very inode that was looked at, whatever the name means by now.
		const descriptor = opened(`/proc/self/fd/${this.#descriptor}`, constants.O_RDONLY | constants.O_NONBLOCK, this.path);
		try {
			let left = Number(this.#status.size);
			for (let target = first; left > 0; ) {
				const count = readSync(descriptor, target, 0, Math.min(left, target.length), null);
				if (count === 0) {
					throw fileRefusal('changed', this.path);
				}

				const chunk = target.subarray(0, count);
				hash.update(chunk);
				left -= count;
				target = next(chunk);
			}

			if (!isSame(this.#status, fstatSync(descriptor, {bigint: true}))) {
				throw fileRefusal('changed', this.path);
			}
		} catch (error) {
			throw error instanceof BailiffError ? error : fileRefusal('unreadable', this.path, {cause: error});
		} finally {
			closeSync(descriptor);
		}
	}
}

/** Lends an open directory or file to `use` and closes it afterwards. */
export function closing<T extends {close(): void}, R>(resource: T, use: (resource: T) => R): R {
	try {
		return use(resource);
	} finally {
		resource.close();
	}
}

function entryFaults(status: FileStatus, expectation: EntryExpectation): FileFault[] {
	const faults: FileFault[] = [];
	if (expectation.uid !== undefined && status.uid !== BigInt(expectation.uid)) {
		faults.push('owner');
	}

	if (expectation.mode !== undefined && (status.mode & permissionBits) !== BigInt(expectation.mode)) {
		faults.push('mode');
	}

	return faults;
}

function isSame(before: FileStatus, after: FileStatus): boolean {
	return (
		before.dev === after.dev &&
		before.ino === after.ino &&
		before.size === after.size &&
		before.mtimeNs === after.mtimeNs &&
		before.ctimeNs === after.ctimeNs &&
		before.nlink === after.nlink
	);
}

function opened(reach: string | Buffer, flags: number, path: string): number {
	try {
		return openSync(reach, flags);
	} catch (error) {
		throw fileRefusal(faultOfErrno(errnoOf(error), reach), path, {cause: error});
	}
}

function faultOfErrno(errno: string | null, reach: string | Buffer): FileFault {
	if (errno === 'ENOTDIR') {
		return isLink(reach) ? 'link' : 'type';
	}

	if (errno === 'ELOOP') {
		return 'link';
	}

	return errno === 'ENOENT' ? 'missing' : 'unreadable';
}

/** Latin-1 maps every byte to one character and back: names need not be UTF-8. */
function listNames(path: string, maxEntries: number): string[] {
	const names: string[] = [];
	const listing = opendirSync(path, {encoding: 'latin1', bufferSize: 256});
	try {
		for (let entry = listing.readSync(); entry !== null && names.length < maxEntries; entry = listing.readSync()) {
			names.push(entry.name);
		}
	} finally {
		listing.closeSync();
	}

	return names;
}

/** With O_DIRECTORY the kernel says ENOTDIR for a link as well as for a file; the difference is only for the message. */
function isLink(reach: string | Buffer): boolean {
	try {
		const descriptor = openSync(reach, openPath | constants.O_NOFOLLOW);
		try {
			return fstatSync(descriptor).isSymbolicLink();
		} finally {
			closeSync(descriptor);
		}
	} catch {
		return false;
	}
}
