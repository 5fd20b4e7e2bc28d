import {decodedViews, type KnownValues, noKnownValues} from './known-values.ts';
import type {OutputFile} from './manifest-schema.ts';
import {findPrivateKeys} from './private-keys.ts';
import {compiledRules} from './rule-search.ts';
import {keyMarkers, knownValueRule} from './secret-rules.ts';
import {type ByteRange, byteRange, rawView, type View} from './secret-views.ts';
import {terminalViews} from './terminal-views.ts';

/** What stands in the stored file where a secret stood. */
export const redactionMark = Buffer.from('[REDACTED]', 'latin1');
/** More hits than this drop the whole output. Source: shapes.ts: OutputFile. */
export const maxRedactions = 1000;

/** An output as it may be stored. */
export type ScannedOutput = {
	/** The bytes to store: the very bytes handed in where nothing was found. */
	readonly stored: Buffer;
	/** Offsets in the stored bytes, ascending. */
	readonly redactions: OutputFile['redactions'];
	/** The output was dropped as a whole: `stored` is exactly the mark. */
	readonly isDropped: boolean;
	/** Raw ranges that became a mark each, ascending; for remapOffset. */
	readonly replaced: ReadonlyArray<{readonly start: number; readonly end: number}>;
};

/** A secret in a byte string. */
export type SecretHit = ByteRange & {readonly rule: string};

/**
 * Replaces every secret in an output by [REDACTED].
 *
 * Shape: `bytes` is the whole output of one stream. Where there are more than 1,000 hits, a hit has no exact range, or something would still
 * be found in what is left, the output is dropped: the ten bytes of the mark, one redaction at 0. Nothing in the output can switch this off.
 * Source: R-OUT-2, E-V3-7, shapes.ts: OutputFile.
 */
export function scanOutput(bytes: Buffer, known: KnownValues): ScannedOutput {
	const hits = findSecrets(bytes, known);
	const [first] = hits;
	if (first === undefined) {
		return {stored: bytes, redactions: [], isDropped: false, replaced: []};
	}

	if (hits.length > maxRedactions || hits.some(hit => !hit.isExact)) {
		return dropped(bytes, first.rule);
	}

	const scanned = redacted(bytes, hits);
	return findSecrets(scanned.stored, known).length === 0 ? scanned : dropped(bytes, first.rule);
}

/** Every secret in the bytes, in any of the ways to read them: ascending, overlapping ones joined under the rule that stands first. Source: E-V3-7. */
export function findSecrets(bytes: Buffer, known: KnownValues = noKnownValues): SecretHit[] {
	if (bytes.length === 0) {
		return [];
	}

	const hits: SecretHit[] = [];
	const raw = rawView(bytes);
	for (const view of [raw, ...terminalViews(raw)]) {
		searchKnown(view, known, hits);
		searchRules(view, hits);
	}

	return joined(hits);
}

/**
 * Where raw offset `offset` of an output lies in what is stored of it. An offset within a redacted stretch lies behind its mark, so that the
 * chunk in which a secret begins owns the mark; of a dropped output the first chunk owns it.
 */
export function remapOffset(scanned: ScannedOutput, offset: number): number {
	let mapped = offset;
	for (const {start, end} of scanned.replaced) {
		if (offset <= start) {
			break;
		}

		mapped += redactionMark.length - (Math.min(offset, end) - start);
	}

	return mapped;
}

function redacted(bytes: Buffer, hits: readonly SecretHit[]): ScannedOutput {
	const pieces: Buffer[] = [];
	const redactions: OutputFile['redactions'] = [];
	let reached = 0;
	let length = 0;
	for (const {start, end, rule} of hits) {
		pieces.push(bytes.subarray(reached, start), redactionMark);
		redactions.push({offset: length + start - reached, length: 10, rule});
		length += start - reached + redactionMark.length;
		reached = end;
	}

	pieces.push(bytes.subarray(reached));
	return {stored: Buffer.concat(pieces), redactions, isDropped: false, replaced: hits};
}

function dropped(bytes: Buffer, rule: string): ScannedOutput {
	return {stored: redactionMark, redactions: [{offset: 0, length: 10, rule}], isDropped: true, replaced: [{start: 0, end: bytes.length}]};
}

function searchKnown(view: View, known: KnownValues, hits: SecretHit[]): void {
	if (known.isEmpty) {
		return;
	}

	for (const spelling of [view, ...decodedViews(view)]) {
		known.search(spelling.text, (start, end) => {
			hits.push({...byteRange(spelling, start, end), rule: knownValueRule});
		});
	}
}

function searchRules(view: View, hits: SecretHit[]): void {
	for (const {start, end} of findPrivateKeys(view.text)) {
		hits.push({...byteRange(view, start, end), rule: keyMarkers.id});
	}

	for (const rule of compiledRules()) {
		rule.search(view.text, (start, end) => {
			hits.push({...byteRange(view, start, end), rule: rule.id});
		});
	}
}

/** Joins hits that overlap; a hit that was found in several views is one. */
function joined(hits: readonly SecretHit[]): SecretHit[] {
	const ascending = hits
		.map((hit, precedence) => ({hit, precedence}))
		.toSorted((left, right) => left.hit.start - right.hit.start || left.hit.end - right.hit.end);
	const result: Array<{hit: SecretHit; precedence: number}> = [];
	for (const next of ascending) {
		const last = result.at(-1);
		if (last === undefined || next.hit.start >= last.hit.end) {
			result.push(next);
			continue;
		}

		const rule = next.precedence < last.precedence ? next.hit.rule : last.hit.rule;
		last.precedence = Math.min(last.precedence, next.precedence);
		last.hit = {start: last.hit.start, end: Math.max(last.hit.end, next.hit.end), isExact: last.hit.isExact && next.hit.isExact, rule};
	}

	return result.map(({hit}) => hit);
}
