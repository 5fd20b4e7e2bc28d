import {type ChildProcess, spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import test, {type ExecutionContext} from 'ava';
import {systemClock} from '../../core/clock.ts';
import {loadNative, type NativeParts} from '../../native/index.ts';
import {agree, endOrphans, killRows, presentChildren, testify} from '../../runner/witness.ts';
import {eventually} from '../helpers/eventually.ts';

const native = loadNative();
/** A pid that nobody has: above what the kernel gives. */
const nobody = 4_194_303;

function startGroup(t: ExecutionContext, script: string): ChildProcess & {readonly pid: number} {
	const child = spawn('/bin/sh', ['-c', script], {detached: true, stdio: 'ignore'});
	const {pid} = child;
	if (pid === undefined) {
		throw new Error('no shell could be started');
	}

	t.teardown(() => {
		try {
			process.kill(-pid, 'SIGKILL');
		} catch {
			// The test ended it.
		}
	});
	return Object.assign(child, {pid});
}

function withScan(scan: NativeParts['scan']): NativeParts {
	return {...native, scan};
}

test.serial('testify() finds a group by its leader, and a session that left the group by its descent', async t => {
	const {pid} = startGroup(t, 'setsid sleep 60 & sleep 60 & wait');
	const found = await eventually('three processes', () => {
		const {alive} = testify(native, {leader: nobody, supervisor: process.pid});
		const below = alive.filter(row => row.pid === pid || row.ppid === pid);
		return below.length === 3 && below.some(row => row.session !== pid && row.ppid === pid) ? below : null;
	});
	const escaped = found.filter(row => row.session !== pid);
	t.is(escaped.length, 1);
	t.is(testify(native, {leader: pid, supervisor: nobody}).alive.length, 3);
	t.is(killRows(native, found), 3);
	await eventually('the end of all', () => testify(native, {leader: pid, supervisor: nobody}).alive.length === 0);
});

test.serial('agree() agrees where nobody is, and ends whoever it finds below the supervisor without agreeing', async t => {
	t.deepEqual(agree(native, {leader: nobody, supervisor: nobody}), {isAgreed: true, wasKillSent: false});
	const parent = startGroup(t, 'sleep 60; exit 7');
	await eventually('the child', () => testify(native, {leader: null, supervisor: parent.pid}).alive.length === 1);
	t.deepEqual(agree(native, {leader: nobody, supervisor: parent.pid}), {isAgreed: false, wasKillSent: true});
	await eventually('the end of the child', () => parent.exitCode === 7);
});

test.serial('agree() sends no signal to a stranger whose group has the number that the leader had', t => {
	const stranger = startGroup(t, 'exec sleep 60');
	t.deepEqual(agree(native, {leader: stranger.pid, supervisor: nobody}), {isAgreed: false, wasKillSent: false});
	t.true(process.kill(stranger.pid, 0));
});

test.serial('agree() agrees to nothing that it cannot read', t => {
	const blind = withScan(() => {
		throw new Error('/proc is gone');
	});
	t.deepEqual(agree(blind, {leader: 1, supervisor: 1}), {isAgreed: false, wasKillSent: false});
	const partial = withScan(() => ({rows: [], unreadable: [5], scanned: 9}));
	t.deepEqual(agree(partial, {leader: 1, supervisor: 1}), {isAgreed: false, wasKillSent: false});
});

test.serial('endOrphans() ends and reaps what a dead parent left, and nothing that was there before', async t => {
	native.setSubreaper(true);
	const bystander = startGroup(t, 'exec sleep 60');
	const others = presentChildren(native);
	const parent = startGroup(t, 'setsid sh -c "sleep 60 & sleep 60" & echo $! >/dev/null; exec sleep 60');
	await eventually('the grandchildren', () => testify(native, {leader: parent.pid, supervisor: parent.pid}).alive.length >= 2);
	process.kill(parent.pid, 'SIGKILL');
	await eventually('the end of the parent', () => parent.signalCode === 'SIGKILL');
	const ending = await endOrphans(native, {leader: null, others, clock: systemClock});
	t.like(ending, {wasKillSent: true, isEmpty: true, leader: null});
	t.true(ending.found >= 2);
	t.is(bystander.exitCode, null);
	t.regex(readFileSync(`/proc/${bystander.pid}/stat`, 'latin1'), /\) S /);
	native.setSubreaper(false);
});

test.serial('endOrphans() comes to an end where nothing can be read', async t => {
	const blind = withScan(() => {
		throw new Error('/proc is gone');
	});
	t.deepEqual(await endOrphans(blind, {leader: 1, others: new Set(), clock: systemClock}), {wasKillSent: false, leader: null, found: 0, isEmpty: false});
});
