import {mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import type {CommandRequest} from '../../runner/outcome.ts';
import {type EndFacts, encodeControl, encodeRun, type SupervisorEvent} from '../../runner/protocol.ts';
import {type BareSupervisor, startBareSupervisor} from '../helpers/bare-supervisor.ts';
import {eventually} from '../helpers/eventually.ts';
import {buildFixture} from '../helpers/fixture.ts';
import {makeRequest, markedProcesses, which} from '../helpers/supervised.ts';

const second = 1_000_000_000n;
const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'bailiff-native-')));
const programs = {hostileStart: ''};

test.before(() => {
	programs.hostileStart = buildFixture(directory, 'hostile-start');
});
test.after.always(() => {
	rmSync(directory, {recursive: true, force: true});
});

async function start(t: ExecutionContext, wrapper: readonly string[] = []): Promise<BareSupervisor> {
	const supervisor = startBareSupervisor(wrapper);
	t.teardown(async () => {
		supervisor.requests.end();
		await supervisor.ended;
	});
	t.like(await supervisor.next(), {type: 'hello', version: 1, pid: supervisor.child.pid ?? 0});
	return supervisor;
}

function send(supervisor: BareSupervisor, argv: readonly string[], more: Partial<CommandRequest> = {}): string {
	const {request, mark} = makeRequest(directory, argv, more);
	supervisor.requests.write(encodeRun(request, 1));
	return mark;
}

function factsOf(events: readonly SupervisorEvent[]): EndFacts {
	const last = events.at(-1);
	if (last?.type !== 'ended') {
		throw new Error(`no end, but ${JSON.stringify(last?.type)}`);
	}

	return last.facts;
}

function outputOf(events: readonly SupervisorEvent[]): string {
	return Buffer.concat(events.flatMap(event => (event.type === 'chunk' ? [event.bytes] : []))).toString();
}

test('a command is told in order: started, its output with its place and time, ended with the facts', async t => {
	const supervisor = await start(t);
	send(supervisor, ['sh', '-c', 'printf ab; sleep 0.1; printf cd; exit 7']);
	const events = await supervisor.until('ended');
	t.deepEqual(
		events.map(event => event.type),
		['started', 'chunk', 'chunk', 'ended'],
	);
	t.like(events[1], {stream: 'out', offset: 0, seq: 1});
	t.like(events[2], {stream: 'out', offset: 2, seq: 1});
	const facts = factsOf(events);
	t.like(facts, {trigger: null, isReaped: true, wasTermSent: false, wasKillSent: false, isCleaned: true, waitStatus: 7 << 8, escaped: 0, leftAlive: 0});
	t.deepEqual([facts.triggerNs, facts.termNs, facts.killNs], [null, null, null]);
	t.true(facts.endNs - facts.startNs >= second / 10n);
	t.true(facts.reapedCount >= 1);
});

test('one supervisor serves many commands, one after the other', async t => {
	const supervisor = await start(t);
	for (let round = 0; round < 50; round++) {
		send(supervisor, ['sh', '-c', `exit ${round}`]);
		t.is(factsOf(await supervisor.until('ended')).waitStatus, round << 8);
	}
});

test('what a careless caller left behind reaches neither the supervisor nor the command', async t => {
	const supervisor = await start(t, [programs.hostileStart]);
	send(supervisor, ['sh', '-c', 'grep -E "^Sig(Blk|Ign|Cgt)" /proc/self/status; umask; ls /proc/$$/fd; cat /proc/$$/oom_score_adj']);
	const events = await supervisor.until('ended');
	const score = readFileSync('/proc/self/oom_score_adj', 'utf8');
	const lines = outputOf(events).split('\n');
	t.deepEqual(lines.slice(0, 2), ['SigBlk:\t0000000000000000', 'SigIgn:\t0000000000000000']);
	t.deepEqual(lines.slice(3), ['0022', '0', '1', '2', score.trim(), '']);
	send(supervisor, ['sleep', '60'], {timeoutNs: second / 5n});
	t.like(factsOf(await supervisor.until('ended')), {trigger: 'timeout', wasTermSent: true, wasKillSent: false, isCleaned: true, waitStatus: 15});
});

