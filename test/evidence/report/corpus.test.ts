import test from 'ava';
import {BailiffError} from '../../../core/errors.ts';
import {reportFormats, reportRun} from '../../../evidence/report/render.ts';
import {CorpusGround, changesCheckout, corpusCases} from '../../helpers/evidence-corpus.ts';
import {temporaryDirectory} from '../../helpers/temporary-directory.ts';

const isRoot = process.geteuid?.() === 0;
const target = {owner: 'acme', repository: 'widget', issue: 7};

/** What a report cannot see, because it asks no checkout and is told no commit or issue. */
const isAboutTheRecord = (code: string | null): boolean => code !== null && !/_SOURCE_|_NOT_PASSED/.test(code);

for (const [name, {title, reader, base, steps, flags, expected, needsRoot}] of corpusCases()) {
	if (reader !== 'validate' || base !== 'v3' || changesCheckout(steps) || flags !== undefined || (needsRoot === true && !isRoot)) {
		continue;
	}

	test(`a report of ${name} (${title}) is made or refused, and never calls passed what does not hold`, t => {
		const ground = new CorpusGround(temporaryDirectory(t), base, '/nonexistent');
		for (const step of steps) {
			ground.apply(step);
		}

		for (const format of reportFormats) {
			try {
				const {report} = reportRun({verificationDir: ground.verification, target}, ground.runId, format);
				t.true(
					report.verdict === 'unsound' || expected.exit === 0 || !isAboutTheRecord(expected.code),
					`${report.verdict}, expected was ${expected.code ?? ''}`,
				);
			} catch (error) {
				t.true(error instanceof BailiffError && error.code === 'EVIDENCE_RUN_NOT_FOUND', String(error));
			}
		}
	});
}
