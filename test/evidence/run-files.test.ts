import test from 'ava';
import {printableName} from '../../evidence/run-files.ts';

const names: ReadonlyArray<readonly [title: string, bytes: readonly number[], text: string]> = [
	['plain ASCII as it is', [...Buffer.from('000.log')], '000.log'],
	['a backslash', [0x5c], '\\x5c'],
	['a blank and a line feed', [0x20, 0x0a], '\\x20\\x0a'],
	['an escape sequence of a terminal', [0x1b, 0x5b], '\\x1b['],
	['bytes that are not UTF-8', [0xff, 0xc3], '\\xff\\xc3'],
	['both spellings of one letter differently', [...Buffer.from('\u00e4'), 0x2e, ...Buffer.from('a\u0308')], '\\xc3\\xa4.a\\xcc\\x88'],
];

for (const [title, bytes, text] of names) {
	test(`printableName() writes ${title}`, t => {
		t.is(printableName(Uint8Array.from(bytes)), text);
	});
}
