import {randomBytes} from 'node:crypto';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import * as fc from 'fast-check';
import {type CapturedCommand, type CommandFiles, remapTrace, scanCommandFiles, traceBytes, writeCommandFiles} from '../../evidence/command-files.ts';
import {noKnownValues} from '../../evidence/known-values.ts';
import type {TraceLine} from '../../evidence/manifest-schema.ts';
import {scanOutput} from '../../evidence/secret-scan.ts';
import {RunStage} from '../../evidence/store.ts';
import {loadNative} from '../../native/index.ts';
import {withEvidenceDirectory} from '../helpers/evidence-directory.ts';

const token = `ghp_${randomBytes(18).toString('hex')}`;
const sample: TraceLine = {t_us: 50, kind: 'sample', offset: null, length: null, cpu_us: 1, rss_bytes: 2, processes: 3};

function chunk(kind: 'out' | 'err', offset: number, length: number): TraceLine {
	return {t_us: offset, kind, offset, length, cpu_us: null, rss_bytes: null, processes: null};
}

const captured = (text: string): CapturedCommand['output'] => ({bytes: Buffer.from(text), seenBytes: Buffer.byteLength(text), isComplete: true});

function stored(command: CapturedCommand, use: (files: CommandFiles, read: (path: string) => string) => void): void {
	withEvidenceDirectory(directory => {
		const stage = RunStage.open(directory.verification, 'run', loadNative());
		const files = scanCommandFiles(command, noKnownValues);
		writeCommandFiles(stage, files);
		stage.publish();
		use(files, path => readFileSync(join(stage.runDirectory, path), 'utf8'));
	});
}

test('a silent command leaves an empty output and an empty trace', t => {
	stored({index: 3, output: captured(''), errorOutput: null, trace: []}, (files, read) => {
		t.like(files, {hasSecret: false, errorOutput: null});
		t.like(files.output, {path: 'output/003.log', bytes: 0, seen_bytes: 0, complete: true});
		t.deepEqual(files.output.redactions, []);
		t.is(read('output/003.trace.jsonl'), '');
		t.is(files.trace.bytes, 0);
	});
});

test('no byte of a secret reaches the disk, in neither stream, and the rest does', t => {
	stored(
		{
			index: 0,
			output: captured(`a ${token} b`),
			errorOutput: captured(`c ${token}`),
			trace: [chunk('out', 0, 10), chunk('err', 0, token.length + 2), sample, chunk('out', 10, token.length - 6)],
		},
		(files, read) => {
			t.true(files.hasSecret);
			t.is(read('output/000.log'), 'a [REDACTED] b');
			t.is(read('output/000.err'), 'c [REDACTED]');
			t.is(files.output.seen_bytes, token.length + 4);
			t.true(files.output.complete);
			t.is(
				read('output/000.trace.jsonl'),
				traceBytes([{...chunk('out', 0, 12)}, {...chunk('err', 0, 12)}, sample, {...chunk('out', 10, 0), offset: 12, length: 2}]).toString(),
			);
		},
	);
});

test('a dropped output is the mark alone, is not complete, and its first chunk owns the mark', t => {
	const text = `${token}\n`.repeat(1001);
	stored({index: 0, output: captured(text), errorOutput: null, trace: [chunk('out', 0, 100), chunk('out', 100, text.length - 100)]}, (files, read) => {
		t.is(read('output/000.log'), '[REDACTED]');
		t.false(files.output.complete);
		t.is(files.output.seen_bytes, text.length);
		t.deepEqual(files.output.redactions, [{offset: 0, length: 10, rule: 'github-token'}]);
		t.is(read('output/000.trace.jsonl'), traceBytes([chunk('out', 0, 10)]).toString());
	});
});

test('the chunks of a remapped trace follow each other without a gap through all that is stored', t => {
	const pieces = fc.array(fc.oneof(fc.constant(token), fc.string({maxLength: 8})), {maxLength: 12});
	fc.assert(
		fc.property(pieces, fc.array(fc.integer({min: 1, max: 60}), {maxLength: 40}), (texts, lengths) => {
			const bytes = Buffer.from(texts.join(' '));
			const trace: TraceLine[] = [];
			let at = 0;
			for (const length of [...lengths, bytes.length]) {
				const kept = Math.min(length, bytes.length - at);
				if (kept > 0) {
					trace.push(chunk('out', at, kept));
				}

				at += kept;
			}

			const scanned = scanOutput(bytes, noKnownValues);
			let reached = 0;
			for (const line of remapTrace(trace, {out: scanned, err: null})) {
				t.is(line.offset, reached);
				t.true((line.length ?? 0) > 0);
				reached += line.length ?? 0;
			}

			t.is(reached, scanned.stored.length);
		}),
		{numRuns: 300},
	);
});

test('a failed write leaves no stage and no run', t => {
	withEvidenceDirectory(directory => {
		const stage = RunStage.open(directory.verification, 'run', loadNative());
		const command = {index: 0, output: captured('x'), errorOutput: null, trace: []};
		const files = scanCommandFiles(command, noKnownValues);
		writeCommandFiles(stage, files);
		t.throws(() => writeCommandFiles(stage, files), {code: 'EVIDENCE_WRITE_FAILED'});
		t.deepEqual(readdirSync(directory.verification), []);
		t.false(existsSync(stage.runDirectory));
	});
});
