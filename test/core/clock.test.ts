import test from 'ava';
import {systemClock, toRfc3339Ms} from '../../core/clock.ts';

for (const [wallMs, text] of [
	[0, '1970-01-01T00:00:00.000Z'],
	[1_785_585_600_123, '2026-08-01T12:00:00.123Z'],
	[951_782_399_999, '2000-02-28T23:59:59.999Z'],
] as const) {
	test(`toRfc3339Ms() writes ${wallMs} as ${text}`, t => {
		t.is(toRfc3339Ms(wallMs), text);
	});
}

test('the system clock: wall time agrees with Date, monotonic time never goes back', t => {
	t.true(Math.abs(systemClock.wallMs() - Date.now()) < 1000);
	const first = systemClock.monotonicNs();
	t.true(systemClock.monotonicNs() >= first);
});
