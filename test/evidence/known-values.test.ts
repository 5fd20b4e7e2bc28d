import {createHash, randomBytes} from 'node:crypto';
import test from 'ava';
import * as fc from 'fast-check';
import {KnownValues, noKnownValues} from '../../evidence/known-values.ts';
import {scanOutput} from '../../evidence/secret-scan.ts';

const value = 'Kw7/+zQ~"\\ä 9pL';
const known = new KnownValues([value]);
const utf8 = Buffer.from(value);

function fold(text: string, width: number, end: string): string {
	return text.replaceAll(new RegExp(`.{${width}}`, 'g'), line => line + end);
}

const aligned = (before: number, after: number): string => Buffer.concat([randomBytes(before), utf8, randomBytes(after)]).toString('base64');
const escaped = JSON.stringify(value).slice(1, -1);
const ascii = Array.from(escaped)
	.map(character => (character.charCodeAt(0) > 0x7e ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : character))
	.join('');

const spellings: Readonly<Record<string, string | Buffer>> = {
	'as it is': utf8,
	'in UTF-16LE': Buffer.from(value, 'utf16le'),
	'in UTF-16BE': Buffer.from(value, 'utf16le').swap16(),
	'in hexadecimal': utf8.toString('hex'),
	'in upper-case hexadecimal': utf8.toString('hex').toUpperCase(),
	'in hexadecimal with blanks': utf8.toString('hex').replaceAll(/../g, pair => `${pair} `),
	'percent-encoded': encodeURIComponent(value),
	'percent-encoded in lower case': encodeURIComponent(value).replaceAll(/%../g, escape => escape.toLowerCase()),
	'percent-encoded in every byte': utf8.toString('hex').replaceAll(/../g, pair => `%${pair}`),
	'percent-encoded in parts': value.replace('/', '%2F'),
	'JSON-escaped': escaped,
	'JSON-escaped in ASCII': ascii,
	'JSON-escaped with escaped slashes': escaped.replaceAll('/', '\\/'),
	'JSON in JSON': JSON.stringify(escaped),
	'escaped for a shell': value.replaceAll(/[^A-Za-z0-9ä]/g, character => `\\${character}`),
	'in base64': aligned(0, 0),
	...Object.fromEntries(
		[0, 1, 2, 3].flatMap(before => [0, 1, 2].map(after => [`in base64, ${before} bytes before and ${after} after`, aligned(before, after)])),
	),
	'in base64 for addresses': aligned(1, 1).replaceAll('+', '-').replaceAll('/', '_'),
	'in base64 folded at 64': fold(aligned(90, 90), 64, '\n'),
	'in base64 folded at 76': fold(aligned(100, 90), 76, '\r\n'),
	'in base64 folded at 10 and indented': fold(aligned(7, 7), 10, '\n    '),
	'in base64 in JSON': JSON.stringify(aligned(40, 40)).replaceAll('/', '\\/'),
	'in base64, percent-encoded': encodeURIComponent(aligned(1, 0)),
	'with a colour': `${value.slice(0, 5)}\u001b[32m${value.slice(5)}`,
	'with a colour in base64': aligned(2, 2).replaceAll(/.{7}/g, part => `${part}\u001b[0m`),
	'with zero-width spaces': Array.from(value).join('\u200b'),
	'folded by a terminal': `${value.slice(0, 8)}\n${value.slice(8)}`,
};

for (const [title, spelling] of Object.entries(spellings)) {
	test(`a known value is found ${title}`, t => {
		const bytes = Buffer.concat([Buffer.from('before '), Buffer.from(spelling), Buffer.from(' after')]);
		const scanned = scanOutput(bytes, known);
		t.true(scanned.redactions.length > 0);
		t.true(scanned.redactions.every(redaction => redaction.rule === 'known-value'));
		// Where folds are looked through, a neighbour can be taken for the character that shares bits of the value.
		t.regex(scanned.stored.toString('latin1'), /^befor[^]{0,200}\[REDACTED\][^]{0,200}fter$/);
		t.is(scanOutput(scanned.stored, known).redactions.length, 0);
	});
}

