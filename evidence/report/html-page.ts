import {createHash} from 'node:crypto';
import {countText, durationText} from './amounts.ts';
import {commandHtml} from './html-command.ts';
import {plotHtml} from './html-plot.ts';
import {pageScript} from './html-script.ts';
import {pageStyle} from './html-style.ts';
import {definitions, escapeHtml, idHtml} from './html-text.ts';
import {timelineHtml} from './html-timeline.ts';
import type {RunReport} from './read-report.ts';
import type {Report} from './report-schema.ts';

/** A manifest or plan that is larger is named by its digest alone. */
const maxDocumentBytes = 2 * 1_048_576;

/** Sections that are open from the start: a page that begins with fifty outputs hides the next failure. */
const maxOpen = 5;

const verdictWords = {passed: '✓ Passed', failed: '✗ Failed', unsound: '✗ The record contradicts itself'} as const;

/**
 * A run as one self-contained HTML page: nothing is loaded from anywhere, and a policy lets exactly one script and one style sheet of ours work.
 *
 * Shape: everything that comes from the run is escaped text. Readable without the script, which only hashes what is embedded. Source: E-VIEW-1.
 */
export function renderHtml(run: RunReport): string {
	const {report} = run;
	const {owner, repository, issue} = report.target;
	const title = `${report.verdict}: ${owner}/${repository}#${issue}`;
	return [
		'<!doctype html>',
		'<html lang="en"><head><meta charset="utf-8">',
		`<meta http-equiv="Content-Security-Policy" content="${policy()}">`,
		'<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer">',
		`<title>${escapeHtml(title)}</title><style>${pageStyle}</style></head>`,
		'<body><a class="skip" href="#commands">To the commands</a>',
		headerHtml(report),
		'<main>',
		problemsHtml(report),
		`<h2 id="about">What was run</h2>${aboutHtml(report)}`,
		`<h2 id="timeline">Timeline</h2>${report.commands.length === 0 ? '<p>No command.</p>' : timelineHtml(report)}`,
		`<h2 id="resources">CPU and memory</h2>${plotHtml(report)}`,
		'<h2 id="commands">Commands</h2>',
		'<p id="section-tools" hidden><button type="button" id="open-all">Open all</button> <button type="button" id="close-all">Close all</button></p>',
		...commandSections(run),
		`<h2 id="digests">Digests, and what they prove</h2>${digestsHtml(run)}`,
		'</main>',
		`<footer><p class="note">Made by bailiff ${escapeHtml(report.generator.version)} from run ${idHtml(report.run_id)}.</p></footer>`,
		`<script>${pageScript}</script></body></html>\n`,
	].join('\n');
}

/** Each command has a section; those of the first few that did not pass are open. */
function commandSections(run: RunReport): string[] {
	let open = 0;
	return run.report.commands.map(command => {
		const isOpen = (command.outcome === 'failed' || command.outcome === 'error') && ++open <= maxOpen;
		return commandHtml(command, run, {isOpen});
	});
}

/** The policy of the page: what is not named by its digest does not work, and nothing leaves or enters. */
function policy(): string {
	return [
		"default-src 'none'",
		`script-src ${hashSource(pageScript)}`,
		`style-src ${hashSource(pageStyle)}`,
		"base-uri 'none'",
		"form-action 'none'",
		"require-trusted-types-for 'script'",
		"trusted-types 'none'",
	].join('; ');
}

