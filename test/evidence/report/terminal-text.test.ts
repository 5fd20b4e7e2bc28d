import test from 'ava';
import {array, assert, constantFrom, oneof, property, uint8Array} from 'fast-check';
import {plainTerminalText, terminalText} from '../../../evidence/report/terminal-text.ts';

const cases: ReadonlyArray<readonly [title: string, output: string | Buffer, shown: string]> = [
	['nothing', '', ''],
	['a last line without line feed', 'a\nb', 'a\nb'],
	['one line feed as no further line', 'a\n', 'a'],
	['lines of Windows', 'a\r\nb\r\n', 'a\nb'],
	['a progress line as its last state', 'progress 10%\rprogress 99%\rdone\u001b[K\n', 'done'],
	['what is left of a longer line', '12345\rab\n', 'ab345'],
	['backspaces', 'abc\b\b\bxyz\u001b[0m\b!\n', 'xy!'],
	['a backspace at the beginning', '\bab', 'ab'],
	['an erased line', 'abc\u001b[2Kd', '   d'],
	['no colour codes', '\u001b[31mred\u001b[0m \u009b1mbold\u009bm', 'red bold'],
	['no title and no link of OSC', '\u001b]0;title\u0007a\u001b]8;;javascript:x\u001b\\link\u001b]8;;\u001b\\b', 'alinkb'],
	['an OSC that never ends, and what follows it', '\u001b]0;never ends\nnext', '\\x1b]0;never ends\nnext'],
	['no cursor movement', '\u001b[2J\u001b[1;1Hhome\u001b[5A', 'home'],
	['concealed text', '\u001b[8msecret\u001b[28m', 'secret'],
	['other control characters as escapes', 'a\u0000b\u0007c\u007fd\u0085e', 'a\\x00b\\x07c\\x7fd\\x85e'],
	['bidirectional and zero-width characters as escapes', '\u202eevil\u202c\u200b\ufeff', '\\u202eevil\\u202c\\u200b\\ufeff'],
	['a lonely ESC at the end', 'a\u001b', 'a\\x1b'],
	['bytes that are no UTF-8 as U+FFFD', Buffer.from([0x61, 0xff, 0xc3, 0x28]), 'a\ufffd\ufffd('],
	['few combining marks as they are, many as escapes', `e${'\u0301'.repeat(5)}`, `e${'\u0301'.repeat(3)}\\u{301}\\u{301}`],
	['a tab as it is', 'a\tb', 'a\tb'],
	['emoji and Hebrew as they are', '😀 שלום', '😀 שלום'],
];

for (const [title, output, shown] of cases) {
	test(`plainTerminalText() shows ${title}`, t => {
		t.is(plainTerminalText(Buffer.from(output)), shown);
	});
}

test('terminalText() counts what it left out, and tells whether all was UTF-8', t => {
	t.like(terminalText(Buffer.from('\u001b]0;a\u0007\u001b[2J\u001b[31mx')), {dropped: 2, isUtf8: true});
	t.like(terminalText(Buffer.from([0xff])), {dropped: 0, isUtf8: false});
	t.like(terminalText(Buffer.from('\ufffd')), {isUtf8: true});
});

test('terminalText() marks what stands for a character', t => {
	const [runs] = terminalText(Buffer.from('a\u0007b')).lines;
	t.deepEqual(
		runs?.map(({text, isEscape}) => [text, isEscape]),
		[
			['a', false],
			['\\x07', true],
			['b', false],
		],
	);
});

test('plainTerminalText() never lets a character through that steers a terminal, whatever the bytes', t => {
	const pieces = constantFrom('\u001b[', '\u001b]', '\u001b', '\u009b', '\u0007', '\r', '\b', 'm', 'K', ';', '31', '\u202e', '\n', 'a', '\ud83d');
	assert(
		property(
			oneof(
				array(pieces).map(parts => Buffer.from(parts.join(''))),
				uint8Array().map(bytes => Buffer.from(bytes)),
			),
			bytes => {
				t.notRegex(plainTerminalText(bytes), /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
			},
		),
	);
	t.pass();
});

test('terminalText() takes time in proportion to hostile bytes', t => {
	const unfinished = Buffer.from('\u001b]'.repeat(65_536));
	t.is(terminalText(unfinished).lines.length, 1);
	const climbing = Buffer.from(`${'a\b'.repeat(65_536)}${'\u001b[2K'.repeat(1000)}`);
	t.is(terminalText(climbing).lines.length, 1);
});
