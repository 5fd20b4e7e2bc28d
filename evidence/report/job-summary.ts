import {type MarkdownLimits, renderMarkdown} from './markdown.ts';
import type {Report} from './report-schema.ts';

/** From the fullest to the barest: the first that fits is taken. */
const steps: readonly MarkdownLimits[] = [
	{maxRows: 256, maxOutputs: 10, maxLines: 60},
	{maxRows: 256, maxOutputs: 5, maxLines: 30},
	{maxRows: 256, maxOutputs: 2, maxLines: 20},
	{maxRows: 256, maxOutputs: 0, maxLines: 0},
	{maxRows: 20, maxOutputs: 0, maxLines: 0},
];

/** A report as Markdown of at most `maxBytes` bytes, as much of it as fits; null when not even its head does. Pure. Source: E-VIEW-3. */
export function renderJobSummary(report: Report, maxBytes: number): string | null {
	for (const limits of steps) {
		const text = renderMarkdown(report, limits);
		if (Buffer.byteLength(text) <= maxBytes) {
			return text;
		}
	}

	return null;
}
