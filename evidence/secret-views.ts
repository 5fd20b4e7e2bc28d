/** Which bytes each character of a view was read from: the first one, and the one behind the last. */
export type Places = {readonly starts: Int32Array; readonly ends: Int32Array};

/** A way to read a byte string, one character per byte that is read. */
export type View = {
	readonly text: string;
	/** Null: character i is byte i. Worked out at the first call, since almost no view ever holds a hit. */
	readonly places: () => Places | null;
};

/** A stretch of bytes; `isExact` is false when what was read there does not stand there in this order. */
export type ByteRange = {readonly start: number; readonly end: number; readonly isExact: boolean};

/** The bytes that the characters from `start` up to `end` of a view were read from. Shape: start < end. */
export function byteRange(view: View, start: number, end: number): ByteRange {
	const places = view.places();
	if (places === null) {
		return {start, end, isExact: true};
	}

	const {starts, ends} = places;
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

/**
 * The view that `fill` makes of another one. It is called for the characters (unless they are given) and once more if anybody asks for their places.
 *
 * Shape: `fill` adds at most as many characters as the source has.
 */
export function derivedView(source: View, fill: (builder: ViewBuilder) => void, text: string = filledText(source, fill)): View {
	let places: Places | null = null;
	return {
		text,
		places: () => {
			if (places === null) {
				const builder = new PlaceBuilder(source);
				fill(builder);
				places = builder.places();
			}

			return places;
		},
	};
}

function filledText(source: View, fill: (builder: ViewBuilder) => void): string {
	const builder = new TextBuilder(source.text);
	fill(builder);
	return builder.text();
}

/** What a view is filled through. */
export type ViewBuilder = {
	/** Adds a character that was read from `width` characters of the source from `index` on. */
	readonly push: (code: number, index: number, width?: number) => void;
	/** Adds the characters of the source from index `from` up to `to` as they are. */
	readonly copy: (from: number, to: number) => void;
};

class TextBuilder implements ViewBuilder {
	readonly #source: string;
	readonly #codes: Buffer;
	#length = 0;

	constructor(source: string) {
		this.#source = source;
		this.#codes = Buffer.allocUnsafe(source.length);
	}

	push(code: number): void {
		this.#codes[this.#length] = code;
		this.#length++;
	}

	copy(from: number, to: number): void {
		this.#length += this.#codes.write(this.#source.slice(from, to), this.#length, 'latin1');
	}

	text(): string {
		return this.#codes.toString('latin1', 0, this.#length);
	}
}

class PlaceBuilder implements ViewBuilder {
	readonly #source: Places | null;
	readonly #starts: Int32Array;
	readonly #ends: Int32Array;
	#length = 0;

	constructor(source: View) {
		this.#source = source.places();
		this.#starts = new Int32Array(source.text.length);
		this.#ends = new Int32Array(source.text.length);
	}

	push(_code: number, index: number, width = 1): void {
		this.#starts[this.#length] = this.#source === null ? index : (this.#source.starts[index] ?? 0);
		this.#ends[this.#length] = this.#source === null ? index + width : (this.#source.ends[index + width - 1] ?? 0);
		this.#length++;
	}

	copy(from: number, to: number): void {
		for (let index = from; index < to; index++) {
			this.push(0, index);
		}
	}

	places(): Places {
		return {starts: this.#starts.subarray(0, this.#length), ends: this.#ends.subarray(0, this.#length)};
	}
}

/** The bytes as they are. */
export function rawView(bytes: Buffer): View {
	return {text: bytes.toString('latin1'), places: () => null};
}
