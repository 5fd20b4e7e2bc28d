import {chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test from 'ava';
import {createPrivateDirectory, createPrivateFile, ensurePrivateDirectory, flushDirectory, writeFully} from '../../core/files.ts';

function withDirectory(use: (directory: string) => void): void {
	const directory = mkdtempSync(join(tmpdir(), 'bailiff-files-'));
	try {
		use(directory);
	} finally {
		rmSync(directory, {recursive: true, force: true});
	}
}

const mode = (path: string): number => statSync(path).mode & 0o7777;

test('createPrivateFile() writes all bytes with mode 0600 and never opens what is there', t => {
	withDirectory(directory => {
		const path = join(directory, 'file');
		const bytes = Buffer.alloc(3_000_000, 0x5a);
		createPrivateFile(path, bytes);
		t.true(readFileSync(path).equals(bytes));
		t.is(mode(path), 0o600);
		t.throws(() => createPrivateFile(path, Buffer.from('other')), {code: 'EEXIST'});
		symlinkSync(join(directory, 'target'), join(directory, 'link'));
		t.throws(() => createPrivateFile(join(directory, 'link'), Buffer.from('other')), {code: 'EEXIST'});
		t.is(statSync(path).size, bytes.length);
	});
});

test.serial('modes are exact under a umask that takes everything', t => {
	withDirectory(directory => {
		const before = process.umask(0o777);
		try {
			createPrivateDirectory(join(directory, 'private'));
			createPrivateFile(join(directory, 'private', 'file'), Buffer.from('x'));
		} finally {
			process.umask(before);
		}

		t.is(mode(join(directory, 'private')), 0o700);
		t.is(mode(join(directory, 'private', 'file')), 0o600);
	});
});

test('writeFully() writes at its position and gives the next one', t => {
	withDirectory(directory => {
		const path = join(directory, 'file');
		writeFileSync(path, 'abcdef');
		const descriptor = openSync(path, 'r+');
		t.is(writeFully(descriptor, Buffer.from('XY'), 2), 4);
		t.is(writeFully(descriptor, Buffer.alloc(0), 4), 4);
		closeSync(descriptor);
		t.is(readFileSync(path, 'utf8'), 'abXYef');
	});
});

test('writeFully() throws what the kernel says', t => {
	const descriptor = openSync('/dev/full', 'w');
	t.throws(() => writeFully(descriptor, Buffer.from('x'), 0), {code: 'ENOSPC'});
	closeSync(descriptor);
});

test('ensurePrivateDirectory() creates what is missing and accepts what is private', t => {
	withDirectory(directory => {
		const path = join(directory, 'private');
		ensurePrivateDirectory(path, directory);
		ensurePrivateDirectory(path, directory);
		t.is(mode(path), 0o700);
	});
});

for (const [title, put, code] of [
	['a directory of mode 0755', (path: string) => mkdirSync(path, {mode: 0o755}), 'CORE_FILE_UNTRUSTED'],
	[
		'a set-group-id directory',
		(path: string) => {
			mkdirSync(path);
			chmodSync(path, 0o2700);
		},
		'CORE_FILE_UNTRUSTED',
	],
	['a file', (path: string) => writeFileSync(path, ''), 'CORE_FILE_NOT_REGULAR'],
	['a link to a directory', (path: string) => symlinkSync(tmpdir(), path), 'CORE_FILE_NOT_REGULAR'],
] as const) {
	test(`ensurePrivateDirectory() refuses ${title} and changes nothing`, t => {
		withDirectory(directory => {
			const path = join(directory, 'private');
			put(path);
			const before = statSync(path).mode;
			t.throws(() => ensurePrivateDirectory(path, directory), {code});
			t.is(statSync(path).mode, before);
		});
	});
}

test('flushDirectory() refuses what is no directory', t => {
	withDirectory(directory => {
		flushDirectory(directory);
		writeFileSync(join(directory, 'file'), '');
		t.throws(() => flushDirectory(join(directory, 'file')), {code: 'ENOTDIR'});
	});
});
