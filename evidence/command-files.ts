import {canonicalJson} from '../core/canonical-json.ts';
import {sha256Hex} from '../core/digest.ts';
import type {KnownValues} from './known-values.ts';
import type {CommandRecord, OutputFile, TraceLine} from './manifest-schema.ts';
import {outputPaths} from './output-paths.ts';
import {remapOffset, type ScannedOutput, scanOutput} from './secret-scan.ts';
import type {RunStage} from './store.ts';

/** The bytes of one stream as they were kept, raw and unscanned. */
export type CapturedOutput = {
	readonly bytes: Buffer;
	readonly seenBytes: number;
	/** End of file was reached and nothing was dropped. */
	readonly isComplete: boolean;
};

/** What one command left in memory. */
export type CapturedCommand = {
	readonly index: number;
	readonly output: CapturedOutput;
	/** Only with split streams. */
	readonly errorOutput: CapturedOutput | null;
	/** Offsets in the raw streams. */
	readonly trace: readonly TraceLine[];
};

/** What one command leaves in the evidence: scanned, not yet written. */
export type CommandFiles = {
	readonly output: OutputFile;
	readonly errorOutput: OutputFile | null;
	readonly trace: CommandRecord['trace'];
	/** A secret was found in an output: the run stops here (stop.reason secret_detected). */
	readonly hasSecret: boolean;
	/** The bytes to write, by run-relative path. */
	readonly contents: ReadonlyArray<{readonly path: string; readonly bytes: Uint8Array}>;
};

/**
 * Scans the outputs of one command, whole, and says what may be kept, with the trace in the offsets of what is kept. Called when the command has
 * ended and before the next one starts; `writeCommandFiles` may then run beside the next command, since no unscanned byte ever reaches the disk.
 *
 * Source: R-OUT-2, R-OUT-3, R-OUT-4.
 */
export function scanCommandFiles(captured: CapturedCommand, known: KnownValues): CommandFiles {
	const paths = outputPaths(captured.index);
	const output = scanOutput(captured.output.bytes, known);
	const error = captured.errorOutput === null ? null : {captured: captured.errorOutput, scanned: scanOutput(captured.errorOutput.bytes, known)};
	const trace = traceBytes(remapTrace(captured.trace, {out: output, err: error?.scanned ?? null}));
	return {
		output: outputFile(paths.output, captured.output, output),
		errorOutput: error === null ? null : outputFile(paths.errorOutput, error.captured, error.scanned),
		trace: {path: paths.trace, sha256: sha256Hex(trace), bytes: trace.length},
		hasSecret: output.redactions.length > 0 || (error?.scanned.redactions.length ?? 0) > 0,
		contents: [
			{path: paths.output, bytes: output.stored},
			...(error === null ? [] : [{path: paths.errorOutput, bytes: error.scanned.stored}]),
			{path: paths.trace, bytes: trace},
		],
	};
}

/** Writes what `scanCommandFiles` let through. Refuses: EVIDENCE_WRITE_FAILED. Source: R-OUT-4, E-PUB-2. */
export function writeCommandFiles(stage: RunStage, files: CommandFiles): void {
	for (const {path, bytes} of files.contents) {
		stage.write(path, bytes);
	}
}

/**
 * The trace with offsets and lengths in the stored files. The chunk in which a secret begins owns its whole mark; a chunk of which nothing is
 * left has no line. Of a dropped output the first chunk owns the mark. So the chunks of a stream follow each other without a gap in what is stored.
 */
export function remapTrace(trace: readonly TraceLine[], scanned: {readonly out: ScannedOutput; readonly err: ScannedOutput | null}): readonly TraceLine[] {
	if (scanned.out.redactions.length === 0 && (scanned.err?.redactions.length ?? 0) === 0) {
		return trace;
	}

	return trace.flatMap(line => {
		const stream = line.kind === 'err' ? scanned.err : scanned.out;
		if (line.kind === 'sample' || stream === null || line.offset === null || line.length === null) {
			return [line];
		}

		const offset = remapOffset(stream, line.offset);
		const length = remapOffset(stream, line.offset + line.length) - offset;
		return length === 0 ? [] : [{...line, offset, length}];
	});
}

/** The bytes of a trace file: one canonical JSON object a line. Source: shapes.ts: TraceLine. */
export function traceBytes(trace: readonly TraceLine[]): Buffer {
	return Buffer.from(trace.map(line => `${canonicalJson(line)}\n`).join(''), 'utf8');
}

function outputFile(path: string, captured: CapturedOutput, scanned: ScannedOutput): OutputFile {
	return {
		path,
		sha256: sha256Hex(scanned.stored),
		bytes: scanned.stored.length,
		seen_bytes: captured.seenBytes,
		complete: captured.isComplete && !scanned.isDropped,
		redactions: scanned.redactions,
	};
}
