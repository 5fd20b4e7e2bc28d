import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import * as fc from 'fast-check';
import {canonicalFile, canonicalJson} from '../../core/canonical-json.ts';
import {sha256Hex} from '../../core/digest.ts';
import type {JsonValue} from '../../core/errors.ts';
import {parseStrictJson} from '../../core/strict-json.ts';
import {type ValidateAnswer, validateRun} from '../../evidence/index.ts';
import {example, exampleDirectory, exampleManifest, exampleSource, RunCopy} from '../helpers/example-run.ts';

const copy = new RunCopy();
test.after.always(() => {
	copy.remove();
});

function validate(): Promise<ValidateAnswer> {
	return validateRun({verificationDir: copy.verification, target: example.target, runId: example.runId, source: exampleSource});
}

/** Every file of the run, relative to `verification`. */
const files = [
	'ledger.jsonl',
	...['manifest.json', 'plan.json', 'output/000.log', 'output/001.log', 'output/000.trace.jsonl', 'output/001.trace.jsonl'].map(
		name => `${example.runId}/${name}`,
	),
];
const originals = new Map(files.map(file => [file, readFileSync(join(exampleDirectory, file))]));

function original(file: string): Buffer {
	return originals.get(file) ?? Buffer.alloc(0);
}

async function answerTo(file: string, bytes: Uint8Array): Promise<ValidateAnswer> {
	writeFileSync(join(copy.verification, file), bytes);
	try {
		return await validate();
	} finally {
		writeFileSync(join(copy.verification, file), original(file));
	}
}

/** Refused; or the ledger, whose tail may be torn or cut: then that state has a name. */
function isNoticed(file: string, answer: ValidateAnswer): boolean {
	return answer.verdict === 'invalid' || (file === 'ledger.jsonl' && answer.problems.some(problem => problem.code.startsWith('EVIDENCE_LEDGER_')));
}

/** The moment of the last line is the one thing that nothing else names; whoever kept the head of the ledger sees it (E-LED-3). */
function differsInLastMoment(file: string, bytes: Buffer): boolean {
	return file === 'ledger.jsonl' && withoutLastMoment(bytes) === withoutLastMoment(original(file));
}

function withoutLastMoment(bytes: Buffer): string {
	return bytes.toString('latin1').replace(/\{"at":"[^"]{24}"(?=[^\n]*\n$)/, '');
}

const mutation = fc.record({
	file: fc.constantFrom(...files),
	kind: fc.constantFrom('flip', 'insert', 'delete', 'swap', 'cut'),
	at: fc.nat(),
	second: fc.nat(),
	byte: fc.integer({min: 1, max: 255}),
	length: fc.integer({min: 1, max: 40}),
});
type Mutation = typeof mutation extends fc.Arbitrary<infer T> ? T : never;

function mutated(bytes: Buffer, {kind, at, second, byte, length}: Mutation): Buffer {
	const start = at % bytes.length;
	const copied = Buffer.from(bytes);
	switch (kind) {
		case 'flip':
			copied.writeUInt8(copied.readUInt8(start) ^ byte, start);
			return copied;
		case 'insert':
			return Buffer.concat([bytes.subarray(0, start), Buffer.alloc(length, byte), bytes.subarray(start)]);
		case 'delete':
			return Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + length)]);
		case 'swap': {
			const place = second % bytes.length;
			copied.writeUInt8(bytes.readUInt8(place), start);
			copied.writeUInt8(bytes.readUInt8(start), place);
			return copied;
		}

		case 'cut':
			return bytes.subarray(0, start);
		default:
			return kind satisfies never;
	}
}

