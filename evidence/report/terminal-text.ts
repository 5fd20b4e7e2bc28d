import {visibleText} from '../../core/visible-text.ts';
import {applySgr, plainStyle, type TextStyle} from './terminal-style.ts';

/** A stretch of one line that looks the same. */
export type TextRun = {
	readonly text: string;
	readonly style: TextStyle;
	/** The text stands for characters that cannot be shown (`\x07`). */
	readonly isEscape: boolean;
};

/** Output as lines of runs. */
export type TerminalText = {
	readonly lines: readonly (readonly TextRun[])[];
	/** Control sequences that were left out, colours not counted. */
	readonly dropped: number;
	/** Bytes that are no UTF-8 stand as U+FFFD. */
	readonly isUtf8: boolean;
};

type Cell = {readonly text: string; readonly style: TextStyle; readonly isEscape: boolean};

const csi = /(?:\u001b\[|\u009b)([0-?]{0,64})[ -/]{0,4}([@-~])/y;
// No line feed within: an unfinished string must not swallow what follows.
const controlString = /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\n\u0007\u001b\u009c]{0,1024}(?:\u0007|\u001b\\|\u009c)/y;
const otherEscape = /\u001b[ -/]{0,2}[0-Z\\^-~]/y;
const plain = /[^\u0000-\u001f\u007f-\u009f]+/y;
const combining = /\p{M}/u;
/** More marks than this on one letter climb over the lines around it. */
const maxCombining = 3;

/**
 * What a terminal would show of an output, line by line: `\r` and `\b` move back and are overwritten, erasing to the end of the line is done, colours
 * are kept, every other control sequence is left out and counted, and each character that could steer, hide or reorder is written as an escape.
 *
 * Total for any bytes; time and memory are linear. Source: E-VIEW-1, facts/ecosystem.md 3.3.
 */
export function terminalText(bytes: Uint8Array): TerminalText {
	const text = new TextDecoder('utf-8', {ignoreBOM: true}).decode(bytes);
	const screen = new Screen();
	for (let at = 0; at < text.length; ) {
		at += screen.take(text, at);
	}

	return {lines: screen.finish(), dropped: screen.dropped, isUtf8: !text.includes('\ufffd') || isValidUtf8(bytes)};
}

/** The same without colours: safe lines joined by line feeds. */
export function plainTerminalText(bytes: Uint8Array): string {
	return terminalText(bytes)
		.lines.map(runs => runs.map(({text}) => text).join(''))
		.join('\n');
}

class Screen {
	dropped = 0;
	readonly #lines: TextRun[][] = [];
	#cells: Cell[] = [];
	#column = 0;
	#style = plainStyle;
	#combining = 0;

	/** Takes what stands at `at` and returns how many UTF-16 units that was. */
	take(text: string, at: number): number {
		const written = matchAt(plain, text, at)?.[0];
		if (written !== undefined) {
			for (const character of written) {
				this.#write(character);
			}

			return written.length;
		}

		const control = text[at] ?? '';
		return this.#move(control) ? 1 : this.#sequence(text, at, control);
	}

	finish(): TextRun[][] {
		if (this.#cells.length > 0) {
			this.#endLine();
		}

		return this.#lines;
	}

	#move(control: string): boolean {
		switch (control) {
			case '\n':
				this.#endLine();
				return true;
			case '\r':
				this.#column = 0;
				return true;
			case '\b':
				this.#column = Math.max(0, this.#column - 1);
				return true;
			case '\t':
				this.#put({text: '\t', style: this.#style, isEscape: false});
				return true;
			default:
				return false;
		}
	}

	#sequence(text: string, at: number, control: string): number {
		const found = matchAt(csi, text, at);
		if (found !== null) {
			this.#csi(found[1] ?? '', found[2] ?? '');
			return found[0].length;
		}

		const other = matchAt(controlString, text, at) ?? matchAt(otherEscape, text, at);
		if (other !== null) {
			this.dropped++;
			return other[0].length;
		}

		this.#put({text: visibleText(control), style: this.#style, isEscape: true});
		return control.length;
	}

	#csi(parameters: string, final: string): void {
		if (final === 'm') {
			this.#style = applySgr(this.#style, parameters);
			return;
		}

		if (final === 'K' && (parameters === '' || parameters === '0')) {
			this.#cells.length = Math.min(this.#cells.length, this.#column);
			return;
		}

		if (final === 'K' && parameters === '2') {
			this.#cells = this.#cells.map(() => ({text: ' ', style: plainStyle, isEscape: false}));
			return;
		}

		this.dropped++;
	}

	#write(character: string): void {
		const isCombining = character > '\u02ff' && combining.test(character);
		this.#combining = isCombining ? this.#combining + 1 : 0;
		const shown =
			this.#combining > maxCombining ? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}` : character < '\u007f' ? character : visibleText(character);
		this.#put({text: shown, style: this.#style, isEscape: shown !== character});
	}

	#put(cell: Cell): void {
		this.#cells[this.#column] = cell;
		this.#column++;
	}

	#endLine(): void {
		const runs: Array<{text: string; readonly style: TextStyle; readonly isEscape: boolean}> = [];
		for (const {text, style, isEscape} of this.#cells) {
			const last = runs.at(-1);
			if (last?.style === style && last.isEscape === isEscape) {
				last.text += text;
			} else {
				runs.push({text, style, isEscape});
			}
		}

		this.#lines.push(runs);
		this.#cells = [];
		this.#column = 0;
	}
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
	pattern.lastIndex = at;
	return pattern.exec(text);
}

function isValidUtf8(bytes: Uint8Array): boolean {
	try {
		new TextDecoder('utf-8', {fatal: true}).decode(bytes);
		return true;
	} catch {
		return false;
	}
}
