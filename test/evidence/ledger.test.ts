import {
	appendFileSync,
	chmodSync,
	linkSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	truncateSync,
	writeFileSync,
} from 'node:fs';
import test from 'ava';
import * as fc from 'fast-check';
import {canonicalFile} from '../../core/canonical-json.ts';
import type {Clock} from '../../core/clock.ts';
import {sha256Hex} from '../../core/digest.ts';
import {BailiffError} from '../../core/errors.ts';
import {LedgerWriter} from '../../evidence/ledger.ts';
import {ledgerLimits, parseLedger} from '../../evidence/ledger-lines.ts';
import {type EvidenceDirectory, withEvidenceDirectory} from '../helpers/evidence-directory.ts';
import {exampleManifest} from '../helpers/example-run.ts';

const sourceSha = '575a7f815321399fd68ae6021fed8ca79af4573b';
const planSha256 = 'a'.repeat(64);
const manifestSha256 = 'b'.repeat(64);
const wallMs = Date.parse('2026-08-01T12:00:00.000Z');
const clock: Clock = {wallMs: () => wallMs, monotonicNs: () => 0n};

function open(directory: EvidenceDirectory): LedgerWriter {
	return LedgerWriter.open(directory.verification, clock);
}

/** Opens the ledger for one action, as one run of bailiff does. */
function withLedger<T>(directory: EvidenceDirectory, use: (ledger: LedgerWriter) => T): T {
	const ledger = open(directory);
	try {
		return use(ledger);
	} finally {
		ledger.close();
	}
}

function start(directory: EvidenceDirectory, runId: string): void {
	withLedger(directory, ledger => ledger.started({runId, planSha256, sourceSha}));
}

function read(directory: EvidenceDirectory): Buffer {
	return readFileSync(directory.path('ledger.jsonl'));
}

function events(directory: EvidenceDirectory): string[] {
	const parsed = parseLedger(read(directory));
	return [
		...parsed.problems.map(problem => `${problem.code} ${problem.pointer}`),
		...parsed.entries.map(({line}) => ('run_id' in line ? `${line.event} ${line.run_id}` : line.event)),
	];
}

/** Puts a published run there as the store would have. */
function putRun(directory: EvidenceDirectory, runId: string, manifest: object = {...exampleManifest(), run_id: runId}): string {
	mkdirSync(directory.path(runId), {mode: 0o700});
	const bytes = canonicalFile(manifest as never);
	writeFileSync(directory.path(runId, 'manifest.json'), bytes, {mode: 0o600});
	return sha256Hex(bytes);
}

test('a run writes started and published, chained, in canonical form, mode 0600', t => {
	withEvidenceDirectory(directory => {
		const written = withLedger(directory, ledger => {
			const first = ledger.started({runId: 'r1', planSha256, sourceSha});
			ledger.published({runId: 'r1', manifestSha256, result: 'passed'});
			return first;
		});
		const [first, second] = read(directory).toString('utf8').trimEnd().split('\n');
		t.is(
			first,
			`{"at":"2026-08-01T12:00:00.000Z","event":"started","n":1,"plan_sha256":"${planSha256}","prev_sha256":null,"run_id":"r1","source_sha":"${sourceSha}"}`,
		);
		t.is(
			second,
			`{"at":"2026-08-01T12:00:00.000Z","event":"published","manifest_sha256":"${manifestSha256}","n":2,"prev_sha256":"${sha256Hex(first ?? '')}","result":"passed","run_id":"r1"}`,
		);
		t.deepEqual(written, {n: 1, sha256: sha256Hex(first ?? ''), atMs: wallMs});
		t.is(statSync(directory.path('ledger.jsonl')).mode & 0o7777, 0o600);
	});
});

test('a later run goes on in the chain', t => {
	withEvidenceDirectory(directory => {
		for (const runId of ['r1', 'r2']) {
			withLedger(directory, ledger => {
				ledger.started({runId, planSha256, sourceSha});
				ledger.published({runId, manifestSha256, result: 'failed'});
			});
		}

		t.deepEqual(events(directory), ['started r1', 'published r1', 'started r2', 'published r2']);
	});
});

