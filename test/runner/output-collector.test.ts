import test from 'ava';
import {array, assert, constantFrom, property, record, uint8Array} from 'fast-check';
import {OutputCollector} from '../../runner/output-collector.ts';

const chunks = array(record({stream: constantFrom('out' as const, 'err' as const), bytes: uint8Array({minLength: 1, maxLength: 20})}), {
	maxLength: 60,
});

test('OutputCollector keeps every byte of both streams and a trace that covers them', t => {
	assert(
		property(chunks, all => {
			const collector = new OutputCollector(10_000);
			const wanted = {out: Buffer.alloc(0), err: Buffer.alloc(0)};
			for (const [index, {stream, bytes}] of all.entries()) {
				t.true(collector.add(stream, {offset: wanted[stream].length, tUs: index, bytes: Buffer.from(bytes)}));
				wanted[stream] = Buffer.concat([wanted[stream], bytes]);
			}

			for (const stream of ['out', 'err'] as const) {
				const seenBytes = wanted[stream].length;
				t.deepEqual(collector.captured(stream, {seenBytes, isAtEnd: true}), {bytes: wanted[stream], seenBytes, isComplete: true});
				t.is(collector.lengthOf(stream), seenBytes);
			}

			t.is(collector.trace([]).length, all.length);
		}),
	);
});

test('OutputCollector refuses a chunk that leaves a gap, comes again, or crosses the bound of both streams together', t => {
	const collector = new OutputCollector(10);
	const bytes = Buffer.from('123456');
	t.true(collector.add('out', {offset: 0, tUs: 0, bytes}));
	t.false(collector.add('out', {offset: 0, tUs: 0, bytes}));
	t.false(collector.add('out', {offset: 7, tUs: 0, bytes}));
	t.false(collector.add('err', {offset: 0, tUs: 0, bytes}));
	t.true(collector.add('err', {offset: 0, tUs: 0, bytes: bytes.subarray(0, 4)}));
	t.false(collector.add('out', {offset: 6, tUs: 0, bytes: Buffer.from('x')}));
});

test('OutputCollector calls nothing complete that was dropped or did not end', t => {
	const collector = new OutputCollector(10);
	collector.add('out', {offset: 0, tUs: 0, bytes: Buffer.from('abc')});
	t.true(collector.captured('out', {seenBytes: 3, isAtEnd: true}).isComplete);
	t.false(collector.captured('out', {seenBytes: 4, isAtEnd: true}).isComplete);
	t.false(collector.captured('out', {seenBytes: 3, isAtEnd: false}).isComplete);
});

test('OutputCollector joins neighbours beyond 4,096 chunks and still covers every byte in order', t => {
	const collector = new OutputCollector(100_000);
	for (let index = 0; index < 50_000; index++) {
		collector.add(index % 3 === 0 ? 'err' : 'out', {
			offset: index % 3 === 0 ? index / 3 : index - Math.floor(index / 3) - 1,
			tUs: index,
			bytes: Buffer.from('x'),
		});
	}

	const trace = collector.trace([{t_us: 25_000, kind: 'sample', offset: null, length: null, cpu_us: 1, rss_bytes: 1, processes: 1}]);
	t.true(trace.length <= 4097 && trace.length > 1000);
	t.true(trace.every((line, index) => line.t_us >= (trace[index - 1]?.t_us ?? 0)));
	for (const kind of ['out', 'err'] as const) {
		let covered = 0;
		for (const line of trace.filter(one => one.kind === kind)) {
			t.is(line.offset, covered);
			covered += line.length ?? 0;
		}

		t.is(covered, collector.lengthOf(kind));
	}
});
