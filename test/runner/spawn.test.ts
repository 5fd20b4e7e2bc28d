import {closeSync, openSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {type ProgramRequest, spawnCompanion, spawnProgram} from '../../runner/spawn.ts';

const base: Omit<ProgramRequest, 'args'> = {
	file: '/bin/sh',
	cwd: '/',
	env: {PATH: '/usr/bin:/bin'},
	maxStdoutBytes: 100_000,
	maxStderrBytes: 1000,
	timeoutMs: 60_000,
	graceMs: 100,
};

function run(script: string, more: Partial<ProgramRequest> = {}): ReturnType<typeof spawnProgram> {
	return spawnProgram({...base, ...more, args: ['-c', script]});
}

test('spawnProgram() gives the exit code and both streams unchanged', async t => {
	const result = await run(String.raw`printf 'a\377\n\n'; printf 'b\n' >&2; exit 7`);
	t.is(result.exitCode, 7);
	t.is(result.signal, null);
	t.deepEqual(result.stdout, Buffer.from([0x61, 0xff, 0x0a, 0x0a]));
	t.is(result.stderr.toString(), 'b\n');
	t.is(result.startErrno, null);
});

test('spawnProgram() passes nothing of its own environment on', async t => {
	const result = await spawnProgram({...base, file: '/usr/bin/env', args: [], env: {ONLY: '1'}});
	t.is(result.stdout.toString(), 'ONLY=1\n');
});

test('spawnProgram() writes the input and ends it', async t => {
	const input = Buffer.alloc(300_000, 'x');
	t.is((await run('wc -c', {input})).stdout.toString().trim(), '300000');
	t.is((await run('wc -c')).stdout.toString().trim(), '0');
});

test('spawnProgram() does not mind a program that leaves its input unread', async t => {
	const result = await run('exit 3', {input: Buffer.alloc(5_000_000)});
	t.is(result.exitCode, 3);
});

test('spawnProgram() hands descriptors down from 3 on', async t => {
	const path = join(tmpdir(), `bailiff-spawn-${process.pid}`);
	const descriptor = openSync(path, 'w+', 0o600);
	try {
		const result = await run('echo held >&3', {descriptors: [descriptor]});
		t.is(result.exitCode, 0);
		t.is(readFileSync(path, 'utf8'), 'held\n');
	} finally {
		closeSync(descriptor);
		rmSync(path);
	}
});

test('spawnProgram() hands a channel on as 3, ended, and the descriptors after it', async t => {
	const path = join(tmpdir(), `bailiff-spawn-${process.pid}-channel`);
	const descriptor = openSync(path, 'w+', 0o600);
	try {
		const result = await run('cat <&3; echo held >&4', {channel: Buffer.from('secret'), descriptors: [descriptor]});
		t.is(result.exitCode, 0);
		t.is(result.stdout.toString(), 'secret');
		t.is(readFileSync(path, 'utf8'), 'held\n');
	} finally {
		closeSync(descriptor);
		rmSync(path);
	}
});

test('spawnProgram() does not mind a channel that nobody reads', async t => {
	for (const length of [0, 10, 1_000_000]) {
		const result = await run('exit 7', {channel: Buffer.alloc(length, 'a')});
		t.is(result.exitCode, 7);
		t.is(result.startErrno, null);
	}
});

test('spawnProgram() cuts a flood at the limit and ends the program', async t => {
	const result = await run('exec yes');
	t.true(result.isTruncated);
	t.is(result.stdout.length, 100_000);
	t.is(result.startErrno, null);
});

test('spawnProgram() ends a whole group that ignores TERM', async t => {
	const result = await run('trap "" TERM; (trap "" TERM; exec sleep 1000) & echo $!; wait; exec sleep 1000', {timeoutMs: 300});
	t.true(result.didTimeOut);
	t.is(result.signal, 'SIGKILL');
	const child = Number(result.stdout.toString());
	t.true(child > 1);
	t.false(isRunning(child));
});

test('spawnProgram() does not wait for whoever left the group and keeps its pipes open', async t => {
	const keeper = new AbortController();
	const result = await Promise.race([
		run('echo before; setsid sh -c "echo \\$\\$; exec sleep 60" & sleep 0.2; exit 0', {timeoutMs: 1000}),
		sleep(20_000, null, {signal: keeper.signal}),
	]);
	keeper.abort();
	t.truthy(result);
	t.true(result?.didTimeOut);
	t.is(result?.exitCode, 0);
	const [first, pid] = result?.stdout.toString().split('\n') ?? [];
	t.is(first, 'before');
	process.kill(Number(pid), 'SIGKILL');
});

test('a companion is signalled while it was not reaped, and nobody afterwards', async t => {
	const companion = await spawnCompanion('/bin/cat');
	companion.signal('SIGCONT');
	companion.signal('SIGKILL');
	await companion.ended;
	t.notThrows(() => {
		companion.signal('SIGKILL');
	});
	t.false(isRunning(companion.pid));
});

test('spawnProgram() names why a program did not start', async t => {
	const result = await spawnProgram({...base, file: '/nonexistent/git', args: []});
	t.is(result.startErrno, 'ENOENT');
	t.is(result.exitCode, null);
});

function isRunning(pid: number): boolean {
	try {
		return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
	} catch {
		return false;
	}
}

test('spawnProgram() gives the program a mask of its own and keeps ours', async t => {
	const before = process.umask();
	t.is((await run('umask', {umask: 0o077})).stdout.toString().trim(), '0077');
	t.is(process.umask(), before);
});

test('spawnProgram() ends the whole group when its signal is aborted', async t => {
	const controller = new AbortController();
	const running = run('trap "" TERM; sleep 60 & echo started; wait', {signal: controller.signal});
	controller.abort();
	const result = await running;
	t.not(result.signal, null);
	t.false(result.didTimeOut);
});
