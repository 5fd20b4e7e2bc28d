import {type ChildProcess, spawn} from 'node:child_process';
import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {loadNative} from '../../native/index.ts';
import {type Watched, watchSilence} from '../../runner/watchdog.ts';
import {testify} from '../../runner/witness.ts';
import {eventually} from '../helpers/eventually.ts';

// A shell with children stands for the supervisor: the watchdog knows it by its pid alone.
const native = loadNative();
const script = 'trap "" TERM INT; sleep 60 & setsid sleep 60 & while :; do wait; done';

function watched(child: ChildProcess): Pick<Watched, 'supervisor' | 'signal'> {
	return {
		supervisor: child.pid ?? 0,
		signal: name => {
			child.kill(name);
		},
	};
}

test('watchSilence() ends a silent supervisor and all that hangs on it, 2.85 s after the deadline', async t => {
	const child = spawn('/bin/sh', ['-c', script], {detached: true, stdio: 'ignore'});
	const supervisor = child.pid ?? 0;
	await eventually('its children', () => testify(native, {leader: null, supervisor}).alive.length >= 2);
	const before = performance.now();
	watchSilence(native, {...watched(child), timeoutNs: 0n});
	const {alive} = testify(native, {leader: null, supervisor});
	await eventually('the end of the supervisor', () => child.signalCode === 'SIGKILL');
	t.true(performance.now() - before > 2800);
	await eventually('the end of its children', () => alive.every(row => !native.signalProcess(row.pid, row.startTime, 0)));
});

test('watchSilence() sets a stopped supervisor going before it does anything else', async t => {
	const child = spawn('/bin/sh', ['-c', 'kill -STOP $$; exit 7'], {detached: true, stdio: 'ignore'});
	const off = watchSilence(native, {...watched(child), timeoutNs: 0n});
	await eventually('its end by itself', () => child.exitCode === 7);
	off();
	t.is(child.signalCode, null);
});

test('watchSilence() that is called off does nothing', async t => {
	const child = spawn('/bin/sleep', ['60'], {detached: true, stdio: 'ignore'});
	watchSilence(native, {...watched(child), timeoutNs: 0n})();
	await sleep(3200);
	t.is(child.signalCode, null);
	child.kill('SIGKILL');
});
