import {closing, type FileContent, type SafeDirectory} from '../core/safe-file.ts';
import {claimProblems} from './claims-check.ts';
import {parseDocument} from './document-reader.ts';
import {manifestLimits} from './manifest.ts';
import {type ReadManifest, readManifest} from './manifest-reader.ts';
import type {CommandRecord, Manifest, OutputFile} from './manifest-schema.ts';
import {outputPaths} from './output-paths.ts';
import {planLimits, type ResolvedPlan, resolvePlan} from './plan.ts';
import {planMatchProblems} from './plan-match.ts';
import {planDecimalKeys, planSchema} from './plan-schema.ts';
import type {Problem} from './problems.ts';
import {enterEvidenceDirectory, type FileReading, listEvidenceDirectory, readEvidenceFile, reportUnlisted} from './run-files.ts';
import {schemaProblems} from './schema-problems.ts';
import {stopProblems} from './stop-rules.ts';
import {traceLimits, traceProblems} from './trace-check.ts';
import {redactedText, timeProblems, truthTableProblems} from './truth-table.ts';

/** Bound of a stored output: the limit of a plan, and 1,000 redactions that each take ten bytes. */
const maxOutputBytes = 1_048_576 + 1000 * redactedText.length;
/** 256 commands with three files each, and room to name what should not be there. */
const maxEntries = 2048;

/** What one published run says, as far as it could be read. */
export type RunReading = {
	readonly manifestSha256: string | null;
	readonly manifest: Manifest | null;
	/** Of the bytes of plan.json as they are. */
	readonly planSha256: string | null;
	readonly plan: ResolvedPlan | null;
};

/** What is looked for in stored outputs, beside what the manifest says of them: the names of the rules that hit. Handed in, because it costs time. */
export type OutputScan = (bytes: Buffer) => readonly string[];

/** How a run is read. */
export type RunRequest = FileReading & {
	readonly runId: string;
	readonly scan: OutputScan | null;
};

/** A run whose manifest has been read and whose other files have not. The caller closes its directory. */
export type OpenRun = {readonly directory: SafeDirectory; readonly manifestSha256: string | null; readonly read: ReadManifest | null};

/**
 * Opens one run below `verification/` and reads its manifest; null when there is no such directory. All problems go to `request.problems`.
 *
 * Source: E-READ-1, E-READ-6.
 */
export function openRun(verification: SafeDirectory, request: RunRequest): OpenRun | null {
	const directory = enterEvidenceDirectory(verification, request.runId, {...request, path: null});
	if (directory === null) {
		return null;
	}

	const file = readEvidenceFile(directory, {name: 'manifest.json', path: 'manifest.json', maxBytes: manifestLimits.maxBytes}, request);
	return {directory, manifestSha256: file?.sha256 ?? null, read: file === null ? null : readManifest(file.bytes, request.problems)};
}

/**
 * Reads everything else of an open run, holds it against itself: entries, modes, owners, plan, claims, truth table, stop rules,
 * outputs and traces. All problems go to `request.problems`.
 *
 * Total for any content; memory is bounded by the largest file. Source: E-READ-1, E-READ-6.
 */
export function finishRun({directory, read, manifestSha256}: OpenRun, request: RunRequest): RunReading {
	const {problems} = request;
	const listed = new Set(['plan.json', 'manifest.json', 'output']);
	reportUnlisted(listEvidenceDirectory(directory, maxEntries, {...request, path: null}) ?? [], listed, {prefix: '', problems});
	const {plan, planSha256} = readPlan(directory, read?.manifest ?? null, request);
	const outputs = readOutputs(directory, read?.manifest ?? null, request);
	problems.addAll(read === null ? [] : recordProblems(read, plan, outputs));
	return {manifestSha256, manifest: read?.manifest ?? null, planSha256, plan};
}

/** Both halves at once, for readers that look at nothing in between. */
export function readRun(verification: SafeDirectory, request: RunRequest): RunReading {
	const run = openRun(verification, request);
	return run === null ? nothingRead : closing(run.directory, () => finishRun(run, request));
}

/** The reading of a run that is not there. */
export const nothingRead: RunReading = {manifestSha256: null, manifest: null, planSha256: null, plan: null};

/** Everything that follows from the documents and the digests alone. */
function recordProblems({value, manifest}: ReadManifest, plan: ResolvedPlan | null, outputs: ReadonlyMap<string, string>): Problem[] {
	return [
		...manifest.commands.flatMap((command, index) => truthTableProblems(command, index)),
		...timeProblems(manifest),
		...claimProblems({value, manifest, plan, outputs}),
		...headProblems(manifest),
		...(plan === null ? [] : [...planMatchProblems(manifest, plan), ...stopProblems(manifest, plan)]),
	];
}

function headProblems({source}: Manifest): Problem[] {
	const message = 'the run was made on another commit than it says';
	return source.head_before === source.sha ? [] : [{code: 'EVIDENCE_SOURCE_HEAD', path: 'manifest.json', pointer: '/source/head_before', message}];
}

