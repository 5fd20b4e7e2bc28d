import {randomBytes} from 'node:crypto';
import test from 'ava';
import * as fc from 'fast-check';
import {KnownValues, noKnownValues} from '../../evidence/known-values.ts';
import {findSecrets, maxRedactions, redactionMark, remapOffset, type ScannedOutput, scanOutput} from '../../evidence/secret-scan.ts';

const mark = '[REDACTED]';
/** Made up at run time, so that this file holds nothing that looks like a token. */
const token = `ghp_${randomBytes(18).toString('hex')}`;
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

function scan(text: string | Buffer, known: KnownValues = noKnownValues): ScannedOutput & {readonly text: string} {
	const scanned = scanOutput(typeof text === 'string' ? Buffer.from(text) : text, known);
	return {...scanned, text: scanned.stored.toString('latin1')};
}

test('an output without a secret is stored as the very same bytes', t => {
	const bytes = randomBytes(1000);
	const scanned = scanOutput(bytes, noKnownValues);
	t.is(scanned.stored, bytes);
	t.deepEqual(scanned.redactions, []);
	t.false(scanned.isDropped);
});

test('a hit is replaced by the mark, and its offset is one in the stored file', t => {
	const scanned = scan(`one ${token} two ${token}\nthree`);
	t.is(scanned.text, `one ${mark} two ${mark}\nthree`);
	t.deepEqual(scanned.redactions, [
		{offset: 4, length: 10, rule: 'github-token'},
		{offset: 19, length: 10, rule: 'github-token'},
	]);
});

test('a hit at the very beginning, at the very end and a hit that is everything', t => {
	t.is(scan(token).text, mark);
	t.is(scan(`${token} x`).text, `${mark} x`);
	t.is(scan(`x ${token}`).text, `x ${mark}`);
});

test('hits that overlap are one, under the rule that stands first', t => {
	const scanned = scan(`password=${token}`);
	t.is(scanned.text, `password=${mark}`);
	t.deepEqual(scanned.redactions, [{offset: 9, length: 10, rule: 'github-token'}]);
});

const split: ReadonlyArray<{readonly title: string; readonly text: string | Buffer}> = [
	{title: 'a colour in the middle', text: `${token.slice(0, 9)}\u001b[1;31m${token.slice(9)}`},
	{title: 'a colour after every character', text: Array.from(token).join('\u001b[0m')},
	{title: 'a title in the middle', text: `${token.slice(0, 9)}\u001b]0;a title\u0007${token.slice(9)}`},
	{title: 'a charset escape in the middle', text: `${token.slice(0, 9)}\u001b(B${token.slice(9)}`},
	{title: 'an eight-bit control sequence in the middle', text: `${token.slice(0, 9)}\u009b31m${token.slice(9)}`},
	{title: 'a zero-width space in the middle', text: `${token.slice(0, 9)}\u200b${token.slice(9)}`},
	{
		title: 'invisible characters of many kinds',
		text: Array.from(token)
			.map((character, index) => character + '\u200b\u200d\u2060\ufeff\u00ad\u034f\u202e\ufe0f\u{e0061}'.charAt(index % 8))
			.join(''),
	},
	{title: 'a carriage return in the middle', text: `${token.slice(0, 9)}\r${token.slice(9)}`},
	{title: 'a character that a backspace took away', text: `${token.slice(0, 9)}X\b${token.slice(9)}`},
	{title: 'a NUL in the middle', text: `${token.slice(0, 9)}\0${token.slice(9)}`},
	{title: 'a line that a carriage return overwrites', text: `0123456789\r${token.slice(0, 9)}  \b\b${token.slice(9)}`},
	{title: 'a cursor movement back', text: `${token.slice(0, 9)}XX\u001b[2D${token.slice(9)}`},
	{title: 'a bell in the middle', text: `${token.slice(0, 9)}\u0007${token.slice(9)}`},
	{title: 'UTF-16LE', text: Buffer.from(`name ${token} end`, 'utf16le')},
	{title: 'UTF-16BE', text: Buffer.from(`name ${token} end`, 'utf16le').swap16()},
	{title: 'UTF-16LE at an odd offset', text: Buffer.concat([latin1('x'), Buffer.from(token, 'utf16le')])},
	{title: 'UTF-16LE with zero-width spaces', text: Buffer.from(Array.from(token).join('\u200b'), 'utf16le')},
	{title: 'UTF-16LE with a colour', text: Buffer.from(`${token.slice(0, 9)}\u001b[31m${token.slice(9)}`, 'utf16le')},
	{title: 'UTF-32LE', text: Buffer.concat(Array.from(token).map(character => Buffer.from([character.charCodeAt(0), 0, 0, 0])))},
	{title: 'the text of a title, split by a zero-width space', text: `\u001b]0;${token.slice(0, 9)}\u200b${token.slice(9)}\u0007`},
	{title: 'the address of a link', text: `\u001b]8;;https://example.org/${token}\u001b\\click\u001b]8;;\u001b\\`},
	{title: 'a title without an end before it', text: `\u001b]0;${'x'.repeat(5000)} ${token.slice(0, 9)}\u001b[0m${token.slice(9)}`},
];

