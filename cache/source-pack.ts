import {inflateSync} from 'node:zlib';
import {BailiffError} from '../core/errors.ts';

/** Bounds of the pack of an export, as it lies in the bundle and unpacked: a few bytes can stand for gigabytes. */
export const sourcePackLimits = {maxBytes: 256 * 1_048_576, maxObjectBytes: 256 * 1_048_576, maxUnpackedBytes: 512 * 1_048_576} as const;

/** Bounds of what a pack unpacks to. */
export type UnpackLimits = {readonly maxObjectBytes: number; readonly maxUnpackedBytes: number};

const headerBytes = 12;
const trailerBytes = 20;
/** Commit, tree, blob and tag; deltas, which an export does not hold, have other numbers. */
const lastWholeType = 4;

/**
 * Walks a git pack (version 2, whole objects only, as an export writes it) and unpacks no more than the limits, so that git gets none that grows without bound.
 *
 * Only the bounds are proven; objects and trailer are for git to check.
 * Refuses: CACHE_OBJECT_INVALID for deltas, for more than the limits, and where an object does not have the size that it states. Source: E-EXP-2, E-READ-6.
 */
export function checkSourcePack(pack: Buffer, limits: UnpackLimits = sourcePackLimits): void {
	if (pack.length < headerBytes + trailerBytes || pack.toString('latin1', 0, 4) !== 'PACK' || pack.readUInt32BE(4) !== 2) {
		throw invalid('it is no git pack of version 2');
	}

	const end = pack.length - trailerBytes;
	let unpacked = 0;
	let at = headerBytes;
	for (let left = pack.readUInt32BE(8); left > 0; left--) {
		const {type, bytes, next} = objectHeader(pack, at, end);
		unpacked += bytes;
		if (type === 0 || type > lastWholeType) {
			throw invalid('it holds deltas or objects of an unknown kind');
		}

		if (bytes > limits.maxObjectBytes || unpacked > limits.maxUnpackedBytes) {
			throw invalid(`it unpacks to more than ${limits.maxObjectBytes} bytes an object or ${limits.maxUnpackedBytes} bytes in all`);
		}

		at = next + packedBytes(pack.subarray(next, end), bytes);
	}

	if (at !== end) {
		throw invalid('something stands behind its last object');
	}
}

/** Three bits of type and four of size, then seven of size a byte, lowest first. Source: gitformat-pack(5). */
function objectHeader(pack: Buffer, at: number, end: number): {readonly type: number; readonly bytes: number; readonly next: number} {
	const first = pack[at] ?? 0;
	let bytes = first & 0x0f;
	let factor = 16;
	let next = at + 1;
	for (let byte = first; byte >= 0x80; next++) {
		byte = pack[next] ?? 0;
		bytes += (byte & 0x7f) * factor;
		factor *= 128;
	}

	if (next >= end) {
		throw invalid('it ends too early');
	}

	return {type: (first >> 4) & 7, bytes, next};
}

/** How many bytes the compressed form of an object of `bytes` bytes takes. */
function packedBytes(compressed: Buffer, bytes: number): number {
	try {
		// Room for one byte more than stated shows an object that is larger.
		const unpacked: unknown = inflateSync(compressed, {info: true, maxOutputLength: bytes + 1});
		if (isUnpacked(unpacked) && unpacked.buffer.length === bytes) {
			return unpacked.engine.bytesWritten;
		}
	} catch (error) {
		throw invalid('an object is broken or larger than it states', error);
	}

	throw invalid('an object is smaller than it states');
}

/** What zlib gives with `info`; its types leave it out. */
function isUnpacked(value: unknown): value is {readonly buffer: Buffer; readonly engine: {readonly bytesWritten: number}} {
	return typeof value === 'object' && value !== null && 'buffer' in value && Buffer.isBuffer(value.buffer) && 'engine' in value;
}

function invalid(what: string, cause?: unknown): BailiffError {
	return new BailiffError('CACHE_OBJECT_INVALID', `the pack with the source cannot be taken: ${what}`, cause === undefined ? {} : {cause});
}
