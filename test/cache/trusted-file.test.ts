import {execFileSync} from 'node:child_process';
import {chmodSync, chownSync, linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import * as z from 'zod';
import {createTrustedFile, documentBytes, type FileRefusals, readDocument, readTrustedFile, replaceDocument} from '../../cache/trusted-file.ts';
import {codeOf, refusalOf} from '../helpers/refusal.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const refusals: FileRefusals = {
	missing: 'CACHE_AUTHORITY_NOT_FOUND',
	untrusted: 'CACHE_AUTHORITY_UNTRUSTED',
	unreadable: 'CACHE_AUTHORITY_UNREADABLE',
	malformed: 'CACHE_AUTHORITY_MALFORMED',
};
const schema = z.strictObject({schema: z.literal('x/v1'), n: z.int().min(1)});
const good = '{"schema": "x/v1", "n": 1}';

const untouched = [
	['a file that is not there', () => {}, 'CACHE_AUTHORITY_NOT_FOUND'],
	['a directory that is not there', (file: string) => `${file}/deeper/x.json`, 'CACHE_AUTHORITY_NOT_FOUND'],
	['a link', (file: string) => symlinkSync('/etc/hostname', file), 'CACHE_AUTHORITY_UNTRUSTED'],
	['a link to nowhere', (file: string) => symlinkSync('/nonexistent/x', file), 'CACHE_AUTHORITY_UNTRUSTED'],
	['a directory', (file: string) => mkdirSync(file), 'CACHE_AUTHORITY_UNTRUSTED'],
	['a FIFO, which is never waited for', (file: string) => void execFileSync('mkfifo', [file]), 'CACHE_AUTHORITY_UNTRUSTED'],
	['a file that the group may write', (file: string) => written(file, good, 0o660), 'CACHE_AUTHORITY_UNTRUSTED'],
	['a file that everybody may write', (file: string) => written(file, good, 0o602), 'CACHE_AUTHORITY_UNTRUSTED'],
	['a file with a second name', (file: string) => (written(file, good, 0o600), linkSync(file, `${file}.2`)), 'CACHE_AUTHORITY_UNTRUSTED'],
	['a file of more than 1 MiB', (file: string) => written(file, ' '.repeat(1_048_577), 0o600), 'CACHE_AUTHORITY_MALFORMED'],
] as const;

for (const [title, prepare, code] of untouched) {
	test(`refused: ${title}`, t => {
		const file = path.join(temporaryDirectory(t), 'x.json');
		const other = prepare(file);
		const asked = typeof other === 'string' ? other : file;
		t.is(
			codeOf(() => readDocument(asked, schema, {refusals})),
			code,
		);
	});
}

const malformed = [
	['an unknown key', '{"schema": "x/v1", "n": 1, "extra": 2}', /\/extra: .*not known/],
	['a missing key', '{"schema": "x/v1"}', /\/n: .*missing/],
	['another schema', '{"schema": "x/v2", "n": 1}', /\/schema: /],
	['a boolean for a number', '{"schema": "x/v1", "n": true}', /\/n: /],
	['zero', '{"schema": "x/v1", "n": 0}', /\/n: /],
	['a key twice', '{"schema": "x/v1", "n": 1, "n": 2}', /twice/],
	['a byte order mark', `\uFEFF${good}`, /byte order mark/],
	['half a surrogate pair', '{"schema": "x/v1\\ud800", "n": 1}', /surrogate/],
	['a number with a fraction', '{"schema": "x/v1", "n": 1.0}', /digits only/],
	['nothing', '', /no JSON value/],
	['something behind', `${good} {}`, /follows/],
] as const;

for (const [title, text, message] of malformed) {
	test(`malformed, and the message says where: ${title}`, t => {
		const file = written(path.join(temporaryDirectory(t), 'x.json'), text, 0o644);
		const refusal = refusalOf(() => readDocument(file, schema, {refusals}));
		t.is(refusal?.code, 'CACHE_AUTHORITY_MALFORMED');
		t.regex(refusal?.message ?? '', message);
		t.true(refusal?.message.includes(file));
	});
}

test('a private file has mode 0600 exactly; the message names the command', t => {
	const file = written(path.join(temporaryDirectory(t), 'x'), 'text', 0o640);
	const refusal = refusalOf(() => readTrustedFile(file, {refusals, isPrivate: true}));
	t.is(refusal?.code, 'CACHE_AUTHORITY_UNTRUSTED');
	t.true(refusal?.message.includes(`chmod 600 ${file}`));
	chmodSync(file, 0o600);
	t.is(readTrustedFile(file, {refusals, isPrivate: true}).toString(), 'text');
});

test('a file of another user is refused; one of root only where that is said', t => {
	const file = written(path.join(temporaryDirectory(t), 'x'), 'text', 0o600);
	const isRoot = process.geteuid?.() === 0;
	if (isRoot) {
		chownSync(file, 12_345, 12_345);
	}

	const foreign = isRoot ? file : '/etc/passwd';
	const refusal = refusalOf(() => readTrustedFile(foreign, {refusals}));
	t.is(refusal?.code, 'CACHE_AUTHORITY_UNTRUSTED');
	t.regex(refusal?.message ?? '', isRoot ? /belongs to uid 12345/ : /belongs to uid 0/);
	t.true(readTrustedFile('/etc/passwd', {refusals, mayBeRoots: true}).length > 0);
});

test('a link above the directory is the caller’s own word and is followed', t => {
	const base = temporaryDirectory(t);
	mkdirSync(path.join(base, 'real'));
	symlinkSync('real', path.join(base, 'link'));
	written(path.join(base, 'real/x.json'), good, 0o600);
	t.deepEqual(readDocument(path.join(base, 'link/x.json'), schema, {refusals}), {schema: 'x/v1', n: 1});
});

test('a document is replaced whole, mode 0600, and nothing stays beside it', t => {
	const base = temporaryDirectory(t);
	const file = written(path.join(base, 'x.json'), good, 0o644);
	replaceDocument(file, {schema: 'x/v1', n: 2});
	t.is(readDocument(file, schema, {refusals}).n, 2);
	t.is(lstatSync(file).mode & 0o7777, 0o600);
	t.deepEqual(readdirSync(base), ['x.json']);
});

test('a document that cannot be put in place leaves what was there', t => {
	const base = temporaryDirectory(t);
	mkdirSync(path.join(base, 'x.json/full'), {recursive: true});
	t.is(
		codeOf(() => replaceDocument(path.join(base, 'x.json'), {})),
		'CACHE_WRITE_FAILED',
	);
	t.deepEqual(readdirSync(base), ['x.json']);
});

test('a new file never replaces one, not even a link to nowhere', t => {
	const base = temporaryDirectory(t);
	t.true(createTrustedFile(path.join(base, 'a'), documentBytes({n: 1})));
	t.is(readFileSync(path.join(base, 'a'), 'utf8'), '{\n  "n": 1\n}\n');
	t.false(createTrustedFile(path.join(base, 'a'), Buffer.from('other')));
	symlinkSync('/nonexistent/x', path.join(base, 'b'));
	t.false(createTrustedFile(path.join(base, 'b'), Buffer.from('other')));
	t.is(readFileSync(path.join(base, 'a'), 'utf8'), '{\n  "n": 1\n}\n');
});

function written(file: string, text: string, mode: number): string {
	writeFileSync(file, text);
	chmodSync(file, mode);
	return file;
}
