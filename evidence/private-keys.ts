import {keyMarkers} from './secret-rules.ts';

/** A stretch of a text: `end` is the first position behind it. */
export type Span = {readonly start: number; readonly end: number};

/** A key of 16,384 bits is below this; what is further apart does not belong together. */
const maxKeyCharacters = 65_536;
/** A base64 run of this length makes a marker a key, and a line a line of a key. */
const leastRun = 16;
const bodyRun = /[A-Za-z0-9+/=]{16}/;
const headerLine = /(?:^|[ \t])[A-Z][A-Za-z-]{2,24}: [^\n]*$/;
const escapedBody = /^(?:[A-Za-z0-9+/=]|\\{1,4}[nrt])*/;
const base64Characters = new Set('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=');
const closingCharacters = new Set(' \t\r"\'\\,;');

/**
 * Finds private keys in text form: whole ones, ones that break off, ones whose beginning is missing, with any prefix before each line, or on
 * one line with `\n` written out. A marker without a body is no key (source code and documents hold such).
 *
 * Shape: one character per byte; spans ascend and do not overlap. Time is linear in the text: no key reaches over the next marker of another.
 * Source: E-V3-7.
 */
export function findPrivateKeys(text: string): Span[] {
	const spans: Span[] = [];
	let floor = 0;
	for (const mark of keyMarks(text)) {
		if (mark.start < floor) {
			continue;
		}

		const span = mark.kind === 'end' ? keyBefore(text, mark, floor) : keyAfter(text, mark, floor);
		if (span !== null) {
			spans.push(span);
		}

		floor = span?.end ?? mark.end;
	}

	return spans;
}

type Mark = Span & {
	readonly kind: 'begin' | 'end' | 'body';
	/** The first end marker behind it, unless another key begins before. */
	readonly close: Span | null;
	/** Where the next key begins, or the end of the text. */
	readonly limit: number;
};

let compiled: RegExp | null = null;

function keyMarks(text: string): Mark[] {
	compiled ??= new RegExp(`(${keyMarkers.begin})|(${keyMarkers.end})|${keyMarkers.body}`, 'g');
	const marks: Mark[] = [];
	let close: Span | null = null;
	let limit = text.length;
	for (const match of [...text.matchAll(compiled)].toReversed()) {
		const span = {start: match.index, end: match.index + match[0].length};
		const kind = match[1] === undefined ? (match[2] === undefined ? 'body' : 'end') : 'begin';
		marks.push({...span, kind, close, limit});
		if (kind === 'begin') {
			close = null;
			limit = span.start;
		} else if (kind === 'end') {
			close = span;
		}
	}

	return marks.toReversed();
}

function keyAfter(text: string, mark: Mark, floor: number): Span | null {
	const start = mark.kind === 'body' ? mark.start - trailingRun(text.slice(Math.max(floor, mark.start - leastRun), mark.start)) : mark.start;
	const {close} = mark;
	if (close !== null && close.end - start <= maxKeyCharacters && (mark.kind === 'body' || bodyRun.test(text.slice(mark.end, close.start)))) {
		return {start, end: close.end};
	}

	const length = bodyLength(text.slice(mark.end, Math.min(mark.limit, mark.end + maxKeyCharacters)), mark.kind === 'body');
	return length === null ? null : {start, end: mark.end + length};
}

/**
 * How far a body that breaks off goes in `text`, which follows its marker; null where there is none. It holds lines that end in base64,
 * fields of the header, and blank lines between.
 */
function bodyLength(text: string, isInBody: boolean): number | null {
	let length = escapedBody.exec(text)?.[0].length ?? 0;
	let hasBody = isInBody || length >= leastRun;
	let blankLines = 0;
	for (let at = text.indexOf('\n', length) + 1; at > 0 && blankLines <= 2; ) {
		const next = text.indexOf('\n', at);
		const line = text.slice(at, next === -1 ? text.length : next);
		const kind = lineKind(line, hasBody);
		if (kind === 'other') {
			break;
		}

		if (kind === 'body') {
			hasBody = true;
			length = at + line.length;
		}

		blankLines += kind === 'blank' ? 1 : 0;
		at = next + 1;
	}

	return hasBody ? length : null;
}

/** What a line is behind the marker of a key; within a body a short line of nothing but base64 belongs to it. */
function lineKind(line: string, isInBody: boolean): 'body' | 'blank' | 'header' | 'other' {
	const run = trailingRun(line);
	const trimmed = line.trim();
	if (run >= leastRun || (isInBody && run > 0 && run >= trimmed.length)) {
		return 'body';
	}

	if (trimmed === '') {
		return 'blank';
	}

	return headerLine.test(line) ? 'header' : 'other';
}

/** A key whose beginning is missing: what stands before its end marker, back to the marker before. */
function keyBefore(text: string, mark: Mark, floor: number): Span | null {
	const from = Math.max(floor, mark.start - maxKeyCharacters);
	const before = text.slice(from, mark.start);
	const inLine = trailingRun(before.replaceAll('\\n', '==').replaceAll('\\r', '=='));
	if (inLine >= leastRun) {
		return {start: mark.start - inLine, end: mark.end};
	}

	let start = before.lastIndexOf('\n') + 1;
	let hasBody = false;
	while (start > 0) {
		const lineStart = before.lastIndexOf('\n', start - 2) + 1;
		const run = trailingRun(before.slice(lineStart, start - 1));
		// The last line of a body may be short; a line above it that is no base64 ends the search.
		if (run === 0 || (run < leastRun && hasBody)) {
			break;
		}

		hasBody ||= run >= leastRun;
		start = lineStart;
	}

	return hasBody ? {start: from + start, end: mark.end} : null;
}

/** Length of the base64 run at the end of a line, quotes and commas behind it included where there is a run. */
function trailingRun(line: string): number {
	let end = line.length;
	while (end > 0 && closingCharacters.has(line.charAt(end - 1))) {
		end--;
	}

	let start = end;
	while (start > 0 && base64Characters.has(line.charAt(start - 1))) {
		start--;
	}

	return start === end ? 0 : line.length - start;
}
