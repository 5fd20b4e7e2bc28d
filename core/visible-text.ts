// C0 and C1 controls but for tab and line feed, line and paragraph separators, bidirectional and zero-width characters, the byte order mark, tags and lone surrogates:
// each can move the cursor, hide text or show it in another order.
const hostile =
	/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]|\p{Cs}/gu;

/**
 * Text that is safe to show on a terminal: every character that could steer it or hide something is written as an escape (`\x1b`, `\u202e`).
 *
 * Shape: line feeds and tabs stay. Source: E-VIEW-1 (output is hostile).
 */
export function visibleText(text: string): string {
	return text.replace(hostile, escapeCharacter);
}

/** The same for one line: line feeds and tabs are escaped too, and at most `maxLength` UTF-16 units are kept. */
export function visibleLine(text: string, maxLength: number): string {
	const cut = text.length > maxLength ? `${text.slice(0, maxLength)}… (${text.length - maxLength} more characters)` : text;
	return visibleText(cut.toWellFormed()).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** JSON text in which every such character inside a string is written as `\\uXXXX`: the same value, safe to show. */
export function visibleJson(json: string): string {
	return json.replace(hostile, character =>
		Array.from({length: character.length}, (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`).join(''),
	);
}

/**
 * The last `maxLines` lines of raw output, safe to show.
 *
 * Shape: bytes that are no UTF-8 show as U+FFFD; a CR before a LF is dropped; a line holds at most `maxLineLength` UTF-16 units.
 */
export function visibleTail(bytes: Uint8Array, options: {readonly maxLines: number; readonly maxLineLength: number}): string[] {
	const text = new TextDecoder('utf-8', {ignoreBOM: true}).decode(bytes);
	const lines = text.replaceAll('\r\n', '\n').split('\n');
	if (lines.at(-1) === '') {
		lines.pop();
	}

	return lines.slice(-options.maxLines).map(line => visibleLine(line.replaceAll('\t', '    '), options.maxLineLength));
}

function escapeCharacter(character: string): string {
	const point = character.codePointAt(0) ?? 0;
	if (point <= 0xff) {
		return `\\x${point.toString(16).padStart(2, '0')}`;
	}

	return point <= 0xffff ? `\\u${point.toString(16).padStart(4, '0')}` : `\\u{${point.toString(16)}}`;
}
