import test from 'ava';
import {bytesText, countText, durationText} from '../../../evidence/report/amounts.ts';

for (const [durationMs, text] of [
	[0, '0 ms'],
	[999, '999 ms'],
	[1500, '1.5 s'],
	[12_345, '12.3 s'],
	[60_000, '1 min'],
	[123_400, '2 min 3 s'],
	[3_600_000, '60 min'],
] as const) {
	test(`durationText() of ${durationMs} is ${text}`, t => {
		t.is(durationText(durationMs), text);
	});
}

for (const [bytes, text] of [
	[0, '0 bytes'],
	[1, '1 byte'],
	[1023, '1023 bytes'],
	[1536, '1.5 KiB'],
	[1_048_576, '1 MiB'],
	[917_504, '896 KiB'],
	[2 ** 50, '1024 TiB'],
] as const) {
	test(`bytesText() of ${bytes} is ${text}`, t => {
		t.is(bytesText(bytes), text);
	});
}

test('countText() has a plural', t => {
	t.is(countText(1, 'command'), '1 command');
	t.is(countText(2, 'command'), '2 commands');
});
