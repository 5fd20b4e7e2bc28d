import {readdirSync, readFileSync, statSync} from 'node:fs';
import test from 'ava';
import {assert, constantFrom, integer, property} from 'fast-check';
import {BailiffError} from '../../../core/errors.ts';
import {reportFormats, reportRun} from '../../../evidence/report/render.ts';
import {example, RunCopy} from '../../helpers/example-run.ts';

test('reportRun() is total: whatever one byte of a run becomes, there is a report in every format or a refusal with a code', t => {
	const copy = new RunCopy();
	t.teardown(() => copy.remove());
	const place = {verificationDir: copy.verification, target: example.target};
	const files = ['manifest.json', 'plan.json', 'output/000.log', 'output/001.trace.jsonl', '../ledger.jsonl'];
	const original = new Map(files.map(file => [file, readFileSync(copy.path(file))]));
	assert(
		property(constantFrom(...files), integer({min: 0, max: 100_000}), integer({min: 0, max: 255}), constantFrom(...reportFormats), (file, at, byte, format) => {
			const bytes = Buffer.from(original.get(file) ?? '');
			bytes[at % bytes.length] = byte;
			copy.write(file, bytes);
			try {
				const {report, text} = reportRun(place, example.runId, format);
				return text.length > 0 && (report.verdict !== 'passed' || bytes.equals(original.get(file) ?? bytes));
			} catch (error) {
				return error instanceof BailiffError && error.code === 'EVIDENCE_RUN_NOT_FOUND';
			} finally {
				copy.write(file, original.get(file) ?? '');
			}
		}),
		{numRuns: 150},
	);
	t.pass();
});

test('reportRun() writes nothing', t => {
	const copy = new RunCopy();
	t.teardown(() => copy.remove());
	const look = (): string[] =>
		readdirSync(copy.verification, {recursive: true, encoding: 'utf8'}).map(name => `${name} ${statSync(`${copy.verification}/${name}`).mtimeMs}`);
	const before = look();
	for (const format of reportFormats) {
		reportRun({verificationDir: copy.verification, target: example.target}, example.runId, format);
	}

	t.deepEqual(look(), before);
});
