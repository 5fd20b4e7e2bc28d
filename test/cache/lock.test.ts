import {type ChildProcess, execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {
	chmodSync,
	existsSync,
	fstatSync,
	linkSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	readlinkSync,
	renameSync,
	symlinkSync,
	unlinkSync,
	writeFileSync,
} from 'node:fs';
import test, {type ExecutionContext} from 'ava';

import {FileLock, type LockWait} from '../../cache/lock.ts';
import {BailiffError} from '../../core/errors.ts';
import {loadNative} from '../../native/index.ts';
import {eventually} from '../helpers/eventually.ts';
import {codeOf, refusalLater} from '../helpers/refusal.ts';
import {runModules} from '../helpers/run-modules.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const lockUrl = new URL('../../cache/lock.js', import.meta.url).href;

async function take(t: ExecutionContext, file: string, wait: LockWait = {}): Promise<FileLock> {
	const lock = await FileLock.acquire(file, wait);
	t.teardown(() => {
		lock.close();
	});
	return lock;
}

/** Another process that holds the lock, with whatever else `body` does while it has it, until it is killed. */
async function holder(t: ExecutionContext, file: string, body = ''): Promise<ChildProcess & {readonly pid: number}> {
	const source = `import {spawn} from 'node:child_process'; import {FileLock} from ${JSON.stringify(lockUrl)}; const lock = await FileLock.acquire(${JSON.stringify(file)}); ${body}; console.log('held'); setInterval(() => {}, 1000);`;
	const child = spawn(process.execPath, ['--input-type=module', '-e', source], {env: {PATH: '/usr/bin:/bin'}, stdio: ['ignore', 'pipe', 'inherit']});
	t.teardown(() => {
		child.kill('SIGKILL');
	});
	await once(child.stdout, 'data');
	const {pid} = child;
	if (pid === undefined) {
		throw new Error('the holder did not start');
	}

	return Object.assign(child, {pid});
}

/** The descriptors of this process that are open on a file. */
function descriptorsOf(file: string): string[] {
	return readdirSync('/proc/self/fd').filter(descriptor => {
		try {
			return readlinkSync(`/proc/self/fd/${descriptor}`) === file;
		} catch {
			return false;
		}
	});
}

test('a lock is held from acquire() to close(), and its file stays, empty and private', async t => {
	const file = `${temporaryDirectory(t)}/x.lock`;
	const lock = await take(t, file);
	t.true(lock.isHeld);
	t.deepEqual(descriptorsOf(file), [String(lock.fd)]);
	lock.assertHeld();
	t.is((await refusalLater(() => FileLock.acquire(file)))?.code, 'CACHE_LOCK_BUSY');
	lock.close();
	lock.close();
	t.false(lock.isHeld);
	t.is(
		codeOf(() => {
			lock.assertHeld();
		}),
		'CACHE_LOCK_ORDER',
	);
	const again = await take(t, file);
	t.true(again.isHeld);
	const status = lstatSync(file);
	t.deepEqual([status.size, status.mode & 0o7777, status.nlink], [0, 0o600, 1]);
});

test('a busy lock is refused at once, naming the lock and, for display, who holds it', async t => {
	const file = `${temporaryDirectory(t)}/issue-7.lock`;
	const other = await holder(t, file);
	const refusal = await refusalLater(() => FileLock.acquire(file));
	t.is(refusal?.code, 'CACHE_LOCK_BUSY');
	t.true(refusal?.message.startsWith(`${file} is held by process ${other.pid} ("node")`), refusal?.message);
	t.true(refusal?.message.includes('--lock-timeout'));
	t.deepEqual(refusal?.details, {path: file, holders: [{pid: other.pid, command: 'node'}], timeout_ms: 0});
});

test('waiting says so once, ends in time, and leaves no descriptor open', async t => {
	const file = `${temporaryDirectory(t)}/x.lock`;
	const other = await holder(t, file);
	const heard: unknown[] = [];
	const refusal = await refusalLater(() => FileLock.acquire(file, {timeoutMs: 150, onWait: busy => heard.push(busy)}));
	t.is(refusal?.code, 'CACHE_LOCK_BUSY');
	t.deepEqual(heard, [{path: file, holders: [{pid: other.pid, command: 'node'}], timeoutMs: 150}]);
	t.true(refusal?.message.includes('waited 0.15 s'));
	t.deepEqual(descriptorsOf(file), []);
});

test('the deadline of waiting follows the clock that was handed in', async t => {
	const file = `${temporaryDirectory(t)}/x.lock`;
	await take(t, file);
	let nowNs = 0n;
	const clock = {
		wallMs: () => 0,
		monotonicNs: () => {
			nowNs += 1_000_000_000n;
			return nowNs;
		},
	};
	t.is((await refusalLater(() => FileLock.acquire(file, {timeoutMs: 2500, clock})))?.code, 'CACHE_LOCK_BUSY');
	t.is(nowNs, 4_000_000_000n);
});

test('a waiter gets the lock when its holder is killed with SIGKILL', async t => {
	const file = `${temporaryDirectory(t)}/x.lock`;
	const other = await holder(t, file);
	const lock = await take(t, file, {
		timeoutMs: 60_000,
		onWait: () => {
			other.kill('SIGKILL');
		},
	});
	t.true(lock.isHeld);
});

test('a killed holder does not free the lock while a child that got the descriptor still works', async t => {
	const file = `${temporaryDirectory(t)}/x.lock`;
	const other = await holder(t, file, "const child = spawn('sleep', ['60'], {stdio: ['ignore', 'ignore', 'ignore', lock.fd], detached: true})");
	const child = await eventually('the child', () =>
		loadNative()
			.scan({ancestors: [other.pid]})
			.rows.find(row => row.pgrp === row.pid),
	);
	const ended = once(other, 'exit');
	other.kill('SIGKILL');
	await ended;
	const refusal = await refusalLater(() => FileLock.acquire(file));
	t.is(refusal?.code, 'CACHE_LOCK_BUSY');
	t.true(refusal?.message.includes('a process that it started still has the lock'), refusal?.message);
	process.kill(child.pid, 'SIGKILL');
	const lock = await take(t, file, {timeoutMs: 60_000});
	t.true(lock.isHeld);
});

test('no child gets the descriptor without being handed it', async t => {
	const file = `${temporaryDirectory(t)}/x.lock`;
	const lock = await take(t, file);
	t.false(execFileSync('ls', ['-l', '/proc/self/fd'], {encoding: 'utf8'}).includes(file));
	t.true(existsSync(`/proc/self/fd/${lock.fd}`));
});

test('eight processes at once: never two holders, and every one comes to its turn', async t => {
	const base = temporaryDirectory(t);
	const file = `${base}/x.lock`;
	const source = `import {mkdirSync, rmdirSync} from 'node:fs'; import {setTimeout as sleep} from 'node:timers/promises'; import {FileLock} from ${JSON.stringify(lockUrl)};
		for (let turn = 0; turn < 3; turn++) {
			const lock = await FileLock.acquire(${JSON.stringify(file)}, {timeoutMs: 60000});
			mkdirSync(${JSON.stringify(`${base}/alone`)});
			await sleep(2);
			rmdirSync(${JSON.stringify(`${base}/alone`)});
			lock.close();
		}
		console.log('three turns');`;
	const said = await runModules(
		t,
		Array.from({length: 8}, () => source),
	);
	t.deepEqual(
		said,
		Array.from({length: 8}, () => 'three turns'),
	);
});

test('eight processes that do not wait: the one that holds it until all have asked is alone, the rest hear why', async t => {
	const base = temporaryDirectory(t);
	const file = `${base}/x.lock`;
	const source = `import {readdirSync, writeFileSync} from 'node:fs'; import {setTimeout as sleep} from 'node:timers/promises'; import {FileLock} from ${JSON.stringify(lockUrl)};
		let said;
		try { await FileLock.acquire(${JSON.stringify(file)}); said = 'held'; } catch (error) { said = error.code; }
		writeFileSync(${JSON.stringify(base)} + '/asked-' + process.pid, '');
		while (readdirSync(${JSON.stringify(base)}).filter(name => name.startsWith('asked-')).length < 8) { await sleep(5); }
		console.log(said);`;
	const said = await runModules(
		t,
		Array.from({length: 8}, () => source),
	);
	t.deepEqual(said.toSorted(), [...Array.from({length: 7}, () => 'CACHE_LOCK_BUSY'), 'held']);
});

for (const [title, disturb] of [
	[
		'removed',
		(file: string) => {
			unlinkSync(file);
		},
	],
	[
		'replaced by another file',
		(file: string) => {
			writeFileSync(`${file}.new`, '', {mode: 0o600});
			renameSync(`${file}.new`, file);
		},
	],
	[
		'replaced by a link to itself',
		(file: string) => {
			renameSync(file, `${file}.moved`);
			symlinkSync(`${file}.moved`, file);
		},
	],
] as const) {
	test(`a lock file that is ${title} while it is waited for is refused, not believed`, async t => {
		const file = `${temporaryDirectory(t)}/x.lock`;
		const first = await take(t, file);
		const refusal = await refusalLater(() =>
			FileLock.acquire(file, {
				timeoutMs: 60_000,
				onWait: () => {
					disturb(file);
					first.close();
				},
			}),
		);
		t.is(refusal?.code, 'CACHE_LOCK_REPLACED');
	});

	test(`the holder of a lock file that is ${title} is told before it goes on`, async t => {
		const file = `${temporaryDirectory(t)}/x.lock`;
		const lock = await take(t, file);
		disturb(file);
		t.is(
			codeOf(() => {
				lock.assertHeld();
			}),
			'CACHE_LOCK_REPLACED',
		);
	});
}

test('a lock file that is opened to others, or gets a second name, while it is held is noticed', async t => {
	const base = temporaryDirectory(t);
	const lock = await take(t, `${base}/x.lock`);
	linkSync(`${base}/x.lock`, `${base}/y.lock`);
	const check = (): void => {
		lock.assertHeld();
	};
	t.is(codeOf(check), 'CACHE_PATH_UNTRUSTED');
	unlinkSync(`${base}/y.lock`);
	t.is(codeOf(check), null);
	chmodSync(`${base}/x.lock`, 0o666);
	t.is(codeOf(check), 'CACHE_PATH_UNTRUSTED');
});

for (const [title, make] of [
	[
		'a link to a good file',
		(file: string) => {
			writeFileSync(`${file}.real`, '', {mode: 0o600});
			symlinkSync(`${file}.real`, file);
		},
	],
	[
		'a dangling link',
		(file: string) => {
			symlinkSync('nowhere', file);
		},
	],
	[
		'a pipe',
		(file: string) => {
			execFileSync('mkfifo', ['-m', '0600', file]);
		},
	],
	[
		'a directory',
		(file: string) => {
			mkdirSync(file, {mode: 0o700});
		},
	],
	[
		'a file others may read',
		(file: string) => {
			writeFileSync(file, '', {mode: 0o644});
		},
	],
	[
		'a hard link',
		(file: string) => {
			writeFileSync(`${file}.real`, '', {mode: 0o600});
			linkSync(`${file}.real`, file);
		},
	],
] as const) {
	test(`${title} in the place of a lock file is refused and stays as it was`, async t => {
		const base = temporaryDirectory(t);
		const file = `${base}/x.lock`;
		make(file);
		const before = lstatSync(file, {bigint: true});
		t.is((await refusalLater(() => FileLock.acquire(file)))?.code, 'CACHE_PATH_UNTRUSTED');
		t.deepEqual(lstatSync(file, {bigint: true}), before);
		t.false(existsSync(`${base}/nowhere`));
	});
}

test('a link among the directories of a lock file is refused', async t => {
	const base = temporaryDirectory(t);
	mkdirSync(`${base}/locks`);
	symlinkSync('locks', `${base}/link`);
	t.is((await refusalLater(() => FileLock.acquire(`${base}/link/x.lock`)))?.code, 'CACHE_PATH_UNTRUSTED');
	t.deepEqual(readdirSync(`${base}/locks`), []);
	const absent = await refusalLater(() => FileLock.acquire(`${base}/absent/x.lock`));
	t.is(absent?.code, 'CACHE_LOCK_FAILED');
	t.regex(absent?.message ?? '', /cannot be opened \(ENOENT\): something removed the directory/);
});

test('waiting ends with the reason of the signal that interrupts it', async t => {
	const file = `${temporaryDirectory(t)}/x.lock`;
	await take(t, file);
	const controller = new AbortController();
	const reason = new BailiffError('CLI_INTERRUPTED', 'interrupted');
	const refusal = await refusalLater(() =>
		FileLock.acquire(file, {
			timeoutMs: 60_000,
			signal: controller.signal,
			onWait: () => {
				controller.abort(reason);
			},
		}),
	);
	t.is(refusal, reason);
	t.is(await refusalLater(() => FileLock.acquire(file, {signal: controller.signal})), reason);
});

test('the descriptor is open for reading and writing (NFS asks for it)', async t => {
	const lock = await take(t, `${temporaryDirectory(t)}/x.lock`);
	t.is(fstatSync(lock.fd).size, 0);
	const flags = /flags:\s*([0-7]+)/.exec(execFileSync('cat', [`/proc/${process.pid}/fdinfo/${lock.fd}`], {encoding: 'utf8'}))?.[1];
	t.is(Number.parseInt(flags ?? '0', 8) & 0o3, 0o2);
});
