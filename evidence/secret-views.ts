/** A way to read a byte string: one character per byte that is read, and which bytes each of them was read from. */
export type View = {
	readonly text: string;
	/** First byte, and the byte behind the last one, of each character; null: character i is byte i. */
	readonly places: {readonly starts: Int32Array; readonly ends: Int32Array} | null;
};

/** A stretch of bytes; `isExact` is false when what was read there does not stand there in this order. */
export type ByteRange = {readonly start: number; readonly end: number; readonly isExact: boolean};

/** The bytes that the characters from `start` up to `end` of a view were read from. Shape: start < end. */
export function byteRange(view: View, start: number, end: number): ByteRange {
	if (view.places === null) {
		return {start, end, isExact: true};
	}

	const {starts, ends} = view.places;
	let low = Number.POSITIVE_INFINITY;
	let high = -1;
	let last = -1;
	let isExact = true;
	for (let index = start; index < end; index++) {
		const at = starts[index] ?? 0;
		isExact &&= at >= last;
		last = at;
		low = Math.min(low, at);
		high = Math.max(high, ends[index] ?? 0);
	}

	return {start: low, end: high, isExact};
}

/** Collects the characters of a view that is made from another one. */
export class ViewBuilder {
	readonly #source: View;
	readonly #codes: Buffer;
	readonly #starts: Int32Array;
	readonly #ends: Int32Array;
	#length = 0;

	/** Shape: at most `source.text.length` characters are pushed. */
	constructor(source: View) {
		const capacity = source.text.length;
		this.#source = source;
		this.#codes = Buffer.allocUnsafe(capacity);
		this.#starts = new Int32Array(capacity);
		this.#ends = new Int32Array(capacity);
	}

	/** Adds a character that was read from `width` characters of the source from `index` on. */
	push(code: number, index: number, width = 1): void {
		const places = this.#source.places;
		this.#codes[this.#length] = code;
		this.#starts[this.#length] = places === null ? index : (places.starts[index] ?? 0);
		this.#ends[this.#length] = places === null ? index + width : (places.ends[index + width - 1] ?? 0);
		this.#length++;
	}

	/** Adds the characters of the source from index `from` up to `to` as they are. */
	copy(from: number, to: number): void {
		const {text, places} = this.#source;
		const at = this.#length;
		this.#codes.write(text.slice(from, to), at, 'latin1');
		if (places === null) {
			for (let index = from; index < to; index++) {
				this.#starts[at + index - from] = index;
				this.#ends[at + index - from] = index + 1;
			}
		} else {
			this.#starts.set(places.starts.subarray(from, to), at);
			this.#ends.set(places.ends.subarray(from, to), at);
		}

		this.#length += to - from;
	}

	build(): View {
		return {
			text: this.#codes.toString('latin1', 0, this.#length),
			places: {starts: this.#starts.subarray(0, this.#length), ends: this.#ends.subarray(0, this.#length)},
		};
	}
}

/** The bytes as they are. */
export function rawView(bytes: Buffer): View {
	return {text: bytes.toString('latin1'), places: null};
}
