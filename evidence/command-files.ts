import {canonicalJson} from '../core/canonical-json.ts';
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

/** What the manifest says of the files of one command. */
export type CommandFiles = {
	readonly output: OutputFile;
	readonly errorOutput: OutputFile | null;
	readonly trace: CommandRecord['trace'];
	/** A secret was found in an output: the run stops here (stop.reason secret_detected). */
	readonly hasSecret: boolean;
};

/**
 * Scans the outputs of one command and writes what may be kept, with the trace in the offsets of what is kept. Called when the command has
 * ended and before the next one starts, so that no unscanned byte is ever on disk.
 *
 * Refuses: EVIDENCE_WRITE_FAILED. Source: R-OUT-2, R-OUT-3, R-OUT-4.
 */
export function storeCommandFiles(stage: RunStage, captured: CapturedCommand, known: KnownValues): CommandFiles {
	const paths = outputPaths(captured.index);
	const output = scanOutput(captured.output.bytes, known);
	const errorOutput = captured.errorOutput === null ? null : {captured: captured.errorOutput, scanned: scanOutput(captured.errorOutput.bytes, known)};
	const trace = remapTrace(captured.trace, {out: output, err: errorOutput?.scanned ?? null});
	return {
		output: storeOutput(stage, paths.output, captured.output, output),
		errorOutput: errorOutput === null ? null : storeOutput(stage, paths.errorOutput, errorOutput.captured, errorOutput.scanned),
		trace: stage.write(paths.trace, traceBytes(trace)),
		hasSecret: output.redactions.length > 0 || (errorOutput?.scanned.redactions.length ?? 0) > 0,
	};
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

function storeOutput(stage: RunStage, path: string, captured: CapturedOutput, scanned: ScannedOutput): OutputFile {
	return {
		...stage.write(path, scanned.stored),
		seen_bytes: captured.seenBytes,
		complete: captured.isComplete && !scanned.isDropped,
		redactions: scanned.redactions,
	};
}
