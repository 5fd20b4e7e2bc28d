import {bytesText, durationText} from './amounts.ts';
import {endText} from './command-outcome.ts';
import {escapeHtml} from './html-text.ts';
import type {Report, ReportCommand} from './report-schema.ts';

/** Words and signs of an outcome: never colour alone. */
export const outcomeWords = {passed: '✓ passed', failed: '✗ failed', error: '✗ error', not_executed: '– not executed'} as const;

const barWidth = 1000;

/**
 * The table of all commands: when each ran within the run, and how much of its deadline it took. The bars repeat what the cells say in numbers.
 */
export function timelineHtml(report: Report): string {
	const runMs = Math.max(1, report.duration_ms, ...report.commands.map(({record}) => (record === null ? 0 : record.started_at_ms + record.duration_ms)));
	return [
		'<div class="scroll" tabindex="0" role="group" aria-label="Table of commands"><table class="timeline">',
		'<caption>Each command, when it ran within the run, and how much of its deadline it took</caption>',
		'<thead><tr><th scope="col">#</th><th scope="col">Command</th><th scope="col">Outcome</th><th scope="col">Ended</th>',
		`<th scope="col" class="wide">Within ${durationText(runMs)}</th><th scope="col" class="number">Took</th>`,
		'<th scope="col" class="wide">Of its deadline</th><th scope="col" class="number">Deadline</th><th scope="col" class="number">Memory</th></tr></thead>',
		`<tbody>${report.commands.map(command => rowHtml(command, runMs)).join('')}</tbody></table></div>`,
	].join('');
}

function rowHtml(command: ReportCommand, runMs: number): string {
	const {index, id, outcome, record, purpose} = command;
	const deadlineMs = command.timeout_seconds * 1000;
	const tag = purpose === 'check' ? '' : ` <small class="tag">${purpose}</small>`;
	const start = `<tr class="${outcome}"><td class="number">${index + 1}</td><th scope="row"><a href="#c${index}">${escapeHtml(id)}</a>${tag}</th><td class="outcome">${outcomeWords[outcome]}</td>`;
	if (record === null) {
		return `${start}<td></td><td></td><td></td><td></td><td class="number">${durationText(deadlineMs)}</td><td></td></tr>`;
	}

	const share = record.duration_ms / deadlineMs;
	const rss = record.resources?.peak_group_rss_bytes ?? record.resources?.max_rss_bytes ?? null;
	return [
		start,
		`<td>${escapeHtml(endText(record))}</td>`,
		`<td class="wide">${barSvg(outcome, record.started_at_ms / runMs, record.duration_ms / runMs)}</td>`,
		`<td class="number">${durationText(record.duration_ms)}</td>`,
		`<td class="wide">${barSvg(`${outcome} short`, 0, Math.min(1, share))}<small>${shareText(share)}</small></td>`,
		`<td class="number">${durationText(deadlineMs)}</td>`,
		`<td class="number">${rss === null ? '' : bytesText(rss)}</td></tr>`,
	].join('');
}

function barSvg(classes: string, from: number, share: number): string {
	const width = Math.max(6, Math.round(share * barWidth));
	const x = Math.min(barWidth - width, Math.round(from * barWidth));
	return `<svg class="bar ${classes}" viewBox="0 0 ${barWidth} 10" preserveAspectRatio="none" aria-hidden="true"><rect class="rail" width="${barWidth}" height="10"/><rect class="fill" x="${Math.max(0, x)}" width="${width}" height="10"/></svg>`;
}

function shareText(share: number): string {
	if (share > 1) {
		return 'past it';
	}

	return share < 0.01 ? 'below 1 %' : `${Math.round(share * 100)} %`;
}