test('open() makes the verification directory where it is missing', t => {
	withEvidenceDirectory(directory => {
		rmSync(directory.verification, {recursive: true});
		start(directory, 'r1');
		t.is(statSync(directory.verification).mode & 0o7777, 0o700);
	});
});

test('a run without an end is noted as abandoned by the next run', t => {
	withEvidenceDirectory(directory => {
		start(directory, 'r1');
		start(directory, 'r2');
		t.deepEqual(events(directory), ['started r1', 'abandoned r1', 'started r2']);
	});
});

test('a run that was renamed and not noted any more is noted as published by the next run', t => {
	withEvidenceDirectory(directory => {
		start(directory, 'r1');
		const digest = putRun(directory, 'r1');
		start(directory, 'r2');
		t.deepEqual(events(directory), ['started r1', 'published r1', 'started r2']);
		const line = parseLedger(read(directory)).runs.get('r1')?.end?.line;
		t.deepEqual(line?.event === 'published' ? [line.manifest_sha256, line.result] : null, [digest, 'failed']);
	});
});

const foreign: ReadonlyArray<{readonly title: string; readonly put: (directory: EvidenceDirectory) => void}> = [
	{title: 'an empty directory', put: directory => mkdirSync(directory.path('r1'))},
	{title: 'a manifest of another run', put: directory => putRun(directory, 'r1', exampleManifest())},
	{title: 'a manifest that is none', put: directory => putRun(directory, 'r1', {a: 1})},
	{title: 'a file', put: directory => writeFileSync(directory.path('r1'), '')},
	{title: 'a link', put: directory => symlinkSync('/nowhere', directory.path('r1'))},
];

for (const {title, put} of foreign) {
	test(`open() refuses ${title} under the name of a run without an end`, t => {
		withEvidenceDirectory(directory => {
			start(directory, 'r1');
			put(directory);
			const before = read(directory);
			t.throws(() => open(directory), {code: 'EVIDENCE_LEDGER_INVALID', message: /the run r1/});
			t.deepEqual(read(directory), before);
		});
	});
}

test('a run id is refused when any earlier line has it, whatever became of that run', t => {
	withEvidenceDirectory(directory => {
		start(directory, 'r1');
		t.throws(() => start(directory, 'r1'), {code: 'EVIDENCE_RUN_EXISTS'});
		t.throws(() => start(directory, 'r1'), {code: 'EVIDENCE_RUN_EXISTS'});
		withLedger(directory, ledger => {
			ledger.started({runId: 'r2', planSha256, sourceSha});
			t.throws(() => ledger.started({runId: 'r2', planSha256, sourceSha}), {code: 'EVIDENCE_RUN_EXISTS'});
		});
		t.deepEqual(events(directory), ['started r1', 'abandoned r1', 'started r2']);
	});
});

test('a run id is refused when the directory has an entry of that name, also a dangling link', t => {
	withEvidenceDirectory(directory => {
		symlinkSync('/nowhere', directory.path('r1'));
		t.throws(() => start(directory, 'r1'), {code: 'EVIDENCE_RUN_EXISTS'});
		t.deepEqual(events(directory), []);
	});
});

for (const length of [1, 50, 150, 5000]) {
	test(`a torn tail of ${length} bytes is cut off and noted with its digest`, t => {
		withEvidenceDirectory(directory => {
			start(directory, 'r1');
			const tail = Buffer.alloc(length, 0x7b);
			appendFileSync(directory.path('ledger.jsonl'), tail);
			t.deepEqual(parseLedger(read(directory)).torn?.bytes, length);
			start(directory, 'r2');
			t.deepEqual(events(directory), ['started r1', 'torn', 'abandoned r1', 'started r2']);
			const line = parseLedger(read(directory)).entries[1]?.line;
			t.deepEqual(line?.event === 'torn' ? [line.bytes, line.sha256] : null, [length, sha256Hex(tail)]);
		});
	});
}

