import {execFileSync} from 'node:child_process';
import {linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {readInputFile} from '../../cli/input-file.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

test('the bytes and digest of a named file come back, also through a link and under a second name', t => {
	const directory = temporaryDirectory(t);
	writeFileSync(path.join(directory, 'a'), 'abc');
	symlinkSync('a', path.join(directory, 'link'));
	linkSync(path.join(directory, 'a'), path.join(directory, 'twin'));
	for (const name of ['a', 'link', 'twin']) {
		const {bytes, sha256} = readInputFile(path.join(directory, name), 3);
		t.is(bytes.toString(), 'abc');
		t.is(sha256, 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
	}
});

test('a file of more than the limit is refused unread, with the limit, however large it says it is', t => {
	const file = path.join(temporaryDirectory(t), 'sparse');
	writeFileSync(file, '');
	truncateSync(file, 2 ** 31);
	t.throws(() => readInputFile(file, 1_048_576), {code: 'CORE_FILE_TOO_LARGE', message: /has 2147483648 bytes, the limit is 1048576/});
});

test('a FIFO is refused without waiting for a writer', t => {
	const file = path.join(temporaryDirectory(t), 'fifo');
	execFileSync('mkfifo', [file]);
	t.throws(() => readInputFile(file, 10), {code: 'CORE_FILE_NOT_REGULAR', message: /is a FIFO, a regular file was expected/});
});

test('a directory, a device and a link that goes nowhere are refused by name', t => {
	const directory = temporaryDirectory(t);
	mkdirSync(path.join(directory, 'sub'));
	symlinkSync('nowhere', path.join(directory, 'dangling'));
	symlinkSync('circle', path.join(directory, 'circle'));
	t.throws(() => readInputFile(path.join(directory, 'sub'), 10), {code: 'CORE_FILE_NOT_REGULAR', message: /is a directory/});
	t.throws(() => readInputFile('/', 10), {code: 'CORE_FILE_NOT_REGULAR', message: /is a directory/});
	t.throws(() => readInputFile('/dev/zero', 10), {code: 'CORE_FILE_NOT_REGULAR', message: /is a device/});
	t.throws(() => readInputFile(path.join(directory, 'dangling'), 10), {code: 'CORE_FILE_UNREADABLE', message: /is not there/});
	t.throws(() => readInputFile(path.join(directory, 'circle'), 10), {code: 'CORE_FILE_UNREADABLE', message: /ELOOP/});
});
