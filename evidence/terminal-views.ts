import {derivedView, type View, type ViewBuilder} from './secret-views.ts';

/** Anything by which a terminal shows something else than the bytes: C0 controls, a CR that is no line end, C1 introducers and invisible characters in UTF-8. */
const special =
	/[\0-\u0008\u000b\u000c\u000e-\u001f\u007f]|\r(?!\n)|\u00c2[\u0080-\u009f\u00ad]|\u00cd\u008f|\u00d8\u009c|\u00e1\u00a0[\u008b-\u008e]|\u00e2\u0080[\u008b-\u008f\u00aa-\u00ae]|\u00e2\u0081[\u00a0-\u00af]|\u00ef\u00b8[\u0080-\u008f]|\u00ef\u00bb\u00bf|\u00f3\u00a0/;
const invisible =
	/\u00c2\u00ad|\u00cd\u008f|\u00d8\u009c|\u00e1\u00a0[\u008b-\u008e]|\u00e2\u0080[\u008b-\u008f\u00aa-\u00ae]|\u00e2\u0081[\u00a0-\u00af]|\u00ef\u00b8[\u0080-\u008f]|\u00ef\u00bb\u00bf|\u00f3\u00a0[\u0080-\u0087][\u0080-\u00bf]/y;
const controlSequence = /(?:\u001b\[|\u00c2\u009b)([0-?]{0,64})[ -/]{0,8}([@-~])/y;
/** Title, hyperlink and the like up to their end; without an end only the introducer counts, so that nothing behind it is lost. */
const stringSequence = /(?:\u001b[\]PX^_]|\u00c2[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u00c2]{0,4096}(?:\u0007|\u001b\\|\u00c2\u009c)/y;
const stringIntroducer = /\u001b[\]PX^_]|\u00c2[\u009d\u0090\u0098\u009e\u009f]/y;
const otherEscape = /\u001b[ -/]{0,4}[0-~]|\u00c2[\u0080-\u009f]/y;
/**
 * Other ways to read the bytes where a terminal or an editor would show something else: without NUL (UTF-16 of either order, UTF-32), without
 * control sequences and invisible characters, with the text of titles and links kept, and as CR, backspace and cursor movements leave a line.
 *
 * Shape: nothing for bytes without any of these. Source: E-V3-7.
 */
export function terminalViews(raw: View): View[] {
	if (!special.test(raw.text)) {
		return [];
	}

	const views: View[] = [];
	let base = raw;
	if (raw.text.includes('\0')) {
		base = withoutNul(raw);
		views.push(base);
	}

	views.push(stripped(base, true));
	if (/\u001b[\]PX^_]|\u00c2[\u009d\u0090\u0098\u009e\u009f]/.test(base.text)) {
		views.push(stripped(base, false));
	}

	if (/\r(?!\n)|\u0008|\u001b\[[0-9;]*[CDGK]/.test(base.text)) {
		views.push(onScreen(base));
	}

	return views;
}

/** Also without the zero-width characters and marks of UTF-16: their two bytes stand side by side, a blank of UTF-16 has a NUL beside it. */
function withoutNul(view: View): View {
	return derivedView(view, builder => {
		let reached = 0;
		for (const match of view.text.matchAll(/\0+|[\u000b-\u000f] | [\u000b-\u000f]|\u00ff\u00fe|\u00fe\u00ff/g)) {
			builder.copy(reached, match.index);
			reached = match.index + match[0].length;
		}

		builder.copy(reached, view.text.length);
	});
}

function stripped(view: View, dropsStrings: boolean): View {
	return derivedView(view, builder => {
		fillStripped(view.text, builder, dropsStrings);
	});
}

function fillStripped(text: string, builder: ViewBuilder, dropsStrings: boolean): void {
	let reached = 0;
	notable.lastIndex = 0;
	for (let match = notable.exec(text); match !== null; match = notable.exec(text)) {
		const at = match.index;
		builder.copy(reached, at);
		const width = sequenceLength(text, at, dropsStrings);
		const code = text.charCodeAt(at);
		if (width === 0 && !isControl(code)) {
			builder.push(code, at);
		}

		reached = at + Math.max(1, width);
		notable.lastIndex = reached;
	}

	builder.copy(reached, text.length);
}

