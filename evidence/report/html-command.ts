import type {CommandRecord, SandboxRecord} from '../manifest-schema.ts';
import {bytesText, countText, durationText} from './amounts.ts';
import {endText} from './command-outcome.ts';
import {outputHtml} from './html-output.ts';
import {definitions, escapeHtml, idHtml} from './html-text.ts';
import {outcomeWords} from './html-timeline.ts';
import type {RunReport} from './read-report.ts';
import type {ReportCommand} from './report-schema.ts';

/** The section of one command: why it did not pass, how it was called and ended, its outputs, resources, sandbox and claims. */
export function commandHtml(command: ReportCommand, run: RunReport, {isOpen}: {readonly isOpen: boolean}): string {
	const {index, id, outcome, message, record, argv} = command;
	const took = record === null ? '' : ` <span class="took">${durationText(record.duration_ms)}</span>`;
	return [
		`<details class="command ${outcome}" id="c${index}"${isOpen ? ' open' : ''}>`,
		`<summary><h3>${index + 1}. ${escapeHtml(id)}</h3> <span class="outcome">${outcomeWords[outcome]}</span>${took}</summary>`,
		message === null ? '' : `<p class="why">${escapeHtml(message)}</p>`,
		`<pre class="argv" tabindex="0" role="group" aria-label="Arguments of ${escapeHtml(id)}">${argv.map(argument => escapeHtml(shownArgument(argument))).join('\n')}</pre>`,
		record === null ? '' : recordHtml(command, record, run),
		'</details>',
	].join('');
}

/** One argument a line: an argument that is empty or holds blanks is quoted, so that it cannot look like two. */
function shownArgument(argument: string): string {
	return /^[^\s"'\\]+$/.test(argument) ? argument : JSON.stringify(argument);
}

function recordHtml(command: ReportCommand, record: CommandRecord, run: RunReport): string {
	const outputs = command.outputs.flatMap(({path}) => {
		const stored = run.outputs.get(path);
		return stored === undefined ? [] : [outputHtml(command, stored)];
	});
	return [
		...outputs,
		'<div class="columns">',
		section('How it ran', definitions(endRows(command, record))),
		section('Sandbox', sandboxHtml(record.sandbox)),
		section('Claims', claimsHtml(command, run)),
		'</div>',
	].join('');
}

function section(title: string, content: string): string {
	return `<section><h4>${title}</h4>${content}</section>`;
}

function endRows(command: ReportCommand, record: CommandRecord): Array<[string, string]> {
	const {termination, resources} = record;
	return [
		['Ended', `${escapeHtml(endText(record))}, expected was exit ${command.expected_exit_code}`],
		['Status', `${record.execution_status}${record.trigger === null ? '' : `, because of ${record.trigger}`}`],
		['Deadline', `${durationText(command.timeout_seconds * 1000)}, took ${durationText(record.duration_ms)}`],
		['Termination', terminationText(termination)],
		['Directory', idHtml(command.cwd)],
		['Program', `${idHtml(record.executable.path)} sha256 ${record.executable.sha256 === null ? 'not readable' : idHtml(record.executable.sha256)}`],
		...(record.env_names.length === 0 ? [] : [['Environment', `names ${record.env_names.map(name => idHtml(name)).join(', ')}`] satisfies [string, string]]),
		...(resources === null
			? []
			: [
					['CPU', `${durationText(Math.round(resources.user_us / 1000))} user, ${durationText(Math.round(resources.system_us / 1000))} system`] satisfies [
						string,
						string,
					],
					[
						'Memory',
						`${bytesText(resources.max_rss_bytes)} largest process${resources.peak_group_rss_bytes === null ? '' : `, ${bytesText(resources.peak_group_rss_bytes)} all together`} (${countText(resources.samples, 'sample')})`,
					] satisfies [string, string],
				]),
	];
}

function terminationText(termination: CommandRecord['termination']): string {
	const sent = [termination.term_sent ? 'TERM sent' : '', termination.kill_sent ? 'KILL sent' : ''].filter(part => part !== '');
	return [
		...(sent.length === 0 ? ['no signal was needed'] : sent),
		termination.direct_child_reaped ? 'child reaped' : '<strong>child not reaped</strong>',
		termination.group_cleanup_completed ? 'nobody left behind' : '<strong>not shown to be clean</strong>',
	].join(', ');
}

function sandboxHtml(sandbox: SandboxRecord | null): string {
	if (sandbox === null) {
		return '<p class="note">None: the plan asked for no sandbox.</p>';
	}

	const layers = Object.entries(sandbox.layers).map(([layer, kept]) => `<li><span class="kept ${kept}">${kept}</span> ${layer.replace('_', ' ')}</li>`);
	const limits = Object.entries(sandbox.limits).filter(([, bound]) => bound !== 'none');
	return [
		`<ul class="layers" aria-label="Layers as they were observed">${layers.join('')}</ul>`,
		definitions([
			['Network', sandbox.network],
			['Limits', limits.length === 0 ? 'none' : limits.map(([limit, bound]) => `${limit.replaceAll('_', ' ')} by ${bound}`).join(', ')],
			['Left over', `${sandbox.leftovers} of its processes${sandbox.quiet ? '' : ', <strong>not quiet at the end</strong>'}`],
			['Mounts', idHtml(sandbox.mounts_sha256)],
			['Filter', idHtml(sandbox.filter_sha256)],
		]),
	].join('');
}

function claimsHtml({claim, index}: ReportCommand, {report}: RunReport): string {
	if (claim === null) {
		return '<p class="note bad">None: the manifest makes no claim about this command.</p>';
	}

	const rows = Object.entries(claim).filter(([name]) => name !== 'id');
	const isQuestioned =
		report.verdict === 'unsound' &&
		report.problems.some(({code, pointer}) => code.startsWith('EVIDENCE_CLAIM') && (pointer === '' || `${pointer}/`.startsWith(`/claims/${index}/`)));
	const held =
		report.verdict === 'unsound'
			? 'Not relied on: the record contradicts itself.'
			: 'Each names its place in the manifest, and held against plan, outputs and truth table when this report was made.';
	return `<p class="note">${isQuestioned ? '<strong class="bad">✗ Not all of them hold, see the problems.</strong>' : held}</p>${definitions(rows.map(([name, pointer]) => [name.replaceAll('_', ' '), idHtml(pointer)]))}`;
}