test.serial('a byte that is flipped, inserted, deleted, swapped or cut in any file is noticed', async t => {
	await fc.assert(
		fc.asyncProperty(mutation, async change => {
			const bytes = original(change.file);
			const after = mutated(bytes, change);
			fc.pre(after.equals(bytes) || change.file !== 'ledger.jsonl' || !withoutLastTime(after).equals(withoutLastTime(bytes)));
			const answer = await answerTo(change.file, after);
			return after.equals(bytes) ? answer.verdict === 'valid-v3' : isNoticed(change.file, answer) || differsInLastMoment(change.file, after);
		}),
		{numRuns: 6000},
	);
	t.is((await validate()).verdict, 'valid-v3');
});

/** Nothing vouches for the time in the last line of a ledger before the next line is written: E-LED-3. */
function withoutLastTime(ledger: Buffer): Buffer {
	const text = ledger.toString('latin1');
	const last = text.lastIndexOf('\n', text.length - 2) + 1;
	return Buffer.from(text.slice(0, last) + text.slice(last).replace(/"at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/, ''), 'latin1');
}

type Place = {readonly pointer: string; readonly value: JsonValue; readonly with: (value: JsonValue | undefined) => JsonValue};

function isArray(value: JsonValue): value is readonly JsonValue[] {
	return Array.isArray(value);
}

/** Every member of a value, with a function that gives the whole with that member replaced, or removed by undefined. */
function placesOf(value: JsonValue, pointer = '', rebuild: (value: JsonValue) => JsonValue = whole => whole): Place[] {
	if (typeof value !== 'object' || value === null) {
		return [];
	}

	return Object.entries(value).flatMap(([key, member]) => {
		const replace = (next: JsonValue | undefined): JsonValue => rebuild(replaced(value, key, next));
		return [{pointer: `${pointer}/${key}`, value: member, with: replace}, ...placesOf(member, `${pointer}/${key}`, replace)];
	});
}

function replaced(value: JsonValue, key: string, next: JsonValue | undefined): JsonValue {
	const kept = next === undefined ? [] : [next];
	if (isArray(value)) {
		return value.flatMap((item, index) => (String(index) === key ? kept : [item]));
	}

	return Object.fromEntries(Object.entries(value ?? {}).flatMap(([name, member]) => (name === key ? kept.map(item => [name, item]) : [[name, member]])));
}

/** Another value of the same kind. */
function other(value: JsonValue): JsonValue {
	if (typeof value === 'number') {
		return value + 1;
	}

	if (typeof value === 'boolean') {
		return !value;
	}

	if (typeof value === 'string') {
		return /^[0-9a-f]{40,64}$/.test(value) ? `${value.slice(0, -1)}${value.endsWith('0') ? '1' : '0'}` : `${value}x`;
	}

	if (value === null) {
		return 'x';
	}

	if (isArray(value)) {
		return value.length > 1 ? value.toReversed() : [...value, ...value, 'x'];
	}

	return {...value, extra: null};
}

const manifestFile = `${example.runId}/manifest.json`;
const manifestPlaces = placesOf(exampleManifest());

test.serial('every field of the manifest that is changed, removed or made null is refused', async t => {
	for (const place of manifestPlaces) {
		for (const next of [other(place.value), undefined, null]) {
			const bytes = canonicalFile(place.with(next));
			const answer = bytes.equals(original(manifestFile)) ? null : await answerTo(manifestFile, bytes);
			t.not(answer?.verdict, 'valid-v3', place.pointer);
		}
	}

	t.true(manifestPlaces.length > 150);
});

/** What a producer says of itself and its machine: no other part of the evidence can give it away. */
const freeFields = [
	/^\/environment\/(?:arch|kernel|node)$/,
	/^\/producer\/(?:version|role)$/,
	/^\/secret_scan\/rules(?:_sha256)?$/,
	/^\/source\/checkout$/,
	/^\/commands\/\d\/executable\/(?:path|sha256)$/,
	/^\/commands\/\d\/resources\/(?:user_us|system_us|max_rss_bytes|peak_group_rss_bytes|samples)$/,
	/^\/commands\/\d\/(?:started_at_ms|duration_ms)$/,
	/^\/finished_at$/,
	/^\/commands\/1\/(?:escaped|termination\/kill_sent|output\/complete)$/,
];

test.serial('every field of the manifest is refused by its content alone, but for what only the producer can know', async t => {
	const accepted: string[] = [];
	for (const place of manifestPlaces) {
		for (const next of [other(place.value), undefined, null]) {
			const whole = place.with(next);
			const isOriginal = canonicalFile(whole).equals(original(manifestFile));
			if (!isOriginal && (await answerToRewritten(whole)).verdict === 'valid-v3') {
				accepted.push(place.pointer);
			}
		}
	}

	t.deepEqual(
		accepted.filter(pointer => !freeFields.some(free => free.test(pointer))),
		[],
	);
});

/** As if a producer had written the manifest: the ledger fits it. */
async function answerToRewritten(manifest: JsonValue): Promise<ValidateAnswer> {
	const [started = ''] = original('ledger.jsonl').toString().split('\n');
	const bytes = canonicalFile(manifest);
	const result = typeof manifest === 'object' && manifest !== null && !isArray(manifest) && manifest['result'] === 'passed' ? 'passed' : 'failed';
	const published = {
		at: '2026-08-01T12:00:01.535Z',
		event: 'published',
		manifest_sha256: sha256Hex(bytes),
		n: 2,
		prev_sha256: sha256Hex(started),
		result,
		run_id: example.runId,
	};
	writeFileSync(join(copy.verification, 'ledger.jsonl'), `${started}\n${canonicalJson(published)}\n`);
	try {
		return await answerTo(manifestFile, bytes);
	} finally {
		writeFileSync(join(copy.verification, 'ledger.jsonl'), original('ledger.jsonl'));
	}
}

const jsonFiles = [manifestFile, `${example.runId}/plan.json`];
const jsonPlaces = jsonFiles.map(file => placesOf(parseStrictJson(original(file), {maxBytes: 1e6, maxDepth: 24, anyNumber: true})));
const anyValue = fc.oneof(
	fc.constantFrom<JsonValue>(null, true, false, 0, -1, 1.5, 2 ** 53, '', '\0', '../x', '/', [], {}, [[]], {a: {}}),
	fc.string({unit: 'binary'}).filter(text => text.isWellFormed()),
	fc.integer(),
);
const jsonMutation = fc.record({
	file: fc.constantFrom(0, 1),
	place: fc.nat(),
	kind: fc.constantFrom('replace', 'remove', 'rename', 'add', 'reorder'),
	value: anyValue,
	rewritten: fc.boolean(),
});

test.serial('a member that is replaced, removed, renamed, added or reordered is noticed, and never crashes a reader whose ledger fits', async t => {
	await fc.assert(
		fc.asyncProperty(jsonMutation, async ({file, place: at, kind, value, rewritten}) => {
			const places = jsonPlaces[file] ?? [];
			const place = places[at % places.length];
			const name = jsonFiles[file] ?? manifestFile;
			if (place === undefined) {
				return false;
			}

			const after = place.with(kind === 'remove' ? undefined : changed(place.value, kind, value));
			const bytes = canonicalFile(after);
			if (rewritten && name === manifestFile) {
				const answer = await answerToRewritten(after);
				return answer.verdict === 'invalid' || answer.verdict === 'valid-v3';
			}

			const answer = await answerTo(name, bytes);
			return bytes.equals(original(name)) ? answer.verdict === 'valid-v3' : answer.verdict === 'invalid';
		}),
		{numRuns: 4000},
	);
	t.is((await validate()).verdict, 'valid-v3');
});

function changed(value: JsonValue, kind: string, next: JsonValue): JsonValue {
	if (typeof value !== 'object' || value === null || kind === 'replace') {
		return next;
	}

	if (isArray(value)) {
		return kind === 'reorder' ? value.toReversed() : [...value, next];
	}

	const entries = Object.entries(value);
	return kind === 'rename' ? Object.fromEntries(entries.map(([key, member], index) => [index === 0 ? `${key}_` : key, member])) : {...value, extra: next};
}
