import {bytesText, countText} from './amounts.ts';
import type {Excerpt} from './excerpt.ts';
import {escapeHtml, idHtml} from './html-text.ts';
import type {ReportCommand, ReportOutput} from './report-schema.ts';
import type {StoredOutput} from './stored-outputs.ts';
import type {TextStyle} from './terminal-style.ts';
import {type TerminalText, type TextRun, terminalText} from './terminal-text.ts';

const reasonsWithheld = {
	unreadable: 'The stored file cannot be read, or has another size than the manifest names.',
	digest: 'The stored file is not the one whose digest the manifest names.',
	secret: 'It holds what looks like a secret. The stored file shows it to those who may read it.',
} as const;

/** One output as a section: what is known of it, its text with colours, and where nothing was cut its exact bytes to take away and to check. */
export function outputHtml(command: ReportCommand, {output, excerpt}: StoredOutput): string {
	const name = output.stream === 'err' ? 'Error output' : 'Output';
	const heading = `<h4>${name} <small>${idHtml(output.path)}</small></h4>`;
	if (excerpt === null) {
		return `${heading}<p class="note bad">Not shown. ${output.withheld === null ? '' : reasonsWithheld[output.withheld]}</p>`;
	}

	const head = terminalText(excerpt.head);
	const tail = terminalText(excerpt.tail);
	const label = `${name} of ${command.id}`;
	return [
		heading,
		`<p class="note">${notesOf(output, head, tail).join(' ')}</p>`,
		output.bytes === 0 ? '' : textBlock(excerpt.omittedBytes === 0 ? label : `${label}, its beginning`, head),
		cutHtml(output, excerpt),
		excerpt.omittedBytes === 0 ? '' : textBlock(`${label}, its end`, tail),
		`<p class="note">sha256 ${idHtml(output.sha256)} ${rawHtml(output, excerpt)}</p>`,
	].join('');
}

function notesOf(output: ReportOutput, head: TerminalText, tail: TerminalText): string[] {
	const dropped = head.dropped + tail.dropped;
	return [
		output.bytes === 0 ? 'Nothing was written.' : `${bytesText(output.bytes)} stored.`,
		...(output.seen_bytes === output.bytes ? [] : [`${bytesText(output.seen_bytes)} were seen.`]),
		...(output.complete ? [] : ['<strong>Not complete: its end was not reached, or something was dropped.</strong>']),
		...(output.redactions === 0 ? [] : [`<strong>${countText(output.redactions, 'secret')} replaced by [REDACTED].</strong>`]),
		...(dropped === 0 ? [] : [`${countText(dropped, 'control sequence')} for the terminal left out.`]),
		...(head.isUtf8 && tail.isUtf8 ? [] : ['Bytes that are no UTF-8 are shown as \ufffd.']),
	];
}

function cutHtml({path, bytes}: ReportOutput, {omittedBytes}: Excerpt): string {
	return omittedBytes === 0
		? ''
		: `<p class="cut"><strong>${bytesText(omittedBytes)} of ${bytesText(bytes)} are left out here.</strong> The whole output is the file ${idHtml(path)} of the run.</p>`;
}

function rawHtml({path, sha256, bytes}: ReportOutput, {head, omittedBytes}: Excerpt): string {
	if (omittedBytes > 0) {
		return '<span class="check">not checked here: it is not whole</span>';
	}

	const name = path.slice('output/'.length);
	return bytes === 0
		? ''
		: `<a class="raw" download="${escapeHtml(name)}" data-path="${escapeHtml(path)}" data-sha256="${escapeHtml(sha256)}" href="data:application/octet-stream;base64,${head.toString('base64')}">exact bytes</a> <span class="check"></span>`;
}

/** Scrollable by keyboard, because a block that cannot be focused cannot be scrolled without a mouse. */
function textBlock(label: string, {lines}: TerminalText): string {
	return `<pre tabindex="0" role="group" aria-label="${escapeHtml(label)}">${lines.map(runs => runs.map(run => runHtml(run)).join('')).join('\n')}</pre>`;
}

function runHtml({text, style, isEscape}: TextRun): string {
	const classes = [...styleClasses(style), ...(isEscape ? ['esc'] : [])];
	// What stands for a character is escaped text already; everything else has been through the terminal.
	return classes.length === 0 ? escapeHtml(text) : `<span class="${classes.join(' ')}">${escapeHtml(text)}</span>`;
}

function styleClasses(style: TextStyle): string[] {
	const flags = (['bold', 'dim', 'italic', 'underline', 'strike', 'inverse'] as const).filter(flag => style[flag]);
	return [
		...(style.foreground === null ? [] : [`f${style.foreground}`]),
		...(style.background === null ? [] : [`b${style.background}`]),
		...flags.map(flag => flag.slice(0, 2)),
	];
}
