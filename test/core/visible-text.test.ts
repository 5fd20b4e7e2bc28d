import test from 'ava';
import {assert, property, string} from 'fast-check';
import {visibleLine, visibleTail, visibleText} from '../../core/visible-text.ts';

for (const [title, text, expected] of [
	['an escape sequence', 'a\u001b[2Jb', 'a\\x1b[2Jb'],
	['a carriage return that overwrites', 'failed\rpassed', 'failed\\x0dpassed'],
	['a C1 control sequence introducer', '\u009b31m', '\\x9b31m'],
	['a bidirectional override', 'abc\u202edef', 'abc\\u202edef'],
	['a zero-width space', 'a\u200bb', 'a\\u200bb'],
	['a tag character', 'a\u{e0041}b', 'a\\u{e0041}b'],
	['a NUL', '\u0000', '\\x00'],
	['half of a surrogate pair', 'a\ud800b', 'a\\ud800b'],
] as const) {
	test(`visibleText() escapes ${title}`, t => {
		t.is(visibleText(text), expected);
	});
}

test('visibleText() leaves letters of all scripts, emoji, tabs and line feeds alone', t => {
	const text = 'grün 한국어 😀\tx\ny \\ done';
	t.is(visibleText(text), text);
});

test('visibleLine() never holds a line feed and says how much it cut', t => {
	t.is(visibleLine('ab\ncdef', 4), 'ab\\nc… (3 more characters)');
	t.is(visibleLine('\ud83d\ude00', 1), '\ufffd… (1 more characters)');
});

test('no text whatsoever can bring a control character through', t => {
	assert(
		property(string({unit: 'binary'}), text => {
			t.notRegex(visibleText(text), /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
		}),
	);
	t.pass();
});

test('visibleTail() gives the last lines of raw bytes, whatever they are', t => {
	const bytes = Buffer.concat([Buffer.from('one\r\ntwo\n'), Buffer.from([0xff, 0x1b, 0x5b, 0x4b]), Buffer.from('\n')]);
	t.deepEqual(visibleTail(bytes, {maxLines: 2, maxLineLength: 80}), ['two', '\ufffd\\x1b[K']);
	t.deepEqual(visibleTail(Buffer.alloc(0), {maxLines: 20, maxLineLength: 80}), []);
	t.deepEqual(visibleTail(Buffer.from('a\n\n'), {maxLines: 20, maxLineLength: 80}), ['a', '']);
});
