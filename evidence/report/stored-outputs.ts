import type {SafeDirectory} from '../../core/safe-file.ts';
import type {CommandRecord, OutputFile} from '../manifest-schema.ts';
import {outputPaths} from '../output-paths.ts';
import {type FileReading, readEvidenceFile} from '../run-files.ts';
import {findSecrets} from '../secret-scan.ts';
import {traceLimits} from '../trace-check.ts';
import {type Excerpt, excerptOf} from './excerpt.ts';
import type {ReportOutput} from './report-schema.ts';
import {plainTerminalText} from './terminal-text.ts';

/** One output of a run, and the bytes of it that a report may show (null: nothing). */
export type StoredOutput = {readonly output: ReportOutput; readonly excerpt: Excerpt | null};

/** Where outputs are read: null where the directory cannot be opened. */
export type OutputDirectory = {readonly directory: SafeDirectory | null; readonly reading: FileReading; readonly halfBytes: number};

/**
 * Both streams of one command. Read at the place that the command has, whatever path the manifest claims; shown only where the bytes have the digest
 * that the manifest names and hold nothing that looks like a secret. Source: E-VIEW-1, E-READ-6.
 */
export function readStoredOutputs(from: OutputDirectory, record: CommandRecord, index: number): StoredOutput[] {
	const paths = outputPaths(index);
	const [error] = record.extra_outputs;
	const output = readStored(from, {file: record.output, stream: 'out', path: paths.output});
	return error === undefined ? [output] : [output, readStored(from, {file: error, stream: 'err', path: paths.errorOutput})];
}

/** The bytes of the trace of one command; none where it has another digest than the manifest names. */
export function readTrace({directory, reading}: OutputDirectory, record: CommandRecord, index: number): Buffer {
	const {trace} = outputPaths(index);
	const request = {name: nameOf(trace), path: trace, maxBytes: traceLimits.maxBytes, bytes: record.trace.bytes};
	const file = directory === null ? null : readEvidenceFile(directory, request, reading);
	return file !== null && file.sha256 === record.trace.sha256 ? file.bytes : Buffer.alloc(0);
}

type Named = {readonly file: OutputFile; readonly stream: 'out' | 'err'; readonly path: string};

function readStored({directory, reading, halfBytes}: OutputDirectory, {file, stream, path}: Named): StoredOutput {
	const {sha256, bytes, seen_bytes, complete} = file;
	const about = {stream, path, sha256, bytes, seen_bytes, complete, redactions: file.redactions.length};
	const stored = directory === null ? null : readEvidenceFile(directory, {name: nameOf(path), path, maxBytes: bytes, bytes}, reading);
	if (stored === null) {
		return {output: {...about, withheld: 'unreadable', text: null}, excerpt: null};
	}

	if (stored.sha256 !== sha256) {
		return {output: {...about, withheld: 'digest', text: null}, excerpt: null};
	}

	const excerpt = excerptOf(stored.bytes, halfBytes);
	if (findSecrets(excerpt.head).length > 0 || findSecrets(excerpt.tail).length > 0) {
		return {output: {...about, withheld: 'secret', text: null}, excerpt: null};
	}

	const text = {head: plainTerminalText(excerpt.head), tail: plainTerminalText(excerpt.tail), omitted_bytes: excerpt.omittedBytes};
	return {output: {...about, withheld: null, text}, excerpt};
}

function nameOf(path: string): string {
	return path.slice('output/'.length);
}
