import test from 'ava';
import {byteRange, rawView, type View} from '../../evidence/secret-views.ts';
import {terminalViews} from '../../evidence/terminal-views.ts';

function views(text: string | Buffer): View[] {
	return terminalViews(rawView(typeof text === 'string' ? Buffer.from(text) : text));
}

function readings(text: string | Buffer): string[] {
	return views(text).map(view => view.text);
}

for (const [title, text, expected] of [
	['ordinary lines', 'one\ntwo\tthree\r\n', []],
	['letters above ASCII', 'Grüße – 한국어 ✔ 🎉\n', []],
	['a colour', 'a\u001b[1;31mb\u001b[0mc', ['abc']],
	['a colour in eight bits', 'a\u009b31mb', ['ab']],
	['a title', 'a\u001b]0;title\u0007b', ['ab', 'a0;titleb']],
	['a title with a string terminator', 'a\u001b]0;title\u001b\\b', ['ab', 'a0;titleb']],
	['a title without an end', 'a\u001b]0;title', ['a0;title', 'a0;title']],
	['a charset escape', 'a\u001b(Bb', ['ab']],
	['invisible characters', 'a\u200bb\u00adc\ufeffd', ['abcd']],
	['a NUL', 'a\0b', ['ab', 'ab']],
	['UTF-16LE', Buffer.from('ab\u200bc d', 'utf16le'), ['abc d', 'abc d']],
	['UTF-16BE', Buffer.from('ab\u200bc d', 'utf16le').swap16(), ['abc d', 'abc d']],
	['a carriage return', 'abc\rx', ['abcx', 'xbc']],
	['a backspace', 'ab\bc', ['abc', 'ac']],
	['a cursor movement back', 'abcd\u001b[2Dx', ['abcdx', 'abxd']],
	['a cursor movement to a column', 'abcd\u001b[2Gx', ['abcdx', 'axcd']],
	['an erasure', 'abcd\r\u001b[Kx', ['abcdx', 'x']],
	['lines of their own', 'ab\rc\nde\rf\n', ['abc\ndef\n', 'cb\nfe\n']],
] as const) {
	test(`terminalViews() reads ${title}`, t => {
		t.deepEqual(readings(text), [...expected]);
	});
}

test('a view knows the bytes of each of its characters', t => {
	const [view] = views('a\u001b[1mb\u200bc');
	if (view === undefined) {
		t.fail();
		return;
	}

	t.deepEqual(byteRange(view, 0, 1), {start: 0, end: 1, isExact: true});
	t.deepEqual(byteRange(view, 1, 2), {start: 5, end: 6, isExact: true});
	t.deepEqual(byteRange(view, 0, 3), {start: 0, end: 10, isExact: true});
});

test('what is read in another order than it stands has no exact range', t => {
	const screen = views('xxxb\ra')[1];
	if (screen === undefined) {
		t.fail();
		return;
	}

	t.is(screen.text, 'axxb');
	t.deepEqual(byteRange(screen, 0, 4), {start: 1, end: 6, isExact: false});
	t.deepEqual(byteRange(screen, 1, 4), {start: 1, end: 4, isExact: true});
});