/** Controls, and the first byte of everything that is dropped. */
const notable = /[\0-\u0008\u000b-\u001f\u007f\u00c2\u00cd\u00d8\u00e1\u00e2\u00ef\u00f3]/g;

/** TAB and LF are text; every other control, CR included, is dropped. */
function isControl(code: number): boolean {
	return (code < 0x20 && code !== 0x09 && code !== 0x0a) || code === 0x7f;
}

function sequenceLength(text: string, at: number, dropsStrings: boolean): number {
	const code = text.charCodeAt(at);
	if (code === 0x1b || code === 0xc2) {
		const strings = dropsStrings ? [stringSequence, stringIntroducer] : [stringIntroducer];
		return firstLength([controlSequence, ...strings, otherEscape, invisible], text, at);
	}

	return code > 0xc2 ? firstLength([invisible], text, at) : 0;
}

function firstLength(patterns: readonly RegExp[], text: string, at: number): number {
	for (const pattern of patterns) {
		const width = matchLength(pattern, text, at);
		if (width > 0) {
			return width;
		}
	}

	return 0;
}

function matchLength(pattern: RegExp, text: string, at: number): number {
	pattern.lastIndex = at;
	return pattern.exec(text)?.[0].length ?? 0;
}

/** No terminal is wider; a movement beyond it stays there. */
const maxColumns = 1024;

/** The lines as they look after CR, backspace, cursor movements within the line and erasures. */
function onScreen(view: View): View {
	return derivedView(view, builder => {
		fillScreen(view.text, new Line(builder));
	});
}

function fillScreen(text: string, line: Line): void {
	for (let at = 0; at < text.length; ) {
		const code = text.charCodeAt(at);
		const width = code === 0x1b || code >= 0xc2 ? line.obey(text, at) : 0;
		if (width === 0) {
			line.put(code, at);
		}

		at += Math.max(1, width);
	}

	line.flush();
}

class Line {
	readonly #builder: ViewBuilder;
	readonly #codes: number[] = [];
	readonly #indices: number[] = [];
	#column = 0;

	constructor(builder: ViewBuilder) {
		this.#builder = builder;
	}

	/** Writes the character that stands at `index` of the source. */
	put(code: number, index: number): void {
		if (code === 0x0a) {
			this.#codes.push(code);
			this.#indices.push(index);
			this.flush();
		} else if (code === 0x0d) {
			this.#column = 0;
		} else if (code === 0x08) {
			this.#column = Math.max(0, this.#column - 1);
		} else if (!isControl(code)) {
			this.#codes[this.#column] = code;
			this.#indices[this.#column] = index;
			this.#column++;
		}
	}

	/** Follows the sequence that begins at `at`; its length, 0 where none begins there. */
	obey(text: string, at: number): number {
		controlSequence.lastIndex = at;
		const sequence = controlSequence.exec(text);
		if (sequence === null) {
			return sequenceLength(text, at, true);
		}

		this.#move(sequence[2] ?? '', sequence[1] ?? '');
		return sequence[0].length;
	}

	/** Cursor forward, back, to a column; erase to the end of the line or all of it. A gap is never filled: nothing was written there. */
	#move(final: string, parameters: string): void {
		const count = Math.min(maxColumns, Number.parseInt(parameters, 10) || 1);
		switch (final) {
			case 'C':
				this.#column = Math.min(this.#codes.length, this.#column + count);
				break;
			case 'D':
				this.#column = Math.max(0, this.#column - count);
				break;
			case 'G':
				this.#column = Math.min(this.#codes.length, count - 1);
				break;
			case 'K':
				this.#erase(parameters);
				break;
			default:
		}
	}

	/** Ends the line: what stands on it is read. */
	flush(): void {
		for (let index = 0; index < this.#codes.length; index++) {
			this.#builder.push(this.#codes[index] ?? 0, this.#indices[index] ?? 0);
		}

		this.#codes.length = 0;
		this.#indices.length = 0;
		this.#column = 0;
	}

	#erase(parameters: string): void {
		if (parameters === '' || parameters === '0') {
			this.#codes.length = Math.min(this.#codes.length, this.#column);
			this.#indices.length = this.#codes.length;
		}
	}
}
