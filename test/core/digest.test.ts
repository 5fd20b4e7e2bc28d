import test from 'ava';
import {sha256Hex} from '../../core/digest.ts';

for (const [title, bytes, digest] of [
	['no bytes', new Uint8Array(0), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
	['"abc" (FIPS 180-2)', 'abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
	['bytes of "abc"', Uint8Array.of(0x61, 0x62, 0x63), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
] as const) {
	test(`sha256Hex() of ${title}`, t => {
		t.is(sha256Hex(bytes), digest);
	});
}

test('sha256Hex() takes text as UTF-8', t => {
	t.is(sha256Hex('\u00e9'), sha256Hex(Uint8Array.of(0xc3, 0xa9)));
});
