import {execFileSync} from 'node:child_process';
import {appendFileSync, chmodSync, chownSync, linkSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test from 'ava';
import {sha256Hex} from '../../core/digest.ts';
import {BailiffError} from '../../core/errors.ts';
import {type FileFault, fileFaultOf} from '../../core/file-fault.ts';
import {closing, type FileExpectation, SafeDirectory} from '../../core/safe-file.ts';

function place(t: {teardown: (undo: () => void) => void}): string {
	const directory = mkdtempSync(join(tmpdir(), 'bailiff-safe-file-'));
	t.teardown(() => {
		rmSync(directory, {recursive: true, force: true});
	});
	return directory;
}

function faultOf(act: () => unknown): FileFault | null {
	try {
		act();
	} catch (error) {
		if (error instanceof BailiffError) {
			return fileFaultOf(error);
		}

		throw error;
	}

	return null;
}

function read(directory: string, name: string, expectation: Partial<FileExpectation> = {}): Buffer {
	return closing(SafeDirectory.open(directory), opened => opened.readFile(name, {maxBytes: 1000, ...expectation}).bytes);
}

test('readFile() returns the bytes and their digest', t => {
	const directory = place(t);
	const bytes = Buffer.from([0, 255, 128, 10]);
	writeFileSync(join(directory, 'plain'), bytes, {mode: 0o600});
	const content = closing(SafeDirectory.open(directory), opened => opened.readFile('plain', {maxBytes: 4, bytes: 4, mode: 0o600}));
	t.deepEqual(content.bytes, bytes);
	t.is(content.sha256, sha256Hex(bytes));
});

test('readFile() of an empty file gives no bytes', t => {
	const directory = place(t);
	writeFileSync(join(directory, 'empty'), '');
	t.is(read(directory, 'empty').length, 0);
});

test('digest() over several chunks equals the digest of the whole', t => {
	const directory = place(t);
	const bytes = Buffer.alloc(2_500_001, 'ab');
	writeFileSync(join(directory, 'large'), bytes);
	const digest = closing(SafeDirectory.open(directory), opened => closing(opened.file('large'), file => file.digest(3_000_000)));
	t.deepEqual(digest, {sha256: sha256Hex(bytes), bytes: bytes.length});
});

const hostile: ReadonlyArray<{title: string; fault: FileFault; make: (path: string) => void; expectation?: Partial<FileExpectation>}> = [
	{title: 'a missing file', fault: 'missing', make: () => undefined},
	{title: 'a symbolic link to a good file', fault: 'link', make: path => symlinkSync('/etc/passwd', path)},
	{title: 'a dangling symbolic link', fault: 'link', make: path => symlinkSync('nowhere', path)},
	{title: 'a directory', fault: 'type', make: path => mkdirSync(path)},
	{title: 'a FIFO, without waiting for a writer', fault: 'type', make: path => void execFileSync('mkfifo', [path])},
	{
		title: 'a hard link',
		fault: 'nlink',
		make(path) {
			writeFileSync(path, 'x');
			linkSync(path, `${path}-second`);
		},
	},
	{title: 'a wider mode', fault: 'mode', make: path => writeMode(path, 0o644), expectation: {mode: 0o600}},
	{title: 'a set-uid bit', fault: 'mode', make: path => writeMode(path, 0o4600), expectation: {mode: 0o600}},
	{title: 'a narrower mode', fault: 'mode', make: path => writeMode(path, 0o400), expectation: {mode: 0o600}},
	{title: 'another owner', fault: 'owner', make: path => writeMode(path, 0o600), expectation: {uid: 12_345_678}},
	{title: 'another size', fault: 'size', make: path => writeMode(path, 0o600), expectation: {bytes: 2}},
	{title: 'a file above the limit', fault: 'too-large', make: path => writeMode(path, 0o600), expectation: {maxBytes: 0}},
	{
		title: 'a sparse file of 1 TiB, without reading it',
		fault: 'too-large',
		make(path) {
			writeFileSync(path, '');
			truncateSync(path, 2 ** 40);
		},
	},
];

for (const {title, fault, make, expectation} of hostile) {
	test(`readFile() refuses ${title}`, t => {
		const directory = place(t);
		make(join(directory, 'entry'));
		t.is(
			faultOf(() => read(directory, 'entry', expectation)),
			fault,
		);
	});
}

test('readFile() refuses a socket', async t => {
	const directory = place(t);
	const server = createServer();
	await new Promise<void>(resolve => {
		server.listen(join(directory, 'entry'), resolve);
	});
	t.is(
		faultOf(() => read(directory, 'entry')),
		'type',
	);
	await new Promise<void>(resolve => {
		server.close(() => {
			resolve();
		});
	});
});

test('readFile() refuses a device without opening it', t => {
	t.is(
		faultOf(() => read('/dev', 'zero')),
		'type',
	);
});

test('open() refuses a symbolic link as a parent', t => {
	const directory = place(t);
	mkdirSync(join(directory, 'real', 'below'), {recursive: true});
	writeFileSync(join(directory, 'real', 'below', 'file'), 'x');
	symlinkSync('real', join(directory, 'alias'));
	t.is(read(join(directory, 'real', 'below'), 'file').length, 1);
	t.is(
		faultOf(() => read(join(directory, 'alias', 'below'), 'file')),
		'link',
	);
	t.is(
		faultOf(() => read(join(directory, 'real', 'below', 'file'), 'file')),
		'type',
	);
});

test('an open directory stays the same when its name is given to another', t => {
	const directory = place(t);
	mkdirSync(join(directory, 'run'));
	writeFileSync(join(directory, 'run', 'file'), 'first');
	const bytes = closing(SafeDirectory.open(join(directory, 'run')), opened => {
		renameSync(join(directory, 'run'), join(directory, 'moved'));
		mkdirSync(join(directory, 'run'));
		writeFileSync(join(directory, 'run', 'file'), 'second');
		return opened.readFile('file', {maxBytes: 100}).bytes;
	});
	t.is(bytes.toString(), 'first');
});

test('a file is the inode that was looked at, even when its name is given to another', t => {
	const directory = place(t);
	writeFileSync(join(directory, 'file'), 'first');
	writeFileSync(join(directory, 'other'), 'other');
	const fault = closing(SafeDirectory.open(directory), opened =>
		closing(opened.file('file'), file => {
			renameSync(join(directory, 'other'), join(directory, 'file'));
			return faultOf(() => file.read(100));
		}),
	);
	t.is(fault, 'changed');
});

test('read() and digest() refuse a file that grew after it was looked at', t => {
	for (const method of ['read', 'digest'] as const) {
		const directory = place(t);
		writeFileSync(join(directory, 'file'), 'first');
		const fault = closing(SafeDirectory.open(directory), opened =>
			closing(opened.file('file'), file => {
				appendFileSync(join(directory, 'file'), 'more');
				return faultOf(() => file[method](100));
			}),
		);
		t.is(fault, 'changed', method);
	}
});

test('read() refuses a file that shrank after it was looked at', t => {
	const directory = place(t);
	writeFileSync(join(directory, 'file'), 'first');
	const fault = closing(SafeDirectory.open(directory), opened =>
		closing(opened.file('file'), file => {
			truncateSync(join(directory, 'file'), 2);
			return faultOf(() => file.read(100));
		}),
	);
	t.is(fault, 'changed');
});

for (const name of ['', '.', '..', 'a/b', '/etc', 'a\0b']) {
	test(`no entry is reached by the name ${JSON.stringify(name)}`, t => {
		const directory = place(t);
		t.throws(() => read(directory, name), {instanceOf: BailiffError});
	});
}

test('open() refuses a relative path', t => {
	t.throws(() => SafeDirectory.open('tmp'), {instanceOf: BailiffError});
});

test('entries() gives names as bytes, also those that are not UTF-8', t => {
	const directory = place(t);
	const odd = Buffer.from([0x62, 0xff, 0xc3]);
	writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), odd]), '');
	writeFileSync(join(directory, 'ä'), '');
	const names = closing(SafeDirectory.open(directory), opened => opened.entries(2)).map(name => name.toString('hex'));
	t.deepEqual(names.toSorted(), [odd.toString('hex'), Buffer.from('ä').toString('hex')].toSorted());
	t.is(
		closing(SafeDirectory.open(directory), opened => closing(opened.file(odd), file => file.status.size)),
		0n,
	);
});

