import {BailiffError, type ErrorCode, type JsonValue} from './errors.ts';

/** Limits and liberties of one strict parse. */
export type StrictJsonOptions = {
	readonly maxBytes: number;
	readonly maxDepth: number;
	/** Keys whose number may be any finite double (shapes.ts: Decimal). Every other number is a safe integer written as digits. */
	readonly decimalKeys?: readonly string[];
	/** Archives: every number may be any finite double. */
	readonly anyNumber?: boolean;
	/** Objects and arrays of the whole document, so that a document of `{}` cannot fill the memory of its reader. */
	readonly maxContainers?: number;
	/** Keys of one object. */
	readonly maxKeys?: number;
};

/**
 * Parses one JSON value from bytes and refuses everything that two readers could understand differently.
 *
 * Shape: objects have no prototype; at most `maxBytes` bytes and `maxDepth` nested containers.
 * Refuses: each fault with its own CORE_JSON_ code and the JSON Pointer and byte-independent offset (UTF-16 unit) in `details`.
 * Source: RFC 8259, E-V3-1, R-PLAN-1.
 */
export function parseStrictJson(bytes: Uint8Array, options: StrictJsonOptions): JsonValue {
	if (bytes.length > options.maxBytes) {
		throw new BailiffError('CORE_JSON_TOO_LARGE', `the document has ${bytes.length} bytes, the limit is ${options.maxBytes}`, {
			details: {bytes: bytes.length, limit: options.maxBytes},
		});
	}

	if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
		throw new BailiffError('CORE_JSON_BOM', 'the document starts with a byte order mark, remove its first three bytes');
	}

	let text: string;
	try {
		text = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(bytes);
	} catch (error) {
		throw new BailiffError('CORE_JSON_UTF8', 'the document is not valid UTF-8', {cause: error});
	}

	return new Parser(text, options).document();
}

/** Escapes one reference token of a JSON Pointer (RFC 6901). */
export function pointerToken(token: string | number): string {
	return String(token).replaceAll('~', '~0').replaceAll('/', '~1');
}

