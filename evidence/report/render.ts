import {visibleJson} from '../../core/visible-text.ts';
import type {VerificationPlace} from '../verification-directory.ts';
import {renderCtrf} from './ctrf.ts';
import {renderHtml} from './html-page.ts';
import {renderJunit} from './junit.ts';
import {renderMarkdown} from './markdown.ts';
import {type RunReport, readReport} from './read-report.ts';
import type {Report} from './report-schema.ts';

/** The formats of a report. */
export const reportFormats = ['html', 'markdown', 'junit', 'ctrf', 'json'] as const;
/** A format of a report. */
export type ReportFormat = (typeof reportFormats)[number];

/** What each format shows of an output: that many bytes from each end. */
const halfBytes: Readonly<Record<ReportFormat, number>> = {html: 65_536, markdown: 65_536, junit: 16_384, ctrf: 16_384, json: 16_384};

/** A report and the view that it was made from. */
export type RenderedReport = {readonly report: Report; readonly text: string};

/**
 * One run in one format.
 *
 * Shape: UTF-8 text. Refuses: EVIDENCE_RUN_NOT_FOUND. Source: E-VIEW-1.
 */
export function reportRun(place: VerificationPlace, runId: string, format: ReportFormat): RenderedReport {
	const run = readReport({place, runId, maxHalfBytes: halfBytes[format]});
	return {report: run.report, text: render(run, format)};
}

function render(run: RunReport, format: ReportFormat): string {
	switch (format) {
		case 'html':
			return renderHtml(run);
		case 'markdown':
			return renderMarkdown(run.report);
		case 'junit':
			return renderJunit(run.report);
		case 'ctrf':
			return renderCtrf(run.report);
		case 'json':
			return `${visibleJson(JSON.stringify(run.report, null, '\t'))}\n`;
		default:
			return format satisfies never;
	}
}