for (const {title, text} of split) {
	test(`a token is found through ${title}`, t => {
		const scanned = scan(text);
		t.true(scanned.redactions.length > 0);
		const rest = scanned.text.replaceAll('\0', '').replaceAll(mark, '');
		for (let at = 4; at + 8 <= token.length; at++) {
			t.false(rest.includes(token.slice(at, at + 8)), rest);
		}
	});
}

const switches: ReadonlyArray<{readonly title: string; readonly text: string}> = [
	{title: 'secretlint-disable', text: `/* secretlint-disable */\n${token}\n`},
	{title: 'gitleaks:allow', text: `${token} # gitleaks:allow\n`},
	{title: 'pragma: allowlist secret', text: `${token} # pragma: allowlist secret\n`},
	{title: 'nosec', text: `${token} # nosec nolint noqa\n`},
	{title: 'a mark before it', text: `${mark}${token}`},
	{title: 'many marks and a label before it', text: `token=${mark.repeat(300)}${token}`},
	{title: 'a mask command of a CI', text: `::stop-commands::x\n${token}`},
	{title: 'an unterminated escape before it', text: `\u001b[${token}`},
	{title: 'another screen', text: `\u001b[?1049h${token}\u001b[?1049l`},
	{title: 'text that is hidden by colour', text: `\u001b[8m${token}\u001b[28m`},
	{title: 'a binary prefix', text: `\u0000\u0001\u0002ELF${token}`},
];

for (const {title, text} of switches) {
	test(`nothing in the output switches the scan off: ${title}`, t => {
		const scanned = scan(text);
		t.true(scanned.redactions.length > 0);
		t.false(scanned.text.includes(token));
	});
}

test('a password behind a mark is still one', t => {
	t.is(scan(`password=${mark}hunter22!x`).text, `password=${mark}${mark}`);
});

test('a hit that stands in another order than it is read drops the output', t => {
	const back = scan(`${' '.repeat(20)}${token.slice(20)}\r${token.slice(0, 20)}`);
	t.true(back.isDropped);
	t.is(back.text, mark);
	t.deepEqual(back.redactions, [{offset: 0, length: 10, rule: 'github-token'}]);
});

function lines(count: number): string {
	return Array.from({length: count}, (_, index) => `${index} ${token}\n`).join('');
}

test('more than 1,000 hits drop the output, 1,000 do not', t => {
	const kept = scan(lines(maxRedactions));
	t.false(kept.isDropped);
	t.is(kept.redactions.length, maxRedactions);
	const dropped = scan(lines(maxRedactions + 1));
	t.true(dropped.isDropped);
	t.is(dropped.text, mark);
	t.deepEqual(dropped.redactions, [{offset: 0, length: 10, rule: 'github-token'}]);
});

/** Outputs of pieces that are secrets, plain text, controls and marks. */
const pieces = fc.oneof(
	fc.constantFrom(token, `${token.slice(0, 7)}\u001b[0m${token.slice(7)}`, `${token.slice(0, 7)}\u200b${token.slice(7)}`, 'password=hunter22!x', mark),
	fc.constantFrom('\n', '\r', '\r\n', ' ', '\0', '\b', '\u001b[K', '\u001b[5D', '"', '\\n', 'token=', 'https://a:', '@'),
	fc.string({maxLength: 12}),
);
const outputs = fc.array(pieces, {maxLength: 25}).map(parts => parts.join(''));
const known = new KnownValues(['correct-horse-battery', Buffer.from('00ff10fe20fd30fc', 'hex')]);

