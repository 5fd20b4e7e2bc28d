import {closeSync, constants, lstatSync, mkdirSync, openSync, readFileSync, readlinkSync, unlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {errnoOf} from '../../core/errors.ts';
import {loadNative} from '../../native/index.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const native = loadNative();

function opened(t: ExecutionContext, ...descriptors: number[]): void {
	t.teardown(() => {
		for (const descriptor of descriptors) {
			closeSync(descriptor);
		}
	});
}

function listening(t: ExecutionContext, below = 'd'): {readonly directory: string; readonly directoryFd: number; readonly listener: number} {
	const directory = path.join(temporaryDirectory(t), below);
	mkdirSync(directory, {recursive: true});
	const directoryFd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
	const listener = native.listenUnix(directoryFd, 'broker.sock');
	opened(t, directoryFd, listener);
	return {directory, directoryFd, listener};
}

function pair(t: ExecutionContext): readonly [number, number] {
	const ends = native.socketPair();
	opened(t, ...ends);
	return ends;
}

function errnoFrom(act: () => unknown): string | null {
	try {
		act();
	} catch (error) {
		return errnoOf(error);
	}

	return null;
}

test('a socket listens under its whole name in a directory whose path has 3,000 bytes', async t => {
	const {directory, directoryFd, listener} = listening(t, Array.from({length: 15}, () => 'x'.repeat(200)).join('/'));
	t.true(directory.length > 3000);
	const status = lstatSync(path.join(directory, 'broker.sock'));
	t.true(status.isSocket());
	t.is(status.mode & 0o7777, 0o600);
	const client = native.connectUnix(directoryFd, 'broker.sock');
	const server = native.acceptSocket(listener);
	opened(t, client, server ?? -1);
	t.is(native.peerUid(server ?? -1), process.geteuid?.() ?? -1);
	t.is(native.peerUid(client), process.geteuid?.() ?? -1);
	t.is(native.acceptSocket(listener), null);
});

test('a listening socket takes nobody’s name, and an address is one plain name', t => {
	const {directory, directoryFd} = listening(t);
	writeFileSync(path.join(directory, 'there'), '');
	t.is(
		errnoFrom(() => native.listenUnix(directoryFd, 'there')),
		'EADDRINUSE',
	);
	for (const name of ['', 'a/b', '../a', 'x'.repeat(200)]) {
		t.is(
			errnoFrom(() => native.listenUnix(directoryFd, name)),
			'ENAMETOOLONG',
			name,
		);
	}
});

test('connecting says whether nobody listens any more or nothing is there', t => {
	const directory = temporaryDirectory(t);
	const directoryFd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
	opened(t, directoryFd);
	closeSync(native.listenUnix(directoryFd, 's'));
	t.is(
		errnoFrom(() => native.connectUnix(directoryFd, 's')),
		'ECONNREFUSED',
	);
	unlinkSync(path.join(directory, 's'));
	t.is(
		errnoFrom(() => native.connectUnix(directoryFd, 's')),
		'ENOENT',
	);
});

test('a descriptor goes along with the first byte and arrives as a new one of the same file, closed on exec', t => {
	const [here, there] = pair(t);
	const file = path.join(temporaryDirectory(t), 'file');
	writeFileSync(file, 'content');
	const descriptor = openSync(file, 'r');
	t.is(native.sendBytes(here, Buffer.from('line\n'), descriptor), 5);
	closeSync(descriptor);
	const received = native.receiveBytes(there);
	t.is(received?.bytes.toString(), 'line\n');
	const arrived = received?.descriptor ?? -1;
	opened(t, arrived);
	t.is(readlinkSync(`/proc/self/fd/${arrived}`), file);
	t.regex(readFileSync(`/proc/self/fdinfo/${arrived}`, 'utf8'), /^flags:\t02[0-7]*$/m);
});

test('receiving gives null where nothing is, no bytes at the end, and an errno on what is no socket', t => {
	const [here, there] = pair(t);
	t.is(native.receiveBytes(there), null);
	native.shutdownSocket(here);
	t.deepEqual(native.receiveBytes(there), {bytes: Buffer.alloc(0), descriptor: -1});
	t.is(
		errnoFrom(() => native.sendBytes(here, Buffer.from('x'), -1)),
		'EPIPE',
	);
	const file = openSync('/dev/null', 'r');
	opened(t, file);
	t.is(
		errnoFrom(() => native.receiveBytes(file)),
		'ENOTSOCK',
	);
	t.is(
		errnoFrom(() => native.peerUid(file)),
		'ENOTSOCK',
	);
});

test('sending stops with EAGAIN where nobody reads, and never takes no bytes', t => {
	const [here] = pair(t);
	const block = Buffer.alloc(65_536);
	let sent = 0;
	const errno = errnoFrom(() => {
		for (;;) {
			sent += native.sendBytes(here, block, -1);
		}
	});
	t.is(errno, 'EAGAIN');
	t.true(sent > 0);
	t.throws(() => native.sendBytes(here, Buffer.alloc(0), -1), {instanceOf: TypeError});
});

test('waiting names who can be read or was closed, and nobody when the time is over', async t => {
	const [here, there] = pair(t);
	const [other] = pair(t);
	t.deepEqual(await native.waitReadable([there, other], 1), []);
	const waiting = native.waitReadable([other, there], 60_000);
	native.sendBytes(here, Buffer.from('x'), -1);
	t.deepEqual(await waiting, [there]);
	t.is(native.receiveBytes(there)?.bytes.toString(), 'x');
	const closed = native.waitReadable([other, there], 60_000);
	native.shutdownSocket(here);
	t.deepEqual(await closed, [there]);
	t.throws(() => void native.waitReadable([-1], 1), {instanceOf: TypeError});
});
