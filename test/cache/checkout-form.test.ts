import test from 'ava';
import * as fc from 'fast-check';
import {matchCrlfForm, parseLfsPointer, toCrlfForm} from '../../cache/checkout-form.ts';
import {gitObjectId} from '../../cache/git-objects.ts';

const forms: ReadonlyArray<readonly [title: string, blob: string, always: string, onlyText: string]> = [
	['turns LF to CRLF', 'a\nb\n', 'a\r\nb\r\n', 'a\r\nb\r\n'],
	['keeps a text without line ends', 'a', 'a', 'a'],
	['keeps CRLF, and under text=auto a blob that has any', 'a\r\nb\n', 'a\r\nb\r\n', 'a\r\nb\n'],
	['keeps a lone CR', 'a\rb\n', 'a\rb\r\n', 'a\rb\n'],
	['keeps binary content under text=auto', 'a\u0000\n', 'a\u0000\r\n', 'a\u0000\n'],
	['keeps content with many control characters under text=auto', 'a\u0001\n', 'a\u0001\r\n', 'a\u0001\n'],
	['takes tab, escape and form feed for text', '\t\u001b\f\b\n', '\t\u001b\f\b\r\n', '\t\u001b\f\b\r\n'],
	['takes a closing Ctrl-Z for text', 'a\n\u001a', 'a\r\n\u001a', 'a\r\n\u001a'],
	['turns empty lines', '\n\n', '\r\n\r\n', '\r\n\r\n'],
];
for (const [title, blob, always, onlyText] of forms) {
	test(`toCrlfForm() ${title}`, t => {
		t.is(toCrlfForm(Buffer.from(blob), 'crlf').toString(), always);
		t.is(toCrlfForm(Buffer.from(blob), 'crlf-auto').toString(), onlyText);
	});
}

const smallBytes = fc.array(fc.constantFrom(0x61, 0x0d, 0x0a, 0x00, 0xff), {maxLength: 12}).map(bytes => Buffer.from(bytes));

test('matchCrlfForm() knows the form of every blob, or says that it cannot', t => {
	fc.assert(
		fc.property(smallBytes, fc.constantFrom('crlf' as const, 'crlf-auto' as const), (blob, form) => {
			const match = matchCrlfForm(toCrlfForm(blob, form), gitObjectId('blob', blob), form);
			return match === true || (match === 'unknown' && blob.includes('\r\n'));
		}),
	);
	t.pass();
});

test('matchCrlfForm() never takes other bytes for the form of a blob', t => {
	fc.assert(
		fc.property(smallBytes, smallBytes, fc.constantFrom('crlf' as const, 'crlf-auto' as const), (blob, bytes, form) => {
			const isForm = toCrlfForm(blob, form).equals(bytes);
			return isForm || matchCrlfForm(bytes, gitObjectId('blob', blob), form) !== true;
		}),
	);
	t.pass();
});

const oid = 'a'.repeat(64);
const pointers: ReadonlyArray<readonly [title: string, blob: string, isPointer: boolean]> = [
	['a plain pointer', `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 12\n`, true],
	['a pointer with an extension', `version https://git-lfs.github.com/spec/v1\next-0-foo sha256:${oid}\noid sha256:${oid}\nsize 12\n`, true],
	['another version', `version https://example.invalid/v1\noid sha256:${oid}\nsize 12\n`, false],
	['a short id', 'version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12\n', false],
	['no size', `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\n`, false],
	['a negative size', `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize -1\n`, false],
	['something long', `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 12\n${'x'.repeat(1024)}`, false],
	['nothing', '', false],
];
for (const [title, blob, isPointer] of pointers) {
	test(`parseLfsPointer() ${isPointer ? 'reads' : 'refuses'} ${title}`, t => {
		t.deepEqual(parseLfsPointer(Buffer.from(blob)), isPointer ? {sha256: oid, bytes: 12} : null);
	});
}
