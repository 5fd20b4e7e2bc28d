import test from 'ava';
import * as fc from 'fast-check';
import {BailiffError, type ErrorCode} from '../../core/errors.ts';
import {parseStrictJson, pointerToken, type StrictJsonOptions} from '../../core/strict-json.ts';

const options: StrictJsonOptions = {maxBytes: 1000, maxDepth: 4, decimalKeys: ['seconds']};
const parse = (text: string | Uint8Array, changed: Partial<StrictJsonOptions> = {}): unknown =>
	parseStrictJson(typeof text === 'string' ? Buffer.from(text) : text, {...options, ...changed});

/** The error of a parse, or null when it succeeds; anything but a BailiffError is thrown on. */
function faultOf(text: string | Uint8Array, changed: Partial<StrictJsonOptions> = {}): BailiffError | null {
	try {
		parse(text, changed);
		return null;
	} catch (error) {
		if (error instanceof BailiffError) {
			return error;
		}

		throw error;
	}
}

type Refusal = {readonly title: string; readonly text: string | Uint8Array; readonly code: ErrorCode; readonly pointer?: string};

const refusals: readonly Refusal[] = [
	{title: 'no bytes', text: '', code: 'CORE_JSON_EMPTY'},
	{title: 'blanks alone', text: ' \n\t\r', code: 'CORE_JSON_EMPTY'},
	{title: 'a byte order mark', text: '\u{feff}{}', code: 'CORE_JSON_BOM'},
	{title: 'bytes that are not UTF-8', text: Uint8Array.of(0x22, 0xff, 0x22), code: 'CORE_JSON_UTF8'},
	{title: 'an overlong slash', text: Uint8Array.of(0x22, 0xc0, 0xaf, 0x22), code: 'CORE_JSON_UTF8'},
	{title: 'a surrogate in UTF-8', text: Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), code: 'CORE_JSON_UTF8'},
	{title: 'one byte above the limit', text: `"${'a'.repeat(999)}"`, code: 'CORE_JSON_TOO_LARGE'},
	{title: 'a fifth level', text: '[[[[[]]]]]', code: 'CORE_JSON_DEPTH', pointer: '/0/0/0/0'},
	{title: 'a key twice', text: '{"a":1,"a":1}', code: 'CORE_JSON_DUPLICATE_KEY', pointer: '/a'},
	{title: 'a key twice, once by escapes', text: '{"a":1,"\\u0061":1}', code: 'CORE_JSON_DUPLICATE_KEY', pointer: '/a'},
	{title: 'a key twice below', text: '{"x":[{"b":1,"b":2}]}', code: 'CORE_JSON_DUPLICATE_KEY', pointer: '/x/0/b'},
	{title: '__proto__', text: '{"__proto__":{}}', code: 'CORE_JSON_PROTO_KEY', pointer: '/__proto__'},
	{title: '__proto__ by escapes', text: '{"\\u005f_proto__":{}}', code: 'CORE_JSON_PROTO_KEY'},
	{title: 'half of a pair', text: '"\\ud800"', code: 'CORE_JSON_LONE_SURROGATE'},
	{title: 'the halves in the wrong order', text: '"\\udc00\\ud800"', code: 'CORE_JSON_LONE_SURROGATE'},
	{title: 'half of a pair in a key', text: '{"\\udfff":1}', code: 'CORE_JSON_LONE_SURROGATE'},
	{title: 'a raw line feed in a string', text: '"a\nb"', code: 'CORE_JSON_CONTROL_CHARACTER'},
	{title: 'a raw NUL in a string', text: '"a\0b"', code: 'CORE_JSON_CONTROL_CHARACTER'},
	{title: 'a second value', text: '1 2', code: 'CORE_JSON_TRAILING_BYTES'},
	{title: 'a NUL after the value', text: '{}\0', code: 'CORE_JSON_TRAILING_BYTES'},
	{title: 'a comma at the end', text: '[1,]', code: 'CORE_JSON_SYNTAX', pointer: '/1'},
	{title: 'a comma at the end of an object', text: '{"a":1,}', code: 'CORE_JSON_SYNTAX'},
	{title: 'a comment', text: '/* */ 1', code: 'CORE_JSON_SYNTAX'},
	{title: 'single quotes', text: "'a'", code: 'CORE_JSON_SYNTAX'},
	{title: 'a bare key', text: '{a:1}', code: 'CORE_JSON_SYNTAX'},
	{title: 'a missing colon', text: '{"a" 1}', code: 'CORE_JSON_SYNTAX', pointer: '/a'},
	{title: 'a string without an end', text: '"a', code: 'CORE_JSON_SYNTAX'},
	{title: 'an unknown escape', text: '"\\x41"', code: 'CORE_JSON_SYNTAX'},
	{title: 'an escape of an object member', text: '"\\constructor"', code: 'CORE_JSON_SYNTAX'},
	{title: 'a short \\u escape', text: '"\\u12"', code: 'CORE_JSON_SYNTAX'},
	{title: 'NaN', text: 'NaN', code: 'CORE_JSON_SYNTAX'},
	{title: 'Infinity', text: '-Infinity', code: 'CORE_JSON_SYNTAX'},
	{title: 'a plus sign', text: '+1', code: 'CORE_JSON_SYNTAX'},
	{title: 'a word that goes on', text: 'nullx', code: 'CORE_JSON_TRAILING_BYTES'},
	{title: 'a no-break space', text: '\u00a01', code: 'CORE_JSON_SYNTAX'},
	{title: 'a leading zero', text: '01', code: 'CORE_JSON_TRAILING_BYTES'},
	{title: 'a fraction', text: '{"n":1.0}', code: 'CORE_JSON_NUMBER_FORM', pointer: '/n'},
	{title: 'an exponent', text: '[1e3]', code: 'CORE_JSON_NUMBER_FORM', pointer: '/0'},
	{title: 'minus zero', text: '-0', code: 'CORE_JSON_NUMBER_FORM'},
	{title: 'a number beyond 2^53', text: '9007199254740992', code: 'CORE_JSON_NUMBER_RANGE'},
	{title: 'a decimal that overflows', text: '{"seconds":1e400}', code: 'CORE_JSON_NUMBER_RANGE', pointer: '/seconds'},
	{title: 'a decimal that underflows to zero', text: '{"seconds":1e-400}', code: 'CORE_JSON_NUMBER_RANGE', pointer: '/seconds'},
	{title: 'a decimal key one level up', text: '{"seconds":[1.5]}', code: 'CORE_JSON_NUMBER_FORM', pointer: '/seconds/0'},
];