test('entries() refuses a directory with more than the limit', t => {
	const directory = place(t);
	writeFileSync(join(directory, 'a'), '');
	writeFileSync(join(directory, 'b'), '');
	t.is(
		faultOf(() => closing(SafeDirectory.open(directory), opened => opened.entries(1))),
		'too-large',
	);
});

test('faults() of a file names every one at once', t => {
	const directory = place(t);
	writeMode(join(directory, 'file'), 0o644);
	linkSync(join(directory, 'file'), join(directory, 'second'));
	const faults = closing(SafeDirectory.open(directory), opened =>
		closing(opened.file('file'), file => file.faults({maxBytes: 0, bytes: 9, mode: 0o600, uid: 12_345_678})),
	);
	t.deepEqual(faults, ['owner', 'mode', 'nlink', 'size', 'too-large']);
});

test('faults() of a directory compares owner and mode', t => {
	const directory = place(t);
	chmodSync(directory, 0o755);
	t.deepEqual(
		closing(SafeDirectory.open(directory), opened => opened.faults({mode: 0o700, uid: 12_345_678})),
		['owner', 'mode'],
	);
	t.deepEqual(
		closing(SafeDirectory.open(directory), opened => opened.faults({mode: 0o755})),
		[],
	);
});

if (process.getuid?.() === 0) {
	test('readFile() as root refuses a file of another user', t => {
		const directory = place(t);
		writeMode(join(directory, 'file'), 0o600);
		chownSync(join(directory, 'file'), 12_345, 12_345);
		t.is(
			faultOf(() => read(directory, 'file', {uid: 0})),
			'owner',
		);
	});
} else {
	test('readFile() refuses a file that may not be read', t => {
		const directory = place(t);
		writeMode(join(directory, 'file'), 0o000);
		t.is(
			faultOf(() => read(directory, 'file')),
			'unreadable',
		);
	});
}

function writeMode(path: string, mode: number): void {
	writeFileSync(path, 'x');
	chmodSync(path, mode);
}
