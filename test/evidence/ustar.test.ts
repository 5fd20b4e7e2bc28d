import test from 'ava';
import {assert, integer, nat, property, string, stringMatching, tuple, uniqueArray} from 'fast-check';
import {BailiffError} from '../../core/errors.ts';
import {type UstarFile, UstarReader, ustarEnd, ustarHeader, ustarPadding} from '../../evidence/ustar.ts';

const limits = {maxEntries: 8, maxEntryBytes: 4096};

function tarOf(files: ReadonlyArray<readonly [path: string, content: string]>): Buffer {
	const parts = files.flatMap(([path, content]) => {
		const bytes = Buffer.byteLength(content);
		return [ustarHeader({path, bytes, mode: 0o600, mtime: 7}), Buffer.from(content), ustarPadding(bytes)];
	});
	return Buffer.concat([...parts, ustarEnd]);
}

function readAll(tar: Buffer, chunkBytes = 1000): Array<[string, string]> {
	const found: Array<[string, string]> = [];
	const reader = new UstarReader(limits, (file, content) => found.push([file.path, content.toString('latin1')]));
	for (let at = 0; at < tar.length; at += chunkBytes) {
		reader.push(tar.subarray(at, at + chunkBytes));
	}

	reader.end();
	return found;
}

/** A header with some bytes changed and its checksum put right. */
function forged(file: UstarFile, changes: ReadonlyArray<readonly [at: number, text: string]>): Buffer {
	const header = ustarHeader(file);
	for (const [at, text] of changes) {
		header.write(text, at, 'latin1');
	}

	header.write('        ', 148, 'latin1');
	const sum = header.reduce((total, byte) => total + byte, 0);
	header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
	return header;
}

const entry: UstarFile = {path: 'b', bytes: 0, mode: 0o600, mtime: 7};

const hostile: ReadonlyArray<readonly [title: string, tar: () => Buffer]> = [
	[
		'a symbolic link',
		() =>
			Buffer.concat([
				forged(entry, [
					[156, '2'],
					[157, '/etc/passwd'],
				]),
				ustarEnd,
			]),
	],
	[
		'a hard link',
		() =>
			Buffer.concat([
				forged(entry, [
					[156, '1'],
					[157, 'a'],
				]),
				ustarEnd,
			]),
	],
	['a character device', () => Buffer.concat([forged(entry, [[156, '3']]), ustarEnd])],
	['a directory', () => Buffer.concat([forged(entry, [[156, '5']]), ustarEnd])],
	['a FIFO', () => Buffer.concat([forged(entry, [[156, '6']]), ustarEnd])],
	['a pax extension', () => Buffer.concat([forged(entry, [[156, 'x']]), ustarEnd])],
	['a GNU long name', () => Buffer.concat([forged(entry, [[156, 'L']]), ustarEnd])],
	['a GNU sparse file', () => Buffer.concat([forged(entry, [[156, 'S']]), ustarEnd])],
	['an old plain file with a NUL as type', () => Buffer.concat([forged(entry, [[156, '\0']]), ustarEnd])],
	['a name in the prefix field', () => Buffer.concat([forged(entry, [[345, '../..']]), ustarEnd])],
	['an owner', () => Buffer.concat([forged(entry, [[108, '0000001']]), ustarEnd])],
	['the name of an owner', () => Buffer.concat([forged(entry, [[265, 'root']]), ustarEnd])],
	['a size in base 256', () => Buffer.concat([forged(entry, [[124, '\u0080\0\0\0\0\0\0\0\0\0\0\0']]), ustarEnd])],
	['a negative size', () => Buffer.concat([forged(entry, [[124, '-0000000001']]), ustarEnd])],
	['bytes behind the end of a name', () => Buffer.concat([forged(entry, [[2, 'hidden']]), ustarEnd])],
	[
		'a wrong checksum',
		() => {
			const header = ustarHeader(entry);
			header.write('000000', 148, 'latin1');
			return Buffer.concat([header, ustarEnd]);
		},
	],
	[
		'a twin',
		() =>
			tarOf([
				['a', '1'],
				['a', '2'],
			]),
	],
	[
		'another order',
		() =>
			tarOf([
				['b', '1'],
				['a', '2'],
			]),
	],
	['bytes after the end', () => Buffer.concat([tarOf([['a', '1']]), Buffer.alloc(512)])],
	['a second tar after the end', () => Buffer.concat([tarOf([['a', '1']]), tarOf([['b', '1']])])],
	['one block of zeros alone', () => tarOf([['a', '1']]).subarray(0, -512)],
	['a file after one block of zeros', () => Buffer.concat([Buffer.alloc(512), tarOf([['a', '1']])])],
	['no end', () => tarOf([['a', '1']]).subarray(0, -1024)],
	['half a header', () => tarOf([['a', '1']]).subarray(0, 100)],
	['half a content', () => tarOf([['a', '1234']]).subarray(0, 514)],
	[
		'bytes in the padding',
		() => {
			const tar = tarOf([['a', '1']]);
			tar[600] = 1;
			return tar;
		},
	],
	['nothing', () => Buffer.alloc(0)],
	['more entries than allowed', () => tarOf(Array.from({length: 9}, (_, index) => [`f${index}`, '']))],
	['a larger entry than allowed', () => Buffer.concat([ustarHeader({...entry, bytes: 4097}), Buffer.alloc(4608), ustarEnd])],
	['an entry of 8 GiB', () => Buffer.concat([ustarHeader({...entry, bytes: 0o77777777777}), ustarEnd])],
	['compressed bytes', () => Buffer.from('1f8b0800', 'hex')],
];

for (const [title, tar] of hostile) {
	test(`a tar with ${title} is refused, however it is cut`, t => {
		for (const chunkBytes of [1, 511, 512, 513, 100_000]) {
			t.is(t.throws(() => readAll(tar(), chunkBytes), {instanceOf: BailiffError})?.code, 'EVIDENCE_BUNDLE_INVALID');
		}
	});
}

test('what was written is read again, however it is cut', t => {
	const files = uniqueArray(tuple(stringMatching(/^[a-z/]{1,20}$/), string({maxLength: 1100, unit: 'binary-ascii'})), {
		maxLength: 8,
		selector: ([name]) => name,
	});
	assert(
		property(files, integer({min: 1, max: 2000}), (list, chunkBytes) => {
			const sorted = list.toSorted(([left], [right]) => (left < right ? -1 : 1));
			t.deepEqual(readAll(tarOf(sorted), chunkBytes), sorted);
		}),
		{numRuns: 60},
	);
});

test('random changes of one byte never crash the reader', t => {
	const tar = tarOf([
		['a', 'one'],
		['b', 'two'],
	]);
	assert(
		property(nat(tar.length - 1), integer({min: 1, max: 255}), (at, change) => {
			const bytes = Buffer.from(tar);
			bytes[at] = (bytes[at] ?? 0) ^ change;
			try {
				readAll(bytes);
			} catch (error) {
				t.true(error instanceof BailiffError);
			}
		}),
		{numRuns: 300},
	);
});

for (const path of ['', 'x'.repeat(101), 'a b', 'ä', 'a\0b']) {
	test(`a name that no plain tar can hold is not written: ${JSON.stringify(path.slice(0, 20))}`, t => {
		t.throws(() => ustarHeader({...entry, path}), {instanceOf: BailiffError});
	});
}
