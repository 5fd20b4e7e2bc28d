import test from 'ava';
import {assert, integer, property, string} from 'fast-check';
import {excerptOf, halfBytesFor} from '../../../evidence/report/excerpt.ts';

const isValid = (part: Buffer): boolean => part.equals(Buffer.from(part.toString()));

test('excerptOf() keeps all of an output that both ends would cover', t => {
	t.deepEqual(excerptOf(Buffer.from('abcdef'), 3), {head: Buffer.from('abcdef'), tail: Buffer.alloc(0), omittedBytes: 0});
	t.deepEqual(excerptOf(Buffer.from('abcdefg'), 3), {head: Buffer.from('abc'), tail: Buffer.from('efg'), omittedBytes: 1});
});

test('excerptOf() never cuts a character of UTF-8 apart', t => {
	assert(
		property(string({unit: 'binary', maxLength: 60}), integer({min: 4, max: 20}), (text, halfBytes) => {
			const bytes = Buffer.from(text.toWellFormed());
			const {head, tail, omittedBytes} = excerptOf(bytes, halfBytes);
			return isValid(head) && isValid(tail) && head.length + omittedBytes + tail.length === bytes.length && head.length <= Math.max(halfBytes, bytes.length);
		}),
	);
	t.pass();
});

test('excerptOf() ends for bytes that are nothing but continuations', t => {
	const {head, tail, omittedBytes} = excerptOf(Buffer.alloc(100, 0x80), 10);
	t.is(head.length + tail.length + omittedBytes, 100);
	t.true(head.length > 0);
});

test('halfBytesFor() shares a fixed sum among many outputs and leaves each a little', t => {
	t.is(halfBytesFor(1, 65_536), 65_536);
	t.is(halfBytesFor(0, 65_536), 65_536);
	t.is(halfBytesFor(256, 65_536), 8192);
	t.is(halfBytesFor(512, 65_536), 4096);
	t.is(halfBytesFor(1_000_000, 65_536), 2048);
});
