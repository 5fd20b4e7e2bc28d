import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {canonicalJson} from '../../core/canonical-json.ts';
import type {CommandRecord, OutputFile, TraceLine} from '../../evidence/index.ts';
import {traceLimits, traceProblems} from '../../evidence/trace-check.ts';
import {example, exampleDirectory, exampleManifest} from '../helpers/example-run.ts';

type Lines = ReadonlyArray<Partial<TraceLine>>;
const empty: TraceLine = {t_us: 0, kind: 'out', offset: null, length: null, cpu_us: null, rss_bytes: null, processes: null};

function out(offset: number, length: number, timeUs = 0): Partial<TraceLine> {
	return {kind: 'out', offset, length, t_us: timeUs};
}

function err(offset: number, length: number): Partial<TraceLine> {
	return {kind: 'err', offset, length};
}

const sample = {kind: 'sample', cpu_us: 1, rss_bytes: 100, processes: 1} as const;

function bytesOf(lines: Lines): Buffer {
	return Buffer.from(lines.map(line => `${canonicalJson({...empty, ...line})}\n`).join(''));
}

/** A command with `bytes` of output. */
function commandWith(bytes: number, change: {output?: Partial<OutputFile>; extra?: number; samples?: number} = {}): CommandRecord {
	const [base] = exampleManifest().commands;
	if (base === undefined) {
		throw new Error('the example has commands');
	}

	const samples = change.samples ?? 0;
	return {
		...base,
		output: {...base.output, bytes, ...change.output},
		extra_outputs: change.extra === undefined ? [] : [{...base.output, bytes: change.extra}],
		resources: {user_us: 0, system_us: 0, max_rss_bytes: 100, peak_group_rss_bytes: samples === 0 ? null : 100, samples},
	};
}

function pointers(bytes: Buffer, command: CommandRecord): string[] {
	return traceProblems(bytes, command).map(problem => problem.pointer);
}

test('traceProblems() finds nothing in the example', t => {
	for (const [index, command] of exampleManifest().commands.entries()) {
		t.deepEqual(traceProblems(readFileSync(join(exampleDirectory, example.runId, `output/00${index}.trace.jsonl`)), command), []);
	}
});

const redaction = {offset: 0, length: 10, rule: 'jwt'} as const;
const consistent: ReadonlyArray<readonly [string, Lines, CommandRecord]> = [
	['an empty trace of an empty output', [], commandWith(0)],
	['chunks that follow one another', [out(0, 3), out(3, 4, 5)], commandWith(7)],
	['two streams that are mixed', [out(0, 3), err(0, 2), out(3, 4), err(2, 1)], commandWith(7, {extra: 3})],
	['samples between chunks', [sample, out(0, 3), sample], commandWith(3, {samples: 2})],
	['a chunk that owns a mark', [out(0, 13), out(13, 0), out(13, 2)], commandWith(15, {output: {redactions: [{...redaction, offset: 3}]}})],
	['no chunk of an output that was dropped', [], commandWith(10, {output: {complete: false, redactions: [redaction]}})],
];

for (const [title, lines, command] of consistent) {
	test(`traceProblems() finds nothing in ${title}`, t => {
		t.deepEqual(traceProblems(bytesOf(lines), command), []);
	});
}

const contradictions: ReadonlyArray<readonly [string, Lines, CommandRecord, readonly string[]]> = [
	['time that runs backwards', [out(0, 3, 5), out(3, 4, 4)], commandWith(7), ['/1/t_us']],
	['a first chunk that does not start at 0', [out(1, 6)], commandWith(7), ['/0/offset']],
	['a gap', [out(0, 3), out(4, 3)], commandWith(7), ['/1/offset']],
	['an overlap', [out(0, 3), out(2, 5)], commandWith(7), ['/1/offset']],
	['a gap in a redacted output', [out(0, 3), out(13, 2)], commandWith(15, {output: {redactions: [{...redaction, offset: 3}]}}), ['/1/offset']],
	['a chunk beyond the file', [out(0, 8)], commandWith(7), ['/0/length', '']],
	['an end that is missing', [out(0, 3)], commandWith(7), ['']],
	['no chunk at all', [], commandWith(7), ['']],
	['a stream that the command does not have', [out(0, 7), err(0, 1)], commandWith(7), ['/1/kind']],
	['a chunk without offset', [{kind: 'out', length: 7}], commandWith(7), ['/0', '']],
	['a chunk with a sample', [{...sample, ...out(0, 7)}], commandWith(7), ['/0', '']],
	['a sample with an offset', [{...sample, offset: 0}], commandWith(0, {samples: 1}), ['/0']],
	['half a sample', [{kind: 'sample', cpu_us: 1}], commandWith(0, {samples: 1}), ['/0']],
	['more samples than the totals know', [sample, sample], commandWith(0, {samples: 1}), ['']],
	['more memory than the peak', [{...sample, rss_bytes: 101}], commandWith(0, {samples: 1}), ['']],
];

for (const [title, lines, command, expected] of contradictions) {
	test(`traceProblems() refuses ${title}`, t => {
		t.deepEqual(pointers(bytesOf(lines), command), [...expected]);
	});
}

const good = bytesOf([out(0, 7)]).toString();
const forms: ReadonlyArray<readonly [string, string]> = [
	['no line feed at the end', good.trimEnd()],
	['an empty line', `\n${good}`],
	['a carriage return', good.replace('\n', '\r\n')],
	['a blank', good.replace(':7', ': 7')],
	['keys in another order', good.replace(/^\{("cpu_us":null),(.*)\}\n$/, '{$2,$1}\n')],
	['an unknown key', good.replace('"kind"', '"kin"')],
	['a leading zero', good.replace(':7', ':07')],
	['a fraction', good.replace(':7', ':7.0')],
	['a number beyond the safe integers', good.replace(':7', ':9007199254740993')],
	['an unknown kind', good.replace('"out"', '"log"')],
	['no JSON', 'x\n'],
	['a second value in a line', good.replace('\n', '{}\n')],
];

for (const [title, text] of forms) {
	test(`traceProblems() refuses the form of a line with ${title}`, t => {
		t.not(text, good);
		t.true(pointers(Buffer.from(text), commandWith(7)).includes('/0'));
	});
}

test('traceProblems() refuses more chunk lines than the limit', t => {
	const lines = Array.from({length: traceLimits.maxChunkLines + 1}, (_, at) => out(at, 1));
	t.deepEqual(pointers(bytesOf(lines.slice(0, -1)), commandWith(traceLimits.maxChunkLines)), []);
	t.deepEqual(pointers(bytesOf(lines), commandWith(lines.length)), [`/${traceLimits.maxChunkLines}`]);
});

test('traceProblems() lists a bounded number of faults of a file that is none', t => {
	t.is(traceProblems(Buffer.alloc(1_000_000, '\n'), commandWith(7)).length, traceLimits.maxProblems);
	t.is(traceProblems(Buffer.alloc(1_000_000, 0xff), commandWith(7)).length, 2);
});
