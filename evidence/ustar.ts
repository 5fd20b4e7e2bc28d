import {BailiffError} from '../core/errors.ts';

const blockBytes = 512;
const zeroBlock = Buffer.alloc(blockBytes);

/** One plain file of a tar. */
export type UstarFile = {
	/** At most 100 bytes of printable ASCII. */
	readonly path: string;
	readonly bytes: number;
	/** Permission bits. */
	readonly mode: number;
	/** Seconds since the epoch. */
	readonly mtime: number;
};

/** The header block of a plain file: owner 0, no names, no extensions. Source: POSIX.1-1988 ustar, E-EXP-1. */
export function ustarHeader({path, bytes, mode, mtime}: UstarFile): Buffer {
	if (!/^[\x21-\x7e]{1,100}$/.test(path)) {
		throw new BailiffError('EVIDENCE_BUNDLE_INVALID', `${JSON.stringify(path)} does not fit into a plain tar`, {details: {path}});
	}

	const header = Buffer.alloc(blockBytes);
	header.write(path, 0, 'latin1');
	header.write(`${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0${octal(bytes, 11)}\0${octal(mtime, 11)}\0        0`, 100, 'latin1');
	header.write('ustar\u000000', 257, 'latin1');
	const sum = header.reduce((total, byte) => total + byte, 0);
	header.write(`${octal(sum, 6)}\0 `, 148, 'latin1');
	return header;
}

/** The zeros after `bytes` of content. */
export function ustarPadding(bytes: number): Buffer {
	return Buffer.alloc((blockBytes - (bytes % blockBytes)) % blockBytes);
}

/** What stands after the last file. */
export const ustarEnd = Buffer.alloc(2 * blockBytes);

/** Bounds of a tar that is read. */
export type UstarLimits = {readonly maxEntries: number; readonly maxEntryBytes: number};

/**
 * Reads a tar chunk by chunk and hands over each plain file, whole, in the strictly ascending order of their names.
 *
 * Whatever `ustarHeader` would not have written exactly so is refused: links, directories, extensions, other owners, twins, another order, bytes
 * after the end. Refuses: EVIDENCE_BUNDLE_INVALID. Source: E-EXP-1, facts/evidence.md case 61.
 */
export class UstarReader {
	readonly #limits: UstarLimits;
	readonly #visit: (file: UstarFile, content: Buffer) => void;
	readonly #header = Buffer.alloc(blockBytes);
	#filled = 0;
	#current: {readonly file: UstarFile; readonly content: Buffer} | null = null;
	#last = '';
	#entries = 0;
	#zeroBlocks = 0;

	constructor(limits: UstarLimits, visit: (file: UstarFile, content: Buffer) => void) {
		this.#limits = limits;
		this.#visit = visit;
	}

	/** Takes the next bytes; they are copied. */
	push(chunk: Buffer): void {
		for (let at = 0; at < chunk.length; ) {
			at += this.#current === null ? this.#takeHeader(chunk, at) : this.#takeContent(chunk, at, this.#current);
		}
	}

	/** Says that there are no more bytes. */
	end(): void {
		if (this.#zeroBlocks !== 2 || this.#filled !== 0 || this.#current !== null) {
			throw invalid('it ends too early');
		}
	}

	#takeHeader(chunk: Buffer, at: number): number {
		if (this.#zeroBlocks === 2) {
			throw invalid('something follows its end');
		}

		const count = chunk.copy(this.#header, this.#filled, at, at + blockBytes - this.#filled);
		this.#filled += count;
		if (this.#filled < blockBytes) {
			return count;
		}

		this.#filled = 0;
		if (this.#header.equals(zeroBlock)) {
			this.#zeroBlocks++;
		} else {
			this.#begin(this.#header);
		}

		return count;
	}

	#begin(header: Buffer): void {
		const file: UstarFile = {
			path: header.toString('latin1', 0, 100).replace(/\0+$/, ''),
			mode: octalAt(header, 100, 7),
			bytes: octalAt(header, 124, 11),
			mtime: octalAt(header, 136, 11),
		};
		if (this.#zeroBlocks > 0 || !ustarHeader(file).equals(header)) {
			throw invalid(`its entry ${this.#entries + 1} is no plain file of a plain tar`);
		}

		if (file.path <= this.#last) {
			throw invalid(`${JSON.stringify(file.path)} stands twice or out of order`);
		}

		this.#last = file.path;
		this.#entries++;
		if (this.#entries > this.#limits.maxEntries || file.bytes > this.#limits.maxEntryBytes) {
			throw invalid(
				`${JSON.stringify(file.path)} is more than the ${this.#limits.maxEntries} entries of at most ${this.#limits.maxEntryBytes} bytes that are read`,
			);
		}

		if (file.bytes === 0) {
			this.#visit(file, Buffer.alloc(0));
		} else {
			this.#current = {file, content: Buffer.allocUnsafe(file.bytes)};
		}
	}

	#takeContent(chunk: Buffer, at: number, {file, content}: {readonly file: UstarFile; readonly content: Buffer}): number {
		if (this.#filled < file.bytes) {
			const count = chunk.copy(content, this.#filled, at, at + file.bytes - this.#filled);
			this.#filled += count;
			this.#endAt(file.bytes, {file, content});
			return count;
		}

		const whole = file.bytes + ustarPadding(file.bytes).length;
		const padding = chunk.subarray(at, at + whole - this.#filled);
		if (padding.some(byte => byte !== 0)) {
			throw invalid(`something hides after the content of ${JSON.stringify(file.path)}`);
		}

		this.#filled += padding.length;
		this.#endAt(whole, {file, content});
		return padding.length;
	}

	#endAt(bytes: number, {file, content}: {readonly file: UstarFile; readonly content: Buffer}): void {
		if (this.#filled === file.bytes + ustarPadding(file.bytes).length && this.#filled === bytes) {
			this.#filled = 0;
			this.#current = null;
			this.#visit(file, content);
		}
	}
}

function octal(value: number, digits: number): string {
	return value.toString(8).padStart(digits, '0');
}

function octalAt(header: Buffer, at: number, digits: number): number {
	const text = header.toString('latin1', at, at + digits);
	return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : 0;
}

function invalid(what: string): BailiffError {
	return new BailiffError('EVIDENCE_BUNDLE_INVALID', `the bundle is no plain, sorted tar: ${what}`);
}