test('a first line that is torn leaves a ledger whose first line is the note of it', t => {
	withEvidenceDirectory(directory => {
		writeFileSync(directory.path('ledger.jsonl'), '{"at":"2026', {mode: 0o600});
		start(directory, 'r1');
		t.deepEqual(events(directory), ['torn', 'started r1']);
	});
});

const damage: ReadonlyArray<{readonly title: string; readonly change: (text: string) => string; readonly code: string}> = [
	{title: 'a changed result', change: text => text.replace('"result":"failed"', '"result":"passed"'), code: 'EVIDENCE_LEDGER_CHAIN'},
	{title: 'a removed line', change: text => text.split('\n').toSpliced(1, 1).join('\n'), code: 'EVIDENCE_LEDGER_CHAIN'},
	{
		title: 'two lines swapped',
		change: text =>
			text
				.split('\n')
				.toSpliced(0, 2, text.split('\n')[1] ?? '', text.split('\n')[0] ?? '')
				.join('\n'),
		code: 'EVIDENCE_LEDGER_CHAIN',
	},
	{title: 'a line twice', change: text => `${text}${text.split('\n').at(-2) ?? ''}\n`, code: 'EVIDENCE_LEDGER_CHAIN'},
	{title: 'an empty line', change: text => `${text}\n`, code: 'EVIDENCE_LEDGER_FORM'},
	{title: 'a blank in a line', change: text => text.replace('{"at"', '{ "at"'), code: 'EVIDENCE_LEDGER_FORM'},
	{title: 'an unknown key', change: text => text.replace('{"at"', '{"aa":1,"at"'), code: 'EVIDENCE_LEDGER_FORM'},
	{title: 'an unknown event', change: text => text.replace('"event":"started"', '"event":"stopped"'), code: 'EVIDENCE_LEDGER_FORM'},
	{title: 'a CR before the LF', change: text => text.replace('\n', '\r\n'), code: 'EVIDENCE_LEDGER_FORM'},
	{title: 'a key twice', change: text => text.replace('"n":1', '"n":1,"n":1'), code: 'EVIDENCE_LEDGER_FORM'},
];

for (const {title, change, code} of damage) {
	test(`a ledger with ${title} is refused by the writer and left as it is`, t => {
		withEvidenceDirectory(directory => {
			for (const runId of ['r1', 'r2']) {
				withLedger(directory, ledger => {
					ledger.started({runId, planSha256, sourceSha});
					ledger.published({runId, manifestSha256, result: 'failed'});
				});
			}

			const changed = change(read(directory).toString('utf8'));
			writeFileSync(directory.path('ledger.jsonl'), changed);
			const error = t.throws(() => open(directory), {instanceOf: BailiffError, code: 'EVIDENCE_LEDGER_INVALID'});
			t.true(JSON.stringify(error?.details).includes(code));
			t.is(read(directory).toString('utf8'), changed);
		});
	});
}

const meddling: ReadonlyArray<{readonly title: string; readonly meddle: (file: string) => void}> = [
	{title: 'has a line more', meddle: file => appendFileSync(file, 'garbage\n')},
	{title: 'has a torn end more', meddle: file => appendFileSync(file, '{"n":')},
	{title: 'was cut', meddle: file => truncateSync(file, 0)},
	{title: 'is gone', meddle: file => renameSync(file, `${file}.old`)},
	{
		title: 'is another file',
		meddle(file) {
			writeFileSync(`${file}.new`, readFileSync(file), {mode: 0o600});
			renameSync(`${file}.new`, file);
		},
	},
];

for (const {title, meddle} of meddling) {
	test(`a ledger that ${title} when the run ends is left as it is, and the run says so`, t => {
		withEvidenceDirectory(directory => {
			withLedger(directory, ledger => {
				ledger.started({runId: 'r1', planSha256, sourceSha});
				meddle(directory.path('ledger.jsonl'));
				const left = readdirSync(directory.verification).map(name => readFileSync(directory.path(name), 'utf8'));
				t.throws(() => ledger.published({runId: 'r1', manifestSha256, result: 'passed'}), {code: 'EVIDENCE_WRITE_FAILED', message: /somebody else/});
				t.deepEqual(
					readdirSync(directory.verification).map(name => readFileSync(directory.path(name), 'utf8')),
					left,
				);
			});
		});
	});
}