test('the supervisor leads its own session and holds no descriptor but its own', async t => {
	const supervisor = await start(t, [programs.hostileStart]);
	const stat = readFileSync(`/proc/${supervisor.child.pid}/stat`, 'latin1');
	t.is(Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]), supervisor.child.pid ?? 0);
	t.false(readdirSync(`/proc/${supervisor.child.pid}/fd`).includes('40'));
});

test('the command leads a session and a group of its own', async t => {
	const supervisor = await start(t);
	send(supervisor, ['sh', '-c', 'cat /proc/$$/stat; echo $$']);
	const [stat = '', pid] = outputOf(await supervisor.until('ended')).split('\n');
	t.deepEqual(
		stat
			.slice(stat.lastIndexOf(')') + 2)
			.split(' ')
			.slice(2, 5),
		[pid, pid, '0'],
	);
});

test('the end of the request pipe ends everything at once, whatever ignores TERM or left the session', async t => {
	const supervisor = await start(t);
	const mark = send(supervisor, ['sh', '-c', 'trap "" TERM; setsid sleep 60 & (sleep 60; sleep 60) & while :; do sleep 0.1; done']);
	await eventually('the command', () => markedProcesses(mark).length >= 4);
	const before = process.hrtime.bigint();
	supervisor.requests.destroy();
	t.deepEqual(await supervisor.ended, {code: 0, signal: null});
	t.deepEqual(markedProcesses(mark), []);
	t.true(process.hrtime.bigint() - before < second);
});

test('the end of the request pipe before any command ends the supervisor', async t => {
	const supervisor = await start(t);
	supervisor.requests.end();
	t.deepEqual(await supervisor.ended, {code: 0, signal: null});
});

test('an interrupt runs the ladder, and a kill skips its grace', async t => {
	const supervisor = await start(t);
	const deaf = ['sh', '-c', 'trap "" TERM; echo; while :; do sleep 0.05; done'];
	send(supervisor, deaf);
	await supervisor.until('chunk');
	supervisor.requests.write(encodeControl('interrupt'));
	const slow = factsOf(await supervisor.until('ended'));
	t.like(slow, {trigger: 'interrupted', wasTermSent: true, wasKillSent: true, isCleaned: true});
	t.true((slow.killNs ?? 0n) - (slow.termNs ?? 0n) >= second / 4n);
	send(supervisor, deaf);
	await supervisor.until('chunk');
	supervisor.requests.write(encodeControl('kill'));
	const quick = factsOf(await supervisor.until('ended'));
	t.like(quick, {trigger: 'interrupted', wasTermSent: true, wasKillSent: true, isCleaned: true});
	t.true((quick.killNs ?? 0n) - (quick.termNs ?? 0n) < second / 5n);
});

test('requests that come while nothing runs are forgotten', async t => {
	const supervisor = await start(t);
	supervisor.requests.write(encodeControl('interrupt'));
	supervisor.requests.write(encodeControl('kill'));
	await sleep(20);
	send(supervisor, ['true']);
	t.like(factsOf(await supervisor.until('ended')), {trigger: null, isCleaned: true});
});

test('a reader that does not read moves no deadline and loses no byte', async t => {
	const supervisor = await start(t);
	supervisor.events.pause();
	const writer = 'import os,time\nfor i in range(200000): os.write(1+i%2, b"z")\ntime.sleep(60)';
	send(supervisor, ['python3', '-c', writer], {streams: 'split', maxOutputBytes: 1_048_576, timeoutNs: 3n * second});
	await sleep(3500);
	supervisor.events.resume();
	const events = await supervisor.until('ended');
	const facts = factsOf(events);
	t.like(facts, {trigger: 'timeout', isCleaned: true});
	t.is(outputOf(events).length, facts.seenBytes.out + facts.seenBytes.err);
	t.true((facts.termNs ?? 0n) - facts.startNs - 3n * second < second / 10n);
});

