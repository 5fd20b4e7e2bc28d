import test from 'ava';
import {displayPath} from '../../cache/path-display.ts';

const cases: ReadonlyArray<readonly [title: string, bytes: Buffer, shown: string]> = [
	['plain names', Buffer.from('src/a.txt'), '"src/a.txt"'],
	['other scripts', Buffer.from('日本/ü'), '"日本/ü"'],
	['quotes and line feeds', Buffer.from('a"b\nc'), String.raw`"a\"b\nc"`],
	['escape sequences', Buffer.from('a\u001b[31m'), String.raw`"a\u001b[31m"`],
	['text that turns around', Buffer.from('a\u202eb'), String.raw`"a\u{202e}b"`],
	['bytes that are no UTF-8', Buffer.from([0x61, 0xff]), String.raw`"a\\xff"`],
];
for (const [title, bytes, shown] of cases) {
	test(`displayPath() shows ${title}`, t => {
		t.is(displayPath(bytes.toString('latin1')), shown);
	});
}