test('what is stored holds nothing more to find, and its marks stand where it says', t => {
	fc.assert(
		fc.property(outputs, fc.boolean(), (text, isWide) => {
			const bytes = Buffer.from(text, isWide ? 'utf16le' : 'utf8');
			const scanned = scanOutput(bytes, known);
			const again = scanOutput(scanned.stored, known);
			t.deepEqual([again.redactions, again.isDropped, again.stored], [[], false, scanned.stored]);
			for (const {offset, length} of scanned.redactions) {
				t.deepEqual(scanned.stored.subarray(offset, offset + length), redactionMark);
			}
		}),
		{numRuns: 1500},
	);
});

test('what is stored is the output with the replaced stretches taken out, and offsets lead from one to the other', t => {
	fc.assert(
		fc.property(outputs, text => {
			const bytes = Buffer.from(text);
			const scanned = scanOutput(bytes, known);
			const parts: Buffer[] = [];
			let reached = 0;
			for (const {start, end} of scanned.replaced) {
				parts.push(bytes.subarray(reached, start), redactionMark);
				reached = end;
			}

			t.deepEqual(Buffer.concat([...parts, bytes.subarray(reached)]), scanned.stored);
			t.is(remapOffset(scanned, 0), 0);
			t.is(remapOffset(scanned, bytes.length), scanned.stored.length);
			let before = 0;
			for (let offset = 0; offset <= bytes.length; offset++) {
				const mapped = remapOffset(scanned, offset);
				t.true(mapped >= before);
				before = mapped;
				if (offset < bytes.length && !scanned.replaced.some(({start, end}) => start <= offset && offset < end)) {
					t.is(scanned.stored[mapped], bytes[offset]);
				}
			}
		}),
		{numRuns: 300},
	);
});

test('any bytes are scanned without an error', t => {
	fc.assert(
		fc.property(fc.uint8Array({maxLength: 400}), bytes => {
			scanOutput(Buffer.from(bytes), known);
		}),
		{numRuns: 1500},
	);
	t.pass();
});

const hostile: Readonly<Record<string, string>> = {
	'heads of tokens': 'eyJ',
	'middles of tokens': '.eyJaaaaaa',
	'begins of keys': '-----BEGIN PRIVATE KEY-----',
	'begins of keys with fields': '-----BEGIN RSA PRIVATE KEY-----\nA-b: x\n',
	'ends of keys': '-----END PRIVATE KEY-----',
	'bodies of keys': 'IBAAKBgQaaaaaaaaaaaaaaaa-',
	labels: 'token=',
	'labels with blanks': 'secret  =  "',
	'labels of paths': 'password=/x',
	marks: mark,
	options: '-password ',
	hyphens: '-',
	logins: 'login a password ',
	addresses: '://a:b',
	'slack prefixes': 'xoxb-',
	escapes: '\u001b]',
	'control sequences': '\u001b[1C',
	titles: `\u001b]${'x'.repeat(4000)}`,
	'eight-bit titles': '\u009d',
	backspaces: 'a\b',
	'carriage returns': 'abc\r',
	backslashes: '\\',
	'unicode escapes': '\\u0061',
	'percent escapes': '%41',
	blanks: ' ',
	'near misses of a known value': 'correct-horse-batterx',
	'known values in rows': 'correct-horse-battery',
	'zero-width spaces': '\u200b',
	'digits and colons': '123456789:',
};

for (const [title, unit] of Object.entries(hostile)) {
	test(`half a mebibyte of ${title} is scanned in time that grows with its length only`, t => {
		const bytes = Buffer.from(unit.repeat(Math.ceil(524_288 / Buffer.byteLength(unit))));
		const start = process.hrtime.bigint();
		scanOutput(bytes, known);
		// Far above what it takes even on a busy machine, far below what a square of the length would take.
		t.true(process.hrtime.bigint() - start < 15_000_000_000n);
	});
}

test('findSecrets() of nothing is nothing', t => {
	t.deepEqual(findSecrets(Buffer.alloc(0)), []);
});