const untrusted: ReadonlyArray<{readonly title: string; readonly change: (directory: EvidenceDirectory) => void; readonly code: string}> = [
	{title: 'a ledger of mode 0644', change: directory => chmodSync(directory.path('ledger.jsonl'), 0o644), code: 'CORE_FILE_UNTRUSTED'},
	{title: 'a ledger with two names', change: directory => linkSync(directory.path('ledger.jsonl'), directory.path('twin')), code: 'CORE_FILE_UNTRUSTED'},
	{
		title: 'a ledger that is a link',
		change: directory => {
			rmSync(directory.path('ledger.jsonl'));
			symlinkSync(directory.path('elsewhere'), directory.path('ledger.jsonl'));
		},
		code: 'CORE_FILE_UNTRUSTED',
	},
	{
		title: 'a ledger that is a directory',
		change: directory => {
			rmSync(directory.path('ledger.jsonl'));
			directory.directory('ledger.jsonl');
		},
		code: 'EVIDENCE_WRITE_FAILED',
	},
	{title: 'a verification directory of mode 0755', change: directory => chmodSync(directory.verification, 0o755), code: 'CORE_FILE_UNTRUSTED'},
];

for (const {title, change, code} of untrusted) {
	test(`open() refuses ${title}`, t => {
		withEvidenceDirectory(directory => {
			start(directory, 'r1');
			change(directory);
			t.throws(() => open(directory), {code});
		});
	});
}

test('a ledger cut at any byte is either refused or repaired to a sound one', t => {
	withEvidenceDirectory(directory => {
		start(directory, 'r1');
		start(directory, 'r2');
		const whole = read(directory);
		fc.assert(
			fc.property(fc.nat(whole.length), length => {
				writeFileSync(directory.path('ledger.jsonl'), whole);
				truncateSync(directory.path('ledger.jsonl'), length);
				open(directory).close();
				const parsed = parseLedger(read(directory));
				return parsed.problems.length === 0 && parsed.torn === null;
			}),
			{numRuns: 60},
		);
		t.pass();
	});
});

test('parseLedger() gives an answer for any bytes', t => {
	withEvidenceDirectory(directory => {
		start(directory, 'r1');
		start(directory, 'r2');
		const whole = read(directory);
		fc.assert(
			fc.property(fc.uint8Array({maxLength: 200}), fc.nat(whole.length), (noise, at) => {
				const parsed = parseLedger(Buffer.concat([whole.subarray(0, at), noise, whole.subarray(at + noise.length)]));
				return Array.isArray(parsed.problems);
			}),
			{numRuns: 300},
		);
		t.deepEqual(parseLedger(Buffer.alloc(0)), {entries: [], runs: new Map(), torn: null, problems: []});
		t.pass();
	});
});

test('parseLedger() that gives up early takes no whole line for a torn tail', t => {
	const broken = parseLedger(Buffer.from('x\n'.repeat(ledgerLimits.maxProblems + 5)));
	t.is(broken.problems.length, ledgerLimits.maxProblems);
	t.is(broken.torn, null);
	t.deepEqual(parseLedger(Buffer.from(`${'x\n'.repeat(ledgerLimits.maxProblems + 5)}tail`)).torn?.bytes, 4);
});

test('parseLedger() finds a flip of any single bit of a sound ledger', t => {
	withEvidenceDirectory(directory => {
		start(directory, 'r1');
		start(directory, 'r2');
		const whole = read(directory);
		// The last line is vouched for by the manifest, not by the chain.
		const chained = whole.subarray(0, whole.lastIndexOf(0x0a, whole.length - 2) + 1).length;
		fc.assert(
			fc.property(fc.nat(chained - 1), fc.nat(7), (at, bit) => {
				const changed = Buffer.from(whole);
				changed[at] = (changed[at] ?? 0) ^ (1 << bit);
				return parseLedger(changed).problems.length > 0;
			}),
			{numRuns: 500},
		);
		t.pass();
	});
});
