import {sha256Hex} from '../../core/digest.ts';
import {BailiffError} from '../../core/errors.ts';
import {visibleLine} from '../../core/visible-text.ts';
import {type ReportFormat, reportFormats, reportRun} from '../../evidence/report/render.ts';
import {actionsJobOf, fencedForJob} from '../actions-job.ts';
import {readContractPath, readTarget} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {evidencePlace} from '../evidence-place.ts';
import {exitCodes} from '../exit-codes.ts';
import {writeNewFile} from '../new-file.ts';
import {isStdoutFile} from '../output.ts';

/** `bailiff evidence report`: one run as HTML, Markdown, JUnit, CTRF or JSON (E-VIEW-1). A record that contradicts itself is a no; its report is made all the same. */
export async function evidenceReport(call: CommandCall): Promise<Reply> {
	const {options} = call;
	const runId = options.required('run');
	const format = formatOf(options.required('format'));
	const {report, text} = reportRun(evidencePlace(readContractPath(options), readTarget(options)), runId, format);
	const bytes = Buffer.from(text, 'utf8');
	const output = options.text('output');
	const file = output === null ? null : writeNewFile(output, bytes, null);
	const about = {run_id: runId, format, verdict: report.verdict, reasons: report.reasons, bytes: bytes.length, sha256: sha256Hex(bytes)};
	return {
		exitCode: report.verdict === 'unsound' ? exitCodes.no : exitCodes.yes,
		json: file === null ? {...about, file: null, content: text} : {...about, file},
		text:
			file === null
				? fencedForJob(bytes, actionsJobOf(process.env), isStdoutFile())
				: `${report.verdict}: report of run ${visibleLine(runId, 128)} in ${visibleLine(file, 1000)}`,
	};
}

function formatOf(given: string): ReportFormat {
	const format = reportFormats.find(name => name === given);
	if (format === undefined) {
		throw new BailiffError('CLI_USAGE', `--format is one of ${reportFormats.join(', ')}`);
	}

	return format;
}
