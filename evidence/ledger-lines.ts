import {canonicalJson} from '../core/canonical-json.ts';
import {sha256Hex} from '../core/digest.ts';
import {BailiffError} from '../core/errors.ts';
import {parseStrictJson} from '../core/strict-json.ts';
import {type LedgerLine, ledgerLineSchema} from './ledger-schema.ts';
import type {Problem} from './problems.ts';
import {schemaProblems} from './schema-problems.ts';

/** Limits of a ledger: a line is far below 1 KiB, so this is some 200,000 runs. */
export const ledgerLimits = {maxBytes: 64 * 1_048_576, maxLineBytes: 4096, maxDepth: 24, maxProblems: 1000} as const;

/** One line of the ledger that could be read. */
export type LedgerEntry<Event extends LedgerLine['event'] = LedgerLine['event']> = {
	readonly line: Extract<LedgerLine, {event: Event}>;
	/** Of the bytes of the line without its LF: what the next line and the manifest name. */
	readonly sha256: string;
};

/** What the ledger says of one run. */
export type LedgerRun = {
	readonly started: LedgerEntry<'started'>;
	/** The `published` or `abandoned` line, null where the run never ended. */
	readonly end: LedgerEntry<'published' | 'abandoned'> | null;
};

/** A ledger as it was read: everything that could be read and everything that is wrong. */
export type ParsedLedger = {
	readonly entries: readonly LedgerEntry[];
	/** By run id, in the order of their `started` lines. */
	readonly runs: ReadonlyMap<string, LedgerRun>;
	/** Bytes after the last LF: what a power loss left (a named state, no problem by itself). */
	readonly torn: {readonly offset: number; readonly bytes: number; readonly sha256: string} | null;
	/** EVIDENCE_LEDGER_FORM for a line that is no ledger line, EVIDENCE_LEDGER_CHAIN for one that does not follow; pointer `/<index of the line>`. */
	readonly problems: readonly Problem[];
};

/**
 * Reads the bytes of ledger.jsonl: form of every line, chain of digests from the first line on, one end at most for every run.
 *
 * Total: any bytes give an answer. Bytes beyond the limit are a problem of the whole file and nothing is read.
 * Source: E-LED-1, E-LED-3, shapes.ts: LedgerLine.
 */
export function parseLedger(bytes: Uint8Array): ParsedLedger {
	const reading = new LedgerReading();
	if (bytes.length > ledgerLimits.maxBytes) {
		reading.report('EVIDENCE_LEDGER_FORM', '', `the ledger has ${bytes.length} bytes, the limit is ${ledgerLimits.maxBytes}`);
		return {entries: [], runs: new Map(), torn: null, problems: reading.problems};
	}

	let start = 0;
	for (let end = bytes.indexOf(0x0a); end !== -1 && reading.problems.length < ledgerLimits.maxProblems; end = bytes.indexOf(0x0a, start)) {
		reading.take(bytes.subarray(start, end));
		start = end + 1;
	}

	// Behind the last LF, also where the reading gave up before it.
	const tailStart = bytes.lastIndexOf(0x0a) + 1;
	const tail = bytes.subarray(tailStart);
	return {
		entries: reading.entries,
		runs: reading.runs,
		torn: tail.length === 0 ? null : {offset: tailStart, bytes: tail.length, sha256: sha256Hex(tail)},
		problems: reading.problems,
	};
}

class LedgerReading {
	readonly entries: LedgerEntry[] = [];
	readonly runs = new Map<string, LedgerRun>();
	readonly problems: Problem[] = [];
	#count = 0;
	#previousSha256: string | null = null;

	report(code: Problem['code'], pointer: string, message: string): void {
		this.problems.push({code, path: 'ledger.jsonl', pointer, message});
	}

	/** Takes the bytes of the next line, without its LF. */
	take(bytes: Uint8Array): void {
		const index = this.#count++;
		const sha256 = sha256Hex(bytes);
		const line = this.#read(bytes, `/${index}`);
		if (line !== null) {
			this.#checkChain(line, index);
			const entry = {line, sha256};
			this.entries.push(entry);
			this.#enter(entry, `/${index}`);
		}

		this.#previousSha256 = sha256;
	}

	#read(bytes: Uint8Array, pointer: string): LedgerLine | null {
		try {
			const value = parseStrictJson(bytes, {maxBytes: ledgerLimits.maxLineBytes, maxDepth: ledgerLimits.maxDepth});
			const parsed = ledgerLineSchema.safeParse(value);
			if (!parsed.success) {
				const found = schemaProblems(parsed.error.issues, {value, path: 'ledger.jsonl'});
				this.report('EVIDENCE_LEDGER_FORM', pointer, `not a ledger line: ${found.map(problem => `${problem.pointer} ${problem.message}`).join('; ')}`);
				return null;
			}

			if (!Buffer.from(canonicalJson(parsed.data), 'utf8').equals(bytes)) {
				this.report('EVIDENCE_LEDGER_FORM', pointer, 'the line is not in canonical form (RFC 8785)');
				return null;
			}

			return parsed.data;
		} catch (error) {
			if (error instanceof BailiffError) {
				this.report('EVIDENCE_LEDGER_FORM', pointer, `not a ledger line: ${error.message}`);
				return null;
			}

			throw error;
		}
	}

	#checkChain(line: LedgerLine, index: number): void {
		if (line.n !== index + 1) {
			this.report('EVIDENCE_LEDGER_CHAIN', `/${index}/n`, `the line says number ${line.n} and is number ${index + 1}`);
		}

		if (line.prev_sha256 !== this.#previousSha256) {
			this.report('EVIDENCE_LEDGER_CHAIN', `/${index}/prev_sha256`, 'the line does not name the digest of the line before it');
		}
	}

	#enter(entry: LedgerEntry, pointer: string): void {
		const {line} = entry;
		if (line.event === 'torn') {
			return;
		}

		const run = this.runs.get(line.run_id);
		if (line.event === 'started') {
			if (run === undefined) {
				this.runs.set(line.run_id, {started: {line, sha256: entry.sha256}, end: null});
			} else {
				this.report('EVIDENCE_LEDGER_CHAIN', `${pointer}/run_id`, `the run ${line.run_id} was started before`);
			}

			return;
		}

		if (run === undefined || run.end !== null) {
			this.report('EVIDENCE_LEDGER_CHAIN', `${pointer}/run_id`, `the run ${line.run_id} ${run === undefined ? 'was never started' : 'has ended before'}`);
			return;
		}

		this.runs.set(line.run_id, {started: run.started, end: {line, sha256: entry.sha256}});
	}
}