for (const {title, text, code, pointer} of refusals) {
	test(`parseStrictJson() refuses ${title}: ${code}`, t => {
		const fault = faultOf(text);
		t.is(fault?.code, code);
		if (pointer !== undefined) {
			t.is(fault?.details['pointer'], pointer);
		}
	});
}

const readings: ReadonlyArray<readonly [string, unknown]> = [
	['  [ 1 , -2 , 0 ]\n', [1, -2, 0]],
	['"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"', '"\\/\b\f\n\r\t\u00e9\u{1f600}'],
	['[[[[]]]]', [[[[]]]]],
	['9007199254740991', Number.MAX_SAFE_INTEGER],
	['{"seconds":1e-9}', {seconds: 1e-9}],
	['{"seconds":0.0}', {seconds: 0}],
	['{"constructor":1,"toString":2}', {constructor: 1, toString: 2}],
];

for (const [text, value] of readings) {
	test(`parseStrictJson() reads ${JSON.stringify(text)}`, t => {
		t.deepEqual(JSON.parse(JSON.stringify(parse(text))), value);
	});
}

test('objects have no prototype', t => {
	t.is(Object.getPrototypeOf(parse('{"a":1}')), null);
});

test('the limit of bytes itself is allowed', t => {
	t.is(faultOf(`"${'a'.repeat(998)}"`), null);
});

test('every number may be a decimal where archives are read', t => {
	t.deepEqual(parse('[1.5,1e3]', {anyNumber: true}), [1.5, 1000]);
});

test('more objects and arrays, or more keys in one object, than are allowed are refused where they are met', t => {
	const bounds = {maxContainers: 3, maxKeys: 2};
	t.deepEqual(parse('[[],[]]', bounds), [[], []]);
	for (const [text, pointer] of [
		['[[],[],[]]', '/2'],
		['{"a":1,"b":2,"c":3}', ''],
	] as const) {
		const error = t.throws(() => parse(text, bounds), {instanceOf: BailiffError});
		t.is(error?.code, 'CORE_JSON_TOO_LARGE');
		t.is(error?.details['pointer'], pointer);
	}
});

test('a fault names its line and its place', t => {
	const fault = faultOf('{\n"a": [1,\nx]}');
	t.like(fault?.details, {line: 3, pointer: '/a/1'});
});

test('pointerToken() escapes as RFC 6901 says', t => {
	t.is(pointerToken('a/b~c'), 'a~1b~0c');
	t.is(faultOf('{"a/b~":[x]}')?.details['pointer'], '/a~1b~0/0');
});

const wide = {maxBytes: 1_000_000, maxDepth: 1000, anyNumber: true};

test('what JSON.stringify writes is read back as the same value', t => {
	fc.assert(
		fc.property(fc.jsonValue({noUnicodeString: false}), value => {
			const text = JSON.stringify(value);
			fc.pre(!text.includes('__proto__') && text.isWellFormed() && !/\\ud[89a-f]/i.test(text));
			t.is(JSON.stringify(parse(text, wide)), text);
		}),
	);
});

test('any bytes give a value that JSON.parse gives too, or a refusal', t => {
	const pieces = fc.constantFrom(
		'{',
		'}',
		'[',
		']',
		',',
		':',
		'"',
		'"a"',
		'"\\u0061"',
		'1',
		'-',
		'0',
		'.5',
		'e9',
		'true',
		'nul',
		' ',
		'\n',
		'\\',
		'\u0000',
		'\u{1f600}',
	);
	const texts = fc.oneof(
		fc.array(pieces, {maxLength: 14}).map(list => list.join('')),
		fc.string({unit: 'binary'}),
	);
	fc.assert(
		fc.property(texts, text => {
			if (faultOf(text, wide) === null) {
				t.is(JSON.stringify(parse(text, wide)), JSON.stringify(JSON.parse(text)));
			}
		}),
		{numRuns: 3000},
	);
});

test('random bytes never do anything but give a value or a refusal', t => {
	fc.assert(
		fc.property(fc.uint8Array({maxLength: 60}), bytes => {
			faultOf(bytes, wide);
		}),
		{numRuns: 3000},
	);
	t.pass();
});