test('no run of the base64 that depends on the value is left, at any alignment', t => {
	fc.assert(
		fc.property(
			fc.uint8Array({minLength: 8, maxLength: 60}),
			fc.uint8Array({maxLength: 70}),
			fc.uint8Array({maxLength: 70}),
			fc.constantFrom(4, 20, 64, 76, 1000),
			(secret, before, after, width) => {
				const values = new KnownValues([secret]);
				const folded = fold(Buffer.concat([before, secret, after]).toString('base64'), width, '\n');
				const scanned = scanOutput(Buffer.from(folded), values);
				t.true(scanned.redactions.length > 0);
				if (scanned.isDropped) {
					return;
				}

				const left = scanned.stored
					.toString('latin1')
					.split('[REDACTED]')
					.map(part => part.replaceAll('\n', ''));
				const bits = Buffer.concat([before, secret, after]).toString('base64');
				const first = Math.floor((before.length * 8) / 6);
				const last = Math.ceil(((before.length + secret.length) * 8) / 6);
				t.true((left[0] ?? '').length <= first);
				t.true((left.at(-1) ?? '').length <= bits.length - last);
			},
		),
		{numRuns: 400},
	);
});

test('random values in random places are found plain, hex, percent and JSON-escaped, and nothing of them is left', t => {
	const texts = fc.string({minLength: 8, maxLength: 40, unit: 'binary'}).filter(text => Buffer.byteLength(text.trim()) >= 8 && text.isWellFormed());
	fc.assert(
		fc.property(texts, fc.string({maxLength: 30}), fc.constantFrom('plain', 'hex', 'percent', 'json'), (text, around, how) => {
			const spelled = {plain: text, hex: Buffer.from(text).toString('hex'), percent: encodeURIComponent(text), json: JSON.stringify(text)}[how];
			const scanned = scanOutput(Buffer.from(`${around} ${spelled} ${around}`), new KnownValues([text]));
			t.true(scanned.redactions.length > 0);
			t.false(scanned.stored.includes(spelled));
		}),
		{numRuns: 600},
	);
});

test('a value that a bound cuts in two is found at the end of the output', t => {
	const secret = 'correct-horse-battery';
	const values = new KnownValues([secret]);
	for (let length = 8; length < secret.length; length++) {
		t.is(scanOutput(Buffer.from(`x ${secret.slice(0, length)}`), values).stored.toString(), 'x [REDACTED]');
	}

	t.is(scanOutput(Buffer.from(`x ${secret.slice(0, 7)}`), values).redactions.length, 0);
	const base64 = Buffer.from(secret).toString('base64');
	t.is(scanOutput(Buffer.from(`x ${base64.slice(0, 20)}`), values).stored.toString(), 'x [REDACTED]');
});

test('every long line of a value is one, short lines are none', t => {
	const values = new KnownValues(['first-long-line\nshort\r\n  second-long-line  \n']);
	const scanned = scanOutput(Buffer.from('a first-long-line b short c second-long-line d'), values);
	t.is(scanned.stored.toString(), 'a [REDACTED] b short c [REDACTED] d');
});

test('several values are told apart by nothing', t => {
	const values = new KnownValues(['correct-horse', Buffer.from('battery-staple')]);
	const scanned = scanOutput(Buffer.from('battery-staple correct-horse'), values);
	t.is(scanned.stored.toString(), '[REDACTED] [REDACTED]');
	t.deepEqual(new Set(scanned.redactions.map(redaction => redaction.rule)), new Set(['known-value']));
});

for (const short of ['', '1234567', Buffer.alloc(3)]) {
	test(`a value of ${short.length} bytes is refused without being quoted`, t => {
		const error = t.throws(() => new KnownValues(['long-enough', short]), {code: 'RUN_SENSITIVE_FILE', message: /at least 8/});
		t.notRegex(error.message, /1234567|long-enough/);
	});
}

test('known values never come out of the object that holds them', t => {
	const secret = 'correct-horse-battery';
	const values = new KnownValues([secret]);
	t.is(JSON.stringify({values}), '{"values":"[known values]"}');
	t.true(noKnownValues.isEmpty);
	t.false(values.isEmpty);
	t.false(JSON.stringify(scanOutput(Buffer.from(secret), values)).includes(createHash('sha256').update(secret).digest('hex')));
});

test('many values are found as few are: by each spelling, and with the end cut', t => {
	const values = Array.from({length: 300}, (_, index) => `known-value-number-${index}-`.padEnd(30, 'x'));
	const many = new KnownValues(values);
	const chosen = values[217] ?? '';
	for (const text of [chosen, Buffer.from(chosen).toString('hex'), Buffer.from(`.${chosen}`).toString('base64'), `the end is ${chosen.slice(0, 29)}`]) {
		const few: string[] = [];
		const all: string[] = [];
		new KnownValues([chosen]).search(text, (start, end) => few.push(`${start}-${end}`));
		many.search(text, (start, end) => all.push(`${start}-${end}`));
		t.true(few.length > 0, text);
		t.true(
			few.every(place => all.includes(place)),
			text,
		);
	}
});