const bad: ReadonlyArray<readonly [string, Buffer]> = [
	['an unknown type', Buffer.from('0000000009', 'hex')],
	['a frame that is too large', Buffer.from('ffffffff01', 'hex')],
	['a run without content', Buffer.from('0000000001', 'hex')],
	['a run whose strings do not end', frameOf(fixedPart(1, 0), Buffer.from('a\0b\0c\0never'))],
	['a run with fewer strings than it says', frameOf(fixedPart(3, 1), Buffer.from('/bin/true\0/\0.\0true\0'))],
	['a run with more strings than it says', frameOf(fixedPart(1, 0), Buffer.from('/bin/true\0/\0.\0true\0more\0'))],
	['a run without argv', frameOf(fixedPart(0, 0), Buffer.from('/bin/true\0/\0.\0'))],
	['a run with countless strings', frameOf(fixedPart(0xffff_ffff, 0xffff_ffff), Buffer.from('/bin/true\0/\0.\0true\0'))],
];

function fixedPart(argc: number, envc: number): Buffer {
	const fixed = Buffer.alloc(77, 0);
	fixed.writeUInt32LE(1, 0);
	fixed.writeUInt32LE(argc, 69);
	fixed.writeUInt32LE(envc, 73);
	return fixed;
}

function frameOf(...parts: readonly Buffer[]): Buffer {
	const payload = Buffer.concat(parts);
	const header = Buffer.from([0, 0, 0, 0, 1]);
	header.writeUInt32LE(payload.length, 0);
	return Buffer.concat([header, payload]);
}

for (const [title, bytes] of bad) {
	test(`the supervisor dies of a request that it does not know, and says why: ${title}`, async t => {
		const supervisor = await start(t);
		supervisor.requests.write(bytes);
		t.like(await supervisor.next(), {type: 'fatal'});
		t.deepEqual(await supervisor.ended, {code: 70, signal: null});
	});
}

test('requests may come byte by byte', async t => {
	const supervisor = await start(t);
	const frame = encodeRun(makeRequest(directory, ['echo', 'whole']).request, 1) ?? Buffer.alloc(0);
	for (let at = 0; at < frame.length; at += 40) {
		supervisor.requests.write(frame.subarray(at, at + 40));
		await sleep(1);
	}

	t.is(outputOf(await supervisor.until('ended')), 'whole\n');
});

test('ends and deadlines that tie are one or the other, never mixed', async t => {
	const supervisor = await start(t);
	for (let round = 0; round < 40; round++) {
		send(supervisor, ['sleep', '0.02'], {timeoutNs: 21_000_000n});
		const facts = factsOf(await supervisor.until('ended'));
		const isTimeout = facts.trigger === 'timeout';
		t.true(isTimeout || facts.trigger === null);
		t.is(facts.wasTermSent, isTimeout);
		t.true(facts.isCleaned);
		t.true(!isTimeout || facts.endNs - facts.startNs >= 21_000_000n);
	}
});

test('no descriptors left: the command was not executed, the supervisor lives, and what it opened is closed again', async t => {
	const supervisor = await start(t, [which('prlimit'), '--nofile=11:11']);
	const count = (): number => readdirSync(`/proc/${supervisor.child.pid}/fd`).length;
	const before = count();
	for (let round = 0; round < 5; round++) {
		send(supervisor, ['true']);
		t.like(await supervisor.next(), {type: 'start-failed', stage: 'fork', errno: 'EMFILE'});
	}

	t.is(count(), before);
});

test('no processes left: the command was not executed, and the supervisor lives', async t => {
	const asOther = process.geteuid?.() === 0 ? [which('setpriv'), '--reuid=65534', '--clear-groups'] : [];
	const supervisor = await start(t, [...asOther, which('prlimit'), '--nproc=1:1']);
	for (let round = 0; round < 3; round++) {
		send(supervisor, ['true']);
		t.like(await supervisor.next(), {type: 'start-failed', stage: 'fork', errno: 'EAGAIN'});
	}
});

test('a supervisor that is started by hand says what it is', async t => {
	const {execFileSync} = await import('node:child_process');
	const {supervisorPath} = await import('../../native/index.ts');
	t.throws(() => execFileSync(supervisorPath(), ['--nonsense'], {stdio: 'pipe'}), {message: /is started by bailiff/});
	t.regex(execFileSync(supervisorPath(), ['--bench-passthrough', '10000000'], {encoding: 'utf8'}), /^\{"bytes":10000000,"ns":\d+\}\n$/);
});