function readPlan(run: SafeDirectory, manifest: Manifest | null, request: RunRequest): {plan: ResolvedPlan | null; planSha256: string | null} {
	const path = 'plan.json';
	const size = manifest === null ? {} : {bytes: manifest.plan.bytes};
	const file = readEvidenceFile(run, {name: path, path, maxBytes: planLimits.maxBytes, ...size}, request);
	if (file === null) {
		return {plan: null, planSha256: null};
	}

	if (manifest !== null && manifest.plan.sha256 !== file.sha256) {
		request.problems.add({code: 'EVIDENCE_DIGEST', path, pointer: '', message: 'the digest is not the one that the manifest names'});
	}

	return {plan: planOf(file, request), planSha256: file.sha256};
}

function planOf(file: FileContent, {problems}: RunRequest): ResolvedPlan | null {
	const path = 'plan.json';
	const value = parseDocument(file.bytes, {...planLimits, decimalKeys: planDecimalKeys}, {path, problems});
	if (value === null) {
		return null;
	}

	const parsed = planSchema.safeParse(value);
	problems.addAll(parsed.success ? [] : schemaProblems(parsed.error.issues, {value, path}));
	return parsed.success ? resolvePlan(parsed.data) : null;
}

/** Reads every stored file at the place that its command has, whatever path the manifest claims; returns the digests by path. */
function readOutputs(run: SafeDirectory, manifest: Manifest | null, request: RunRequest): ReadonlyMap<string, string> {
	const digests = new Map<string, string>();
	const output = enterEvidenceDirectory(run, 'output', {...request, path: 'output'});
	if (output === null) {
		return digests;
	}

	return closing(output, () => {
		if (manifest === null) {
			return digests;
		}

		const stored = manifest.commands.flatMap((command, index) => storedFiles(command, index));
		const names = listEvidenceDirectory(output, maxEntries, {...request, path: 'output'}) ?? [];
		reportUnlisted(names, new Set(stored.map(({path}) => path.slice('output/'.length))), {prefix: 'output/', problems: request.problems});
		const into = Buffer.allocUnsafe(maxOutputBytes);
		for (const file of stored) {
			const sha256 = checkStored(output, file, {...request, into});
			if (sha256 !== null) {
				digests.set(file.path, sha256);
			}
		}

		return digests;
	});
}

type StoredFile = {
	readonly path: string;
	readonly pointer: string;
	readonly record: {readonly sha256: string; readonly bytes: number};
	/** Null for a trace. */
	readonly output: OutputFile | null;
	readonly command: CommandRecord;
};

function storedFiles(command: CommandRecord, index: number): StoredFile[] {
	const pointer = `/commands/${index}`;
	const paths = outputPaths(index);
	const files: StoredFile[] = [{path: paths.output, pointer: `${pointer}/output`, record: command.output, output: command.output, command}];
	for (const [at, extra] of command.extra_outputs.entries()) {
		files.push({path: paths.errorOutput, pointer: `${pointer}/extra_outputs/${at}`, record: extra, output: extra, command});
	}

	return [...files, {path: paths.trace, pointer: `${pointer}/trace`, record: command.trace, output: null, command}];
}

function checkStored(directory: SafeDirectory, stored: StoredFile, request: RunRequest & {readonly into: Buffer}): string | null {
	const {path, record, output, pointer} = stored;
	const maxBytes = output === null ? traceLimits.maxBytes : maxOutputBytes;
	const file = readEvidenceFile(directory, {name: path.slice('output/'.length), path, maxBytes, bytes: record.bytes, into: request.into}, request);
	if (file === null) {
		return null;
	}

	if (file.sha256 !== record.sha256) {
		request.problems.add({code: 'EVIDENCE_DIGEST', path, pointer: '', message: `the digest is not the one that the manifest names at ${pointer}/sha256`});
	}

	if (output === null) {
		request.problems.addAll(traceProblems(file.bytes, stored.command));
		return file.sha256;
	}

	request.problems.addAll(redactionByteProblems(file.bytes, output, pointer));
	for (const rule of request.scan?.(file.bytes) ?? []) {
		request.problems.add({code: 'EVIDENCE_SECRET_FOUND', path, pointer: '', message: `the stored output holds what looks like a secret (rule ${rule})`});
	}

	return file.sha256;
}

/** Where a redaction is recorded the stored bytes read [REDACTED]. Source: shapes.ts: OutputFile.redactions. */
function redactionByteProblems(bytes: Buffer, output: OutputFile, pointer: string): Problem[] {
	return output.redactions.flatMap(({offset, length}, at) =>
		bytes.toString('latin1', offset, offset + length) === redactedText
			? []
			: [{code: 'EVIDENCE_REDACTION', path: output.path, pointer: `${pointer}/redactions/${at}`, message: `the stored bytes do not read ${redactedText} here`}],
	);
}
