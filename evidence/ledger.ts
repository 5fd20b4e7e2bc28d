import {closeSync, constants, fchmodSync, fstatSync, ftruncateSync, lstatSync, openSync, readSync, realpathSync} from 'node:fs';
import path from 'node:path';
import {canonicalFile} from '../core/canonical-json.ts';
import {type Clock, toRfc3339Ms} from '../core/clock.ts';
import {sha256Hex} from '../core/digest.ts';
import {BailiffError, errnoOf, type JsonValue} from '../core/errors.ts';
import {type FileFault, fileRefusal} from '../core/file-fault.ts';
import {ensurePrivateDirectory, flushDirectory, flushFile, privateModes, writeFully} from '../core/files.ts';
import {closing, SafeDirectory} from '../core/safe-file.ts';
import {parseStrictJson} from '../core/strict-json.ts';
import {type LedgerRun, ledgerLimits, type ParsedLedger, parseLedger} from './ledger-lines.ts';
import type {LedgerLine} from './ledger-schema.ts';
import {manifestLimits} from './manifest.ts';
import {manifestDecimalKeys, manifestSchema} from './manifest-schema.ts';
import {failingAs, writeFailure} from './write-failure.ts';

type LineBody = {[Event in LedgerLine['event']]: Omit<Extract<LedgerLine, {event: Event}>, 'n' | 'prev_sha256' | 'at'>}[LedgerLine['event']];

/** Where a line stands and when it was written. */
export type WrittenLine = {
	readonly n: number;
	/** Of the line without its LF. */
	readonly sha256: string;
	/** Wall clock, milliseconds since the epoch. */
	readonly atMs: number;
};

/**
 * The only writer of `ledger.jsonl`. It is opened under the issue lock, which proves that every earlier run without an end is over.
 *
 * Every line is flushed before its method returns. Source: E-LED-1, E-LED-2.
 */
export class LedgerWriter {
	readonly #file: string;
	readonly #descriptor: number;
	readonly #clock: Clock;
	readonly #runIds = new Set<string>();
	#position = 0;
	#count = 0;
	#lastSha256: string | null = null;

	private constructor(file: string, descriptor: number, clock: Clock) {
		this.#file = file;
		this.#descriptor = descriptor;
		this.#clock = clock;
	}

	/**
	 * Opens the ledger of `verificationDirectory` (created where missing, 0700; its parent exists) and first writes what earlier runs left out:
	 * `torn` in place of a torn tail, then `published` or `abandoned` for each run without an end.
	 *
	 * Refuses: EVIDENCE_LEDGER_INVALID (problems in `details.problems`), CORE_FILE_UNTRUSTED, CORE_FILE_NOT_REGULAR, EVIDENCE_WRITE_FAILED.
	 */
	static open(verificationDirectory: string, clock: Clock): LedgerWriter {
		failingAs('create', verificationDirectory, () => ensurePrivateDirectory(verificationDirectory, path.dirname(verificationDirectory)));
		const file = path.join(verificationDirectory, 'ledger.jsonl');
		const ledger = new LedgerWriter(file, openLedgerFile(file), clock);
		try {
			ledger.#repair(verificationDirectory);
			return ledger;
		} catch (error) {
			ledger.close();
			throw error;
		}
	}

