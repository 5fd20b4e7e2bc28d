import test from 'ava';
import {traceBytes} from '../../../evidence/command-files.ts';
import type {TraceLine} from '../../../evidence/manifest-schema.ts';
import {samplesOf} from '../../../evidence/report/samples.ts';

const sample = (tUs: number, cpuUs: number, rssBytes: number): TraceLine => ({
	t_us: tUs,
	kind: 'sample',
	offset: null,
	length: null,
	cpu_us: cpuUs,
	rss_bytes: rssBytes,
	processes: 1,
});

test('samplesOf() gives the load between samples, and passes over chunks', t => {
	const chunk: TraceLine = {t_us: 1, kind: 'out', offset: 0, length: 1, cpu_us: null, rss_bytes: null, processes: null};
	t.deepEqual(samplesOf(traceBytes([chunk, sample(100_000, 50_000, 10), sample(300_000, 450_000, 20)])), [
		{t_ms: 100, cpu_millicores: 500, rss_bytes: 10, processes: 1},
		{t_ms: 300, cpu_millicores: 2000, rss_bytes: 20, processes: 1},
	]);
});

test('samplesOf() thins many samples and keeps their peaks', t => {
	const lines = Array.from({length: 18_000}, (_, index) => sample((index + 1) * 200_000, index * 1000, index === 9999 ? 5_000_000 : 1000));
	const samples = samplesOf(traceBytes(lines));
	t.true(samples.length <= 400);
	t.is(Math.max(...samples.map(({rss_bytes: rss}) => rss)), 5_000_000);
	t.is(samples.at(-1)?.t_ms, 3_600_000);
});

for (const [title, trace] of [
	['nothing', ''],
	['no JSON', 'x"kind":"sample"\n'],
	['bytes', '\u00ff\u00fe\n'],
	['a sample without numbers', '{"cpu_us":null,"kind":"sample","length":null,"offset":null,"processes":null,"rss_bytes":null,"t_us":5}\n'],
] as const) {
	test(`samplesOf() takes ${title} for no sample`, t => {
		t.deepEqual(samplesOf(Buffer.from(trace, 'latin1')), []);
	});
}

test('samplesOf() lets no time run backwards', t => {
	t.is(samplesOf(traceBytes([sample(2000, 1, 1), sample(1000, 1, 1), sample(2000, 1, 1)])).length, 1);
});
