import {BailiffError} from '../core/errors.ts';
import {FormIndex} from './form-index.ts';
import {derivedView, type View, type ViewBuilder} from './secret-views.ts';

/** Shorter values would hit by chance and blacken whole outputs. Source: E-V3-7 (at least 8 bytes). */
export const leastValueBytes = 8;

/** One spelling of a known value, one character per byte. */
type Form = {
	readonly text: string;
	/** Base64: the character before, or the one behind, holds bits of the value, too. */
	readonly sharesFirst: boolean;
	readonly sharesLast: boolean;
};

/** Each look for one form costs about 0.1 ms a MiB; from here on one pass for all of them costs less. */
const mostSearchedOneByOne = 128;

/** Known values, made ready for searching. Holds the secrets: never logged, never serialised. */
export class KnownValues {
	readonly #forms: readonly Form[];
	readonly #index: FormIndex<Form> | null;

	/** Makes the forms of `values`. Refuses: RUN_SENSITIVE_FILE for a value below 8 bytes. */
	constructor(values: readonly (string | Uint8Array)[]) {
		const texts = new Map<string, Form>();
		for (const value of values.map(toBuffer)) {
			if (value.length < leastValueBytes) {
				throw new BailiffError(
					'RUN_SENSITIVE_FILE',
					`a sensitive value has ${value.length} bytes, at least ${leastValueBytes} are needed: shorter ones would hit by chance`,
				);
			}

			for (const form of linesOf(value).flatMap(formsOf)) {
				texts.set(form.text, form);
			}
		}

		this.#forms = [...texts.values()];
		this.#index = this.#forms.length > mostSearchedOneByOne ? new FormIndex(this.#forms) : null;
	}

	/** True when nothing is known, so that there is nothing to search for. */
	get isEmpty(): boolean {
		return this.#forms.length === 0;
	}

	/** Calls `found` for each stretch of `text` that holds a form; stretches of different forms can overlap. */
	search(text: string, found: (start: number, end: number) => void): void {
		this.#occurrences(text, (form, at) => {
			const end = at + form.text.length;
			found(form.sharesFirst && isBase64At(text, at - 1) ? at - 1 : at, form.sharesLast && isBase64At(text, end) ? end + 1 : end);
		});
		for (const form of this.#forms) {
			const cut = cutTail(text, form.text);
			if (cut > 0) {
				found(text.length - cut, text.length);
			}
		}
	}

	#occurrences(text: string, found: (form: Form, at: number) => void): void {
		if (this.#index !== null) {
			this.#index.search(text, found);
			return;
		}

		for (const form of this.#forms) {
			for (let at = text.indexOf(form.text); at !== -1; at = text.indexOf(form.text, at + form.text.length)) {
				found(form, at);
			}
		}
	}

	/** Keeps secrets out of any dump. */
	toJSON(): string {
		return '[known values]';
	}
}

/** Nothing is known: what a reader has. */
export const noKnownValues: KnownValues = new KnownValues([]);

/**
 * The same text without what encoders put between: folded lines and blanks, percent escapes, backslash escapes. Only views that differ.
 *
 * Source: E-V3-7 (base64 folded at any width, percent, JSON-escaped).
 */
export function decodedViews(view: View): View[] {
	const views: View[] = [];
	if (/[ \t\r\n]/.test(view.text)) {
		views.push(transformed(view, /[ \t\r\n]+/g, () => ''));
	}

	if (/%[0-9A-Fa-f]{2}/.test(view.text)) {
		views.push(transformed(view, /%[0-9A-Fa-f]{2}/g, escape => String.fromCharCode(Number.parseInt(escape.slice(1), 16))));
	}

	if (view.text.includes('\\')) {
		views.push(
			...unescapedViews(view),
			transformed(view, /(?:\\{1,8}u[0-9A-Fa-f]{4}){1,64}|\\{1,8}x[0-9A-Fa-f]{2}|\\{1,8}[^\\]/g, escape => unescaped(escape.replaceAll(/\\+/g, '\\'))),
		);
	}

	return views;
}

