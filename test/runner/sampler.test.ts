import {spawn} from 'node:child_process';
import {readdirSync} from 'node:fs';
import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {systemClock} from '../../core/clock.ts';
import {loadNative} from '../../native/index.ts';
import {Sampler} from '../../runner/sampler.ts';
import {eventually} from '../helpers/eventually.ts';

function descriptors(): number {
	return readdirSync('/proc/self/fd').length;
}

test('Sampler sees the processes of a group and gives lines in the order of time', async t => {
	const child = spawn('/bin/sh', ['-c', 'sleep 60 & sleep 60'], {detached: true, stdio: 'ignore'});
	const leader = child.pid ?? 0;
	const sampler = new Sampler(loadNative(), {leader, supervisor: leader, startedNs: systemClock.monotonicNs(), clock: systemClock});
	await sleep(800);
	const {lines, peakRssBytes} = sampler.stop();
	process.kill(-leader, 'SIGKILL');
	t.true(lines.length >= 1);
	t.true(lines.every((line, index) => line.kind === 'sample' && line.t_us > (lines[index - 1]?.t_us ?? 0)));
	t.is(peakRssBytes, Math.max(...lines.map(line => line.rss_bytes ?? 0)));
	t.true((lines.at(-1)?.processes ?? 0) >= 1);
});

test('Sampler takes nothing after it was stopped, and its descriptors are closed after a while', async t => {
	const before = descriptors();
	const children = Array.from({length: 20}, () => spawn('/bin/sleep', ['60'], {detached: true, stdio: 'ignore'}));
	for (const child of children) {
		const sampler = new Sampler(loadNative(), {leader: child.pid ?? 0, supervisor: child.pid ?? 0, startedNs: systemClock.monotonicNs(), clock: systemClock});
		setTimeout(() => {
			const {lines} = sampler.stop();
			const count = lines.length;
			setTimeout(() => {
				t.is(lines.length, count);
			}, 200);
		}, 150);
	}

	await sleep(600);
	for (const child of children) {
		child.kill('SIGKILL');
	}

	await eventually('the end of what pidusage holds', () => descriptors() <= before + 1);
	t.pass();
});
