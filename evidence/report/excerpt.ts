/** Head and tail of one stored output. */
export type Excerpt = {
	readonly head: Buffer;
	/** Empty where the head is the whole file. */
	readonly tail: Buffer;
	readonly omittedBytes: number;
};

/** At most this many bytes of outputs, all together, go into one report: beyond about ten megabytes a page is no longer read but endured. */
const totalBytes = 4 * 1_048_576;
const leastHalfBytes = 2048;

/** How many bytes each end of an output may keep, when a report shows `outputs` of them and `maxHalfBytes` is what its format wants. */
export function halfBytesFor(outputs: number, maxHalfBytes: number): number {
	return Math.min(maxHalfBytes, Math.max(leastHalfBytes, Math.floor(totalBytes / (2 * Math.max(1, outputs)))));
}

/**
 * Both ends of an output, or the whole of it where both ends would cover it. No UTF-8 sequence is cut apart.
 *
 * Shape: each end has at most `halfBytes` bytes.
 */
export function excerptOf(bytes: Buffer, halfBytes: number): Excerpt {
	if (bytes.length <= 2 * halfBytes) {
		return {head: Buffer.from(bytes), tail: Buffer.alloc(0), omittedBytes: 0};
	}

	const headEnd = backToStart(bytes, halfBytes);
	let tailStart = bytes.length - halfBytes;
	while (tailStart < bytes.length && isContinuation(bytes[tailStart]) && tailStart - (bytes.length - halfBytes) < 3) {
		tailStart++;
	}

	return {head: Buffer.from(bytes.subarray(0, headEnd)), tail: Buffer.from(bytes.subarray(tailStart)), omittedBytes: tailStart - headEnd};
}

function backToStart(bytes: Buffer, at: number): number {
	let start = at;
	while (start > 0 && at - start < 3 && isContinuation(bytes[start])) {
		start--;
	}

	return isContinuation(bytes[start]) ? at : start;
}

function isContinuation(byte: number | undefined): boolean {
	return byte !== undefined && (byte & 0xc0) === 0x80;
}