/** JSON within JSON within JSON is read level by level; the view of collapsed backslashes reads deeper ones, for values that hold none themselves. */
function unescapedViews(view: View): View[] {
	const views: View[] = [];
	for (let level = view; level.text.includes('\\') && views.length < 3; ) {
		level = transformed(level, /(?:\\u[0-9A-Fa-f]{4}){1,64}|\\x[0-9A-Fa-f]{2}|\\[^]/g, unescaped);
		views.push(level);
	}

	return views;
}

function toBuffer(value: string | Uint8Array): Buffer {
	return typeof value === 'string' ? Buffer.from(value, 'utf8') : Buffer.from(value);
}

/** The whole value, each long line of it without blanks around it, and all of it without any blank (what a fold would leave). */
function linesOf(value: Buffer): Buffer[] {
	const text = value.toString('latin1');
	const parts = new Set([text, ...text.split(/\r?\n/).map(line => line.trim()), text.replace(/\s+/g, '')]);
	return [...parts].map(part => Buffer.from(part, 'latin1')).filter(part => part.length >= leastValueBytes);
}

function formsOf(value: Buffer): Form[] {
	const hex = value.toString('hex');
	const text = value.toString('utf8');
	const wide = Buffer.from(text, 'utf16le');
	const plain = [value, wide, Buffer.from(wide).swap16()].map(bytes => bytes.toString('latin1'));
	return [
		...[...plain, hex, hex.toUpperCase()].map(form => ({text: form, sharesFirst: false, sharesLast: false})),
		...[0, 1, 2].flatMap(alignment => base64Forms(value, alignment)),
	];
}

/** The characters of the base64 form that depend on the value alone, for a value that starts `alignment` bytes into a group of three. */
function base64Forms(value: Buffer, alignment: number): Form[] {
	const bits = (alignment + value.length) * 8;
	const encoded = Buffer.concat([Buffer.alloc(alignment), value]).toString('base64');
	const standard = encoded.slice(Math.ceil((alignment * 8) / 6), Math.floor(bits / 6));
	const shares = {sharesFirst: alignment > 0, sharesLast: bits % 6 > 0};
	return [
		{text: standard, ...shares},
		{text: standard.replaceAll('+', '-').replaceAll('/', '_'), ...shares},
	];
}

function isBase64At(text: string, index: number): boolean {
	return /^[A-Za-z0-9+/_-]$/.test(text.charAt(index));
}

/** How much of `form`, at least 8 characters, the text ends with: a bound can cut a value in two. */
function cutTail(text: string, form: string): number {
	const last = text.charCodeAt(text.length - 1);
	for (let length = Math.min(form.length - 1, text.length); length >= leastValueBytes; length--) {
		if (form.charCodeAt(length - 1) === last && text.endsWith(form.slice(0, length))) {
			return length;
		}
	}

	return 0;
}

/** A view in which each match of `pattern` stands as the bytes (one character each) that `decode` makes of it, at most as many as it has characters. */
function transformed(view: View, pattern: RegExp, decode: (match: string) => string): View {
	const fill = (builder: ViewBuilder): void => {
		let reached = 0;
		for (const {0: match, index} of view.text.matchAll(pattern)) {
			builder.copy(reached, index);
			for (const character of decode(match)) {
				builder.push(character.charCodeAt(0), index, match.length);
			}

			reached = index + match.length;
		}

		builder.copy(reached, view.text.length);
	};

	return derivedView(view, fill, view.text.replaceAll(pattern, decode));
}

const shortEscapes: Readonly<Record<string, string>> = {n: '\n', r: '\r', t: '\t', b: '\b', f: '\f'};

/** What an escape of JSON or of a shell stands for: a run of \uXXXX as UTF-8, any other character for itself. */
function unescaped(escape: string): string {
	if (/^\\u[0-9A-Fa-f]{4}/.test(escape)) {
		const units = escape
			.slice(2)
			.split('\\u')
			.map(digits => Number.parseInt(digits, 16));
		return Buffer.from(String.fromCharCode(...units), 'utf8').toString('latin1');
	}

	if (/^\\x[0-9A-Fa-f]{2}/.test(escape)) {
		return String.fromCharCode(Number.parseInt(escape.slice(2), 16));
	}

	const letter = escape.slice(1);
	return Object.hasOwn(shortEscapes, letter) ? (shortEscapes[letter] ?? '') : letter;
}