function hashSource(text: string): string {
	return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function headerHtml(report: Report): string {
	const {owner, repository, issue} = report.target;
	const {executed, planned, passed, failed, not_executed: left} = report.counts;
	const counts = [
		`${executed} of ${countText(planned, 'command')} executed`,
		`${passed} passed`,
		`${failed} not passed`,
		...(left === 0 ? [] : [`${left} not executed`]),
	];
	return [
		`<header class="verdict ${report.verdict}"><p class="note">Verification of ${escapeHtml(`${owner}/${repository}#${issue}`)}</p>`,
		`<h1 class="${report.verdict === 'passed' ? 'good' : 'bad'}">${verdictWords[report.verdict]}</h1>`,
		`<p>${counts.join(', ')}, in ${durationText(report.duration_ms)}.</p>`,
		`<ul>${report.reasons.map(reason => `<li>${reasonHtml(report, reason)}</li>`).join('')}</ul></header>`,
	].join('');
}

/** A reason that is about one command leads to its section. */
function reasonHtml({commands}: Report, reason: string): string {
	const command = commands.find(({id, message}) => message !== null && reason === `${id}: ${message}`);
	return command === undefined ? escapeHtml(reason) : `<a href="#c${command.index}">${escapeHtml(command.id)}</a>: ${escapeHtml(command.message ?? '')}`;
}

function aboutHtml(report: Report): string {
	const {source, environment, producer, attempts, secret_scan: scan} = report;
	const {tool} = environment.sandbox;
	const moved = source.head_after === source.sha ? 'HEAD did not move' : `<strong>HEAD moved to ${idHtml(source.head_after)}</strong>`;
	const changed =
		source.tracked_changes_after === 0 ? 'no tracked path was changed' : `<strong>${countText(source.tracked_changes_after, 'tracked path')} changed</strong>`;
	return [
		'<div class="columns">',
		definitions([
			['Commit', idHtml(source.sha)],
			['Tree', idHtml(source.tree)],
			['Checkout', `${source.checkout === 'canonical' ? 'the worktree of the issue' : 'another checkout than that of the issue'}; ${moved}, ${changed}`],
			['Run', idHtml(report.run_id)],
			['Started', escapeHtml(report.started_at)],
			['Ended', escapeHtml(report.finished_at)],
			['Attempts', attempts === null ? '<strong>unknown: the ledger cannot be read</strong>' : attemptsText(attempts)],
		]),
		definitions([
			['Sandbox', `${environment.sandbox.mode}${tool === null ? '' : `, ${idHtml(tool.path)} ${escapeHtml(tool.version)}${tool.setuid ? ' (setuid)' : ''}`}`],
			['Containment', environment.containment],
			['Machine', escapeHtml(`${environment.platform} ${environment.kernel}, ${environment.arch}, Node ${environment.node}`)],
			['Producer', escapeHtml(`bailiff ${producer.version}${producer.role === null ? '' : `, role ${producer.role}`}`)],
			['Secret scan', `${countText(scan.rules, 'rule')}, ${countText(scan.redactions, 'redaction')}`],
		]),
		'</div>',
	].join('');
}

function attemptsText({same_plan_and_source: all, failed, unfinished}: NonNullable<Report['attempts']>): string {
	return `${all} with this plan on this commit: ${failed} failed, ${unfinished} never ended`;
}

function problemsHtml({problems}: Report): string {
	if (problems.length === 0) {
		return '';
	}

	const items = problems.map(
		({code, path, pointer, message}) =>
			`<li><code>${escapeHtml(code)}</code> ${idHtml([path, pointer].filter(part => part !== null && part !== '').join(' '))} ${escapeHtml(message)}</li>`,
	);
	return `<h2 id="problems">Problems of the record</h2><ul>${items.join('')}</ul>`;
}

function digestsHtml({report, documents}: RunReport): string {
	const {manifest, plan} = documents;
	return [
		'<p id="check-summary" role="status">Not checked yet: the check needs JavaScript.</p>',
		definitions([
			['Manifest', documentHtml('manifest.json', report.manifest.sha256, manifest)],
			['Plan', documentHtml('plan.json', report.plan.sha256, plan)],
		]),
		'<p>This page hashes the exact bytes that it embeds, in your browser, and compares them with the manifest that it embeds. Outputs that are not whole here are not checked.</p>',
		'<p><strong>What that shows:</strong> these bytes and this manifest belong together. <strong>What it does not show:</strong> who made this page, that the commands ran, or that the ',
		'text above was made from these bytes. Whoever makes a page can make its digests agree. Proof comes from elsewhere: <code>bailiff validate</code> or <code>bailiff evidence inspect</code> ',
		'on the run itself, <code>bailiff evidence verify-attestation</code> with a signer whom you trust, and a manifest digest that you know from another source than this page.</p>',
	].join('');
}

function documentHtml(name: string, sha256: string, bytes: Buffer | null): string {
	if (bytes === null || bytes.length > maxDocumentBytes) {
		return `sha256 ${idHtml(sha256)} <span class="check">${bytes === null ? '<strong>not readable as that</strong>' : 'too large to embed'}</span>`;
	}

	return `sha256 ${idHtml(sha256)} <a class="raw" download="${name}" data-path="${name}" data-sha256="${sha256}" href="data:application/json;base64,${bytes.toString('base64')}">exact bytes</a> <span class="check"></span>`;
}