	/**
	 * Writes the `started` line of a run, before its first command. Refuses: EVIDENCE_RUN_EXISTS when an earlier line or an entry of the
	 * directory has that id, EVIDENCE_WRITE_FAILED.
	 */
	started(run: {readonly runId: string; readonly planSha256: string; readonly sourceSha: string}): WrittenLine {
		const directory = path.join(path.dirname(this.#file), run.runId);
		if (this.#runIds.has(run.runId) || isThere(directory)) {
			throw new BailiffError('EVIDENCE_RUN_EXISTS', `the run id ${run.runId} was used before: a run id is never used twice, choose another one`, {
				details: {run_id: run.runId},
			});
		}

		this.#requireUntouched();
		const written = this.#append({event: 'started', run_id: run.runId, plan_sha256: run.planSha256, source_sha: run.sourceSha});
		this.#runIds.add(run.runId);
		return written;
	}

	/** Writes the `published` line, after the rename. Refuses: EVIDENCE_WRITE_FAILED (the next run then writes it). */
	published(run: {readonly runId: string; readonly manifestSha256: string; readonly result: 'passed' | 'failed'}): WrittenLine {
		this.#requireUntouched();
		return this.#append({event: 'published', run_id: run.runId, manifest_sha256: run.manifestSha256, result: run.result});
	}

	/** Closes the file. The object is of no use afterwards. */
	close(): void {
		closeSync(this.#descriptor);
	}

	#repair(verificationDirectory: string): void {
		const parsed = this.#read();
		if (parsed.torn !== null) {
			// Written over the torn bytes, so that no crash in between can lose the note of what was cut.
			this.#position = parsed.torn.offset;
			this.#append({event: 'torn', bytes: parsed.torn.bytes, sha256: parsed.torn.sha256});
		}

		for (const [runId, run] of parsed.runs) {
			this.#runIds.add(runId);
			this.#endEarlier(verificationDirectory, runId, run);
		}
	}

	#read(): ParsedLedger {
		const parsed = parseLedger(failingAs('read', this.#file, () => readAll(this.#descriptor)));
		if (parsed.problems.length > 0) {
			const first = parsed.problems[0];
			throw new BailiffError(
				'EVIDENCE_LEDGER_INVALID',
				`${JSON.stringify(this.#file)} is no sound ledger (line ${first?.pointer ?? ''}: ${first?.message ?? ''}): nothing is written to it, find out who changed it`,
				{details: {problems: parsed.problems}},
			);
		}

		this.#position = fstatSync(this.#descriptor).size;
		this.#count = parsed.entries.length;
		this.#lastSha256 = parsed.entries.at(-1)?.sha256 ?? null;
		return parsed;
	}

	#endEarlier(verificationDirectory: string, runId: string, run: LedgerRun): void {
		if (run.end !== null) {
			return;
		}

		if (isThere(path.join(verificationDirectory, runId))) {
			this.#append({event: 'published', run_id: runId, ...readPublished(verificationDirectory, runId)});
		} else {
			this.#append({event: 'abandoned', run_id: runId});
		}
	}

	/** Nobody else writes here while the lock is held. What somebody did all the same is neither overwritten nor cut off: it is left to be seen. */
	#requireUntouched(): void {
		const {dev, ino, size} = fstatSync(this.#descriptor);
		const there = lstatSync(this.#file, {throwIfNoEntry: false});
		if (size !== this.#position || there?.dev !== dev || there.ino !== ino) {
			throw new BailiffError(
				'EVIDENCE_WRITE_FAILED',
				`somebody else changed ${JSON.stringify(this.#file)} while the run was in custody: nothing more is written to it, find out who it was`,
				{details: {step: 'append to', path: this.#file, errno: null}},
			);
		}
	}

	#append(body: LineBody): WrittenLine {
		const atMs = this.#clock.wallMs();
		const line: JsonValue = {...body, n: this.#count + 1, prev_sha256: this.#lastSha256, at: toRfc3339Ms(atMs)};
		const bytes = canonicalFile(line);
		const sizeBefore = fstatSync(this.#descriptor).size;
		try {
			const end = writeFully(this.#descriptor, bytes, this.#position);
			ftruncateSync(this.#descriptor, end);
			flushFile(this.#descriptor);
			this.#position = end;
		} catch (error) {
			this.#cutBackTo(sizeBefore);
			throw writeFailure('append to', this.#file, error);
		}

		this.#count++;
		this.#lastSha256 = sha256Hex(bytes.subarray(0, -1));
		return {n: this.#count, sha256: this.#lastSha256, atMs};
	}

	/** Half a line would be read as torn; where even this fails, the next writer cuts it off and says so. What was torn before stays to be noted. */
	#cutBackTo(size: number): void {
		try {
			ftruncateSync(this.#descriptor, size);
		} catch {}
	}
}

function openLedgerFile(file: string): number {
	const flags = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;
	try {
		const descriptor = openSync(file, flags | constants.O_CREAT | constants.O_EXCL, privateModes.file);
		fchmodSync(descriptor, privateModes.file);
		flushDirectory(path.dirname(file));
		return descriptor;
	} catch (error) {
		if (errnoOf(error) !== 'EEXIST') {
			throw writeFailure('create', file, error);
		}
	}

	let descriptor: number;
	try {
		descriptor = openSync(file, flags);
	} catch (error) {
		throw errnoOf(error) === 'ELOOP' ? fileRefusal('link', file, {cause: error}) : writeFailure('open', file, error);
	}

	const fault = ledgerFault(descriptor);
	if (fault !== null) {
		closeSync(descriptor);
		throw fileRefusal(fault, file);
	}

	return descriptor;
}

function ledgerFault(descriptor: number): FileFault | null {
	const status = fstatSync(descriptor);
	if (!status.isFile()) {
		return 'type';
	}

	if (status.uid !== process.geteuid?.()) {
		return 'owner';
	}

	if ((status.mode & 0o7777) !== privateModes.file) {
		return 'mode';
	}

	if (status.nlink !== 1) {
		return 'nlink';
	}

	return status.size > ledgerLimits.maxBytes ? 'too-large' : null;
}

function readAll(descriptor: number): Buffer {
	const bytes = Buffer.alloc(fstatSync(descriptor).size);
	let done = 0;
	while (done < bytes.length) {
		const count = readSync(descriptor, bytes, done, bytes.length - done, done);
		if (count === 0) {
			break;
		}

		done += count;
	}

	return bytes.subarray(0, done);
}

function isThere(entry: string): boolean {
	return lstatSync(entry, {throwIfNoEntry: false}) !== undefined;
}

/** What a run that was renamed but not noted any more says of itself. */
function readPublished(verificationDirectory: string, runId: string): {readonly manifest_sha256: string; readonly result: 'passed' | 'failed'} {
	try {
		const content = closing(SafeDirectory.open(realpathSync(verificationDirectory)), top =>
			closing(top.enter(runId), run => run.readFile('manifest.json', {maxBytes: manifestLimits.maxBytes, mode: privateModes.file})),
		);
		const manifest = manifestSchema.parse(parseStrictJson(content.bytes, {...manifestLimits, decimalKeys: manifestDecimalKeys}));
		if (manifest.run_id === runId) {
			return {manifest_sha256: content.sha256, result: manifest.result};
		}
	} catch (error) {
		throw unreadableRun(runId, error);
	}

	throw unreadableRun(runId, undefined);
}

function unreadableRun(runId: string, cause: unknown): BailiffError {
	return new BailiffError(
		'EVIDENCE_LEDGER_INVALID',
		`the ledger has no end for the run ${runId}, and what stands under that name is no published run: find out who changed it and move it away`,
		{cause, details: {run_id: runId}},
	);
}
