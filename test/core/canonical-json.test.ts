import test from 'ava';
import canonicalize from 'canonicalize';
import * as fc from 'fast-check';
import {canonicalFile, canonicalJson} from '../../core/canonical-json.ts';
import type {JsonValue} from '../../core/errors.ts';
import {parseStrictJson} from '../../core/strict-json.ts';

for (const [title, value, text] of [
	[
		'sorts keys by UTF-16 code unit, not by code point',
		{'\u{fb33}': 1, '\u{1f600}': 2, '\u20ac': 3, '\r': 4, '1': 5, '\u0080': 6, '\u00f6': 7},
		'{"\\r":4,"1":5,"\u0080":6,"\u00f6":7,"\u20ac":3,"\u{1f600}":2,"\u{fb33}":1}',
	],
	['writes numbers as ECMAScript does', [333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0, 1e21, 1e-7], '[333333333.3333333,1e+30,4.5,0.002,1e-27,0,1e+21,1e-7]'],
	['escapes only what must be escaped', '\u20ac$\u000f\nA\'B"\\"/\u007f\u2028', '"\u20ac$\\u000f\\nA\'B\\"\\\\\\"/\u007f\u2028"'],
	['writes literals', [null, true, false], '[null,true,false]'],
	['writes empty containers', {a: [], b: {}}, '{"a":[],"b":{}}'],
] as const) {
	test(`canonicalJson() ${title}`, t => {
		t.is(canonicalJson(value), text);
	});
}

test('canonicalFile() ends with one line feed', t => {
	t.deepEqual(canonicalFile({a: '\u00e9'}), Buffer.from('{"a":"\u00e9"}\n'));
});

for (const [title, value, code] of [
	['half of a surrogate pair', '\ud800', 'CORE_JSON_LONE_SURROGATE'],
	['half of a surrogate pair in a key', {'\udc00': 1}, 'CORE_JSON_LONE_SURROGATE'],
	['NaN', [Number.NaN], 'CORE_JSON_VALUE'],
	['Infinity', Number.POSITIVE_INFINITY, 'CORE_JSON_VALUE'],
] as const) {
	test(`canonicalJson() refuses ${title}`, t => {
		t.throws(() => canonicalJson(value), {code});
	});
}

const values = fc
	.jsonValue({noUnicodeString: false, maxDepth: 4})
	.filter(value => JSON.stringify(value).isWellFormed() && !/\\ud[89a-f]/i.test(JSON.stringify(value)));

test('canonicalJson() agrees with another implementation of RFC 8785', t => {
	fc.assert(
		fc.property(values, value => {
			t.is(canonicalJson(value as JsonValue), canonicalize(value) ?? '');
		}),
	);
});

test('the canonical form is read back as the same value and is its own canonical form', t => {
	fc.assert(
		fc.property(values, value => {
			const text = canonicalJson(value as JsonValue);
			fc.pre(!text.includes('__proto__'));
			t.is(canonicalJson(parseStrictJson(Buffer.from(text), {maxBytes: 1_000_000, maxDepth: 100, anyNumber: true})), text);
		}),
	);
});