const whitespace = /[\t\n\r ]*/y;
const plainString = /[^"\\\u0000-\u001f]*/y;
const numberForm = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const integerForm = /^(?:0|-?[1-9]\d*)$/;
const nonZeroDigit = /^-?[\d.]*[1-9]/;
const escapes: Readonly<Record<string, string>> = {'"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t'};

class Parser {
	#at = 0;
	#containers = 0;
	readonly #path: Array<string | number> = [];
	readonly #text: string;
	readonly #options: StrictJsonOptions;

	constructor(text: string, options: StrictJsonOptions) {
		this.#text = text;
		this.#options = options;
	}

	document(): JsonValue {
		this.#take(whitespace);
		if (this.#at === this.#text.length) {
			throw this.#fault('CORE_JSON_EMPTY', 'the document holds no JSON value');
		}

		const value = this.#value(0);
		this.#take(whitespace);
		if (this.#at < this.#text.length) {
			throw this.#fault('CORE_JSON_TRAILING_BYTES', 'something follows the JSON value');
		}

		return value;
	}

	#value(depth: number): JsonValue {
		switch (this.#text[this.#at] ?? '') {
			case '{':
				return this.#object(depth + 1);
			case '[':
				return this.#array(depth + 1);
			case '"':
				return this.#string();
			case 't':
				return this.#word('true', true);
			case 'f':
				return this.#word('false', false);
			case 'n':
				return this.#word('null', null);
			default:
				return this.#number();
		}
	}

	#object(depth: number): JsonValue {
		this.#enter(depth);
		// oxlint-disable-next-line typescript/no-unsafe-assignment -- the library types Object.create as any
		const object: Record<string, JsonValue> = Object.create(null);
		if (this.#skipTo('}')) {
			return object;
		}

		for (let count = 1; ; count++) {
			this.#checkCount('keys in one object', count, this.#options.maxKeys);
			this.#take(whitespace);
			if (this.#text[this.#at] !== '"') {
				throw this.#fault('CORE_JSON_SYNTAX', 'a key in double quotes was expected');
			}

			const key = this.#string();
			this.#path.push(key);
			this.#checkKey(object, key);
			this.#take(whitespace);
			this.#expect(':');
			this.#take(whitespace);
			object[key] = this.#value(depth);
			this.#path.pop();
			if (this.#closes('}')) {
				return object;
			}
		}
	}

	#array(depth: number): JsonValue {
		this.#enter(depth);
		const array: JsonValue[] = [];
		if (this.#skipTo(']')) {
			return array;
		}

		for (;;) {
			this.#take(whitespace);
			this.#path.push(array.length);
			array.push(this.#value(depth));
			this.#path.pop();
			if (this.#closes(']')) {
				return array;
			}
		}
	}

	#enter(depth: number): void {
		if (depth > this.#options.maxDepth) {
			throw this.#fault('CORE_JSON_DEPTH', `containers are nested deeper than ${this.#options.maxDepth}`);
		}

		this.#checkCount('objects and arrays', ++this.#containers, this.#options.maxContainers);
		this.#at++;
		this.#take(whitespace);
	}

	#checkCount(what: string, count: number, limit: number | undefined): void {
		if (limit !== undefined && count > limit) {
			throw this.#fault('CORE_JSON_TOO_LARGE', `there are more than ${limit} ${what}`);
		}
	}

	#skipTo(end: string): boolean {
		if (this.#text[this.#at] !== end) {
			return false;
		}

		this.#at++;
		return true;
	}

	#closes(end: string): boolean {
		this.#take(whitespace);
		if (this.#skipTo(end)) {
			return true;
		}

		this.#expect(',');
		return false;
	}

	#checkKey(object: Readonly<Record<string, JsonValue>>, key: string): void {
		if (key === '__proto__') {
			throw this.#fault('CORE_JSON_PROTO_KEY', 'the key __proto__ is refused');
		}

		if (Object.hasOwn(object, key)) {
			throw this.#fault('CORE_JSON_DUPLICATE_KEY', 'a key stands twice in one object');
		}
	}

	#string(): string {
		this.#at++;
		let value = '';
		for (;;) {
			value += this.#take(plainString);
			const next = this.#text[this.#at];
			if (next === '"') {
				this.#at++;
				break;
			}

			if (next === undefined) {
				throw this.#fault('CORE_JSON_SYNTAX', 'a string does not end');
			}

			if (next !== '\\') {
				throw this.#fault('CORE_JSON_CONTROL_CHARACTER', 'a string holds a control character that is not escaped');
			}

			value += this.#escape();
		}

		if (!value.isWellFormed()) {
			throw this.#fault('CORE_JSON_LONE_SURROGATE', 'a string holds half of a surrogate pair');
		}

		return value;
	}

	#escape(): string {
		const letter = this.#text[this.#at + 1] ?? '';
		if (letter === 'u') {
			const digits = this.#text.slice(this.#at + 2, this.#at + 6);
			if (!/^[\da-fA-F]{4}$/.test(digits)) {
				throw this.#fault('CORE_JSON_SYNTAX', 'a \\u escape needs four hexadecimal digits');
			}

			this.#at += 6;
			return String.fromCharCode(Number.parseInt(digits, 16));
		}

		const value = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
		if (value === undefined) {
			throw this.#fault('CORE_JSON_SYNTAX', 'a string holds an unknown escape');
		}

		this.#at += 2;
		return value;
	}

	#word(word: string, value: JsonValue): JsonValue {
		if (!this.#text.startsWith(word, this.#at)) {
			throw this.#fault('CORE_JSON_SYNTAX', 'a JSON value was expected');
		}

		this.#at += word.length;
		return value;
	}

	#number(): number {
		const start = this.#at;
		const form = this.#take(numberForm);
		if (form === '') {
			throw this.#fault('CORE_JSON_SYNTAX', 'a JSON value was expected');
		}

		const value = Number(form);
		const key = this.#path.at(-1);
		const isDecimal = this.#options.anyNumber === true || (typeof key === 'string' && this.#options.decimalKeys?.includes(key) === true);
		if (!isDecimal && !integerForm.test(form)) {
			this.#at = start;
			throw this.#fault('CORE_JSON_NUMBER_FORM', 'a whole number must be written as digits only (no fraction, no exponent, no -0)');
		}

		if (!Number.isFinite(value) || (value === 0 && nonZeroDigit.test(form)) || (!isDecimal && !Number.isSafeInteger(value))) {
			this.#at = start;
			throw this.#fault('CORE_JSON_NUMBER_RANGE', 'a number is outside the range that every reader keeps exactly');
		}

		return value;
	}

	#take(pattern: RegExp): string {
		pattern.lastIndex = this.#at;
		const found = pattern.exec(this.#text)?.[0] ?? '';
		this.#at += found.length;
		return found;
	}

	#expect(character: string): void {
		if (this.#text[this.#at] !== character) {
			throw this.#fault('CORE_JSON_SYNTAX', `${JSON.stringify(character)} was expected`);
		}

		this.#at++;
	}

	#fault(code: ErrorCode, message: string): BailiffError {
		const pointer = this.#path.map(token => `/${pointerToken(token)}`).join('');
		const line = this.#text.slice(0, this.#at).split('\n').length;
		return new BailiffError(code, `${message} (line ${line}, at ${pointer === '' ? 'the top' : pointer})`, {
			details: {pointer, line, offset: this.#at},
		});
	}
}
