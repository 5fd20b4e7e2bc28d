import {createHash} from 'node:crypto';
import test from 'ava';
import {renderHtml} from '../../../evidence/report/html-page.ts';
import type {RunReport} from '../../../evidence/report/read-report.ts';
import {exampleReport} from '../../helpers/example-report.ts';
import {exampleManifest} from '../../helpers/example-run.ts';

const contentOf = (html: string, element: string): string => new RegExp(`<${element}>([^]*?)</${element}>`).exec(html)?.[1] ?? '';
const digestOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

test('renderHtml() lets exactly its one script and its one sheet work, and nothing else from anywhere', t => {
	const html = renderHtml(exampleReport(t));
	const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(html)?.[1] ?? '';
	t.true(policy.startsWith("default-src 'none'; "));
	t.true(policy.includes(`script-src ${digestOf(contentOf(html, 'script'))};`));
	t.true(policy.includes(`style-src ${digestOf(contentOf(html, 'style'))};`));
	t.notRegex(policy, /unsafe|https?:|\*/);
	t.true(html.indexOf('Content-Security-Policy') < html.indexOf('<style>'), 'the policy stands before what it governs');
	t.notRegex(html, /\s(?:style|on[a-z]+)=/, 'no style and no handler in an attribute');
	t.notRegex(html.replaceAll(/href="data:[^"]*"/g, ''), /(?:src|href)="(?!#)/, 'nothing is loaded or linked but places of the page');
});

test('renderHtml() tells verdict, why, source, deadlines, samples, sandbox, claims and digests', t => {
	const html = renderHtml(exampleReport(t));
	for (const part of [
		'<h1 class="bad">✗ Failed</h1>',
		'<a href="#c1">soak</a>: ran past its deadline of 1.5 s and was ended (SIGTERM)',
		exampleManifest().source.sha,
		'past it',
		'<svg class="plot"',
		'None: the plan asked for no sandbox.',
		'/commands/1/termination',
		'What it does not show:',
		'12 passed, 0 failed',
	]) {
		t.true(html.includes(part), part);
	}
});

test('renderHtml() is well formed: each element that opens also closes, ids are used once, references lead somewhere', t => {
	const html = renderHtml(exampleReport(t));
	for (const element of ['details', 'div', 'section', 'pre', 'table', 'tr', 'td', 'th', 'svg', 'dl', 'ul', 'li', 'a', 'span', 'p', 'main', 'header']) {
		const opened = html.match(new RegExp(`<${element}[ >]`, 'g'))?.length ?? 0;
		t.is(html.match(new RegExp(`</${element}>`, 'g'))?.length ?? 0, opened, element);
	}

	const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
	t.is(new Set(ids).size, ids.length);
	for (const [, id] of html.matchAll(/ href="#([^"]+)"/g)) {
		t.true(ids.includes(id), id);
	}
});

test('renderHtml() escapes whatever a record says', t => {
	const run = exampleReport(t);
	const hostile = '</script><script>x</script><img src=x onerror=y>"\'&\u202e\u0000';
	const commands = run.report.commands.map(command => ({...command, argv: [hostile, ''], cwd: hostile, message: hostile}));
	const changed: RunReport = {
		...run,
		report: {...run.report, commands, reasons: [hostile], problems: [{code: 'X', path: hostile, pointer: hostile, message: hostile}]},
	};
	const html = renderHtml(changed);
	t.is(html.match(/<script>/g)?.length, 1);
	t.is(html.match(/<\/script>/g)?.length, 1);
	t.false(html.includes('<img'));
	t.notRegex(html, /[\u0000\u202e]/);
	t.true(html.includes('&lt;/script&gt;'));
});

test('renderHtml() of a run without commands and without samples says so', t => {
	const run = exampleReport(t);
	const html = renderHtml({...run, report: {...run.report, commands: []}});
	t.true(html.includes('No command.'));
	t.true(html.includes('No sample was taken'));
});

test('renderHtml() without exact documents embeds none and says so', t => {
	const html = renderHtml({...exampleReport(t), documents: {manifest: null, plan: null}});
	t.false(html.includes('data-path="manifest.json" data-sha256'));
	t.true(html.includes('not readable as that'));
});
