import {execFileSync} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import path from 'node:path';
import {Ajv2020} from 'ajv/dist/2020.js';
import test, {type ExecutionContext} from 'ava';
import {validateStrict} from 'ctrf';
import {XMLParser, XMLValidator} from 'fast-xml-parser';
import {browserTest, openPage, startBrowser} from '../helpers/browser.ts';
import {eventually} from '../helpers/eventually.ts';
import {hostileOutputs} from '../helpers/hostile-output.ts';
import {runCli} from '../helpers/run-cli.ts';
import {RunGround, type TestCommand} from '../helpers/run-ground.ts';

/** Publishes a run of these commands and gives what makes its reports. */
async function publish(t: ExecutionContext, commands: readonly TestCommand[]): Promise<{readonly ground: RunGround; readonly flags: readonly string[]}> {
	const ground = await RunGround.make(t);
	const ran = await ground.run(ground.plan(commands, {fail_fast: false}), '--run-id', 'r1');
	t.true(ran.exitCode === 0 || ran.exitCode === 1, ran.stderr);
	return {ground, flags: ['evidence', 'report', '--root', ground.root, '--target', 'acme/widget#7', '--run', 'r1']};
}

/** Every attack as the output of a command of its own, one failure with split streams, and one command that ran past its deadline. */
async function publishHostile(t: ExecutionContext): Promise<{readonly ground: RunGround; readonly flags: readonly string[]}> {
	const directory = path.join((await RunGround.make(t)).directory, 'hostile');
	mkdirSync(directory);
	const prints = Object.entries(hostileOutputs).map(([name, content]) => {
		writeFileSync(path.join(directory, name), content);
		return {id: name, argv: ['cat', path.join(directory, name)], max_output_bytes: 1_048_576};
	});
	return publish(t, [
		...prints,
		{id: 'split', argv: ['sh', '-c', 'echo out; echo "<&>" >&2; exit 3', '</script><script>window.pwned=8</script>'], streams: 'split'},
		{id: 'late', argv: ['sleep', '30'], timeout_seconds: 0.3},
		{id: 'never', argv: ['true', `${'y'.repeat(4000)}\n\u202e`], cwd: '.'},
		{id: 'x'.repeat(128), argv: ['true']},
	]);
}

async function textOf(t: ExecutionContext, flags: readonly string[], format: string): Promise<string> {
	const {exitCode, stdout, stderr} = await runCli([...flags, '--format', format]);
	t.is(exitCode, 0, stderr);
	return stdout;
}

test('JUnit parses strictly with two parsers, counts what it holds and shows control characters as text', async t => {
	const {flags, ground} = await publishHostile(t);
	const xml = await textOf(t, flags, 'junit');
	t.true(XMLValidator.validate(xml));
	const file = path.join(ground.directory, 'junit.xml');
	writeFileSync(file, xml);
	const expat =
		'import sys, xml.etree.ElementTree as e; s = e.parse(sys.argv[1]).getroot()[0]; print(len(s.findall("testcase")), s.find("testcase[@name=\'markup.bin\']/system-out").text)';
	const told = execFileSync('python3', ['-c', expat, file], {encoding: 'utf8'});
	t.true(told.startsWith('8 output/000.log'));
	t.true(told.includes("</script><script>document.title='pwned'"), 'the text is carried as text');
	const {testsuites} = new XMLParser({ignoreAttributes: false, parseAttributeValue: true}).parse(xml);
	t.like(testsuites.testsuite, {'@_tests': 8, '@_failures': 1, '@_errors': 1, '@_skipped': 2});
	const cases: ReadonlyArray<Record<string, unknown>> = testsuites.testsuite.testcase;
	t.is(cases.filter(one => 'failure' in one).length, 1);
	t.is(cases.filter(one => 'error' in one).length, 1);
	t.is(cases.filter(one => 'skipped' in one).length, 2);
	t.true(xml.includes('\\x00\\x07'));
	t.true(xml.includes('\\u202eevil'));
	t.regex(xml, /before .* after \\uffff \\ufffe/);
	t.notRegex(xml, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/);
});

test('CTRF passes the validator of its authors, and its totals are those of its tests', async t => {
	const {flags} = await publishHostile(t);
	const document = JSON.parse(await textOf(t, flags, 'ctrf'));
	t.notThrows(() => validateStrict(document));
	const {summary, tests} = document.results;
	const count = (status: string): number => tests.filter((one: {status: string}) => one.status === status).length;
	t.like(summary, {tests: 8, passed: 4, failed: 2, skipped: 2, pending: 0, other: 0});
	t.deepEqual([count('passed'), count('failed'), count('skipped')], [summary.passed, summary.failed, summary.skipped]);
});

test('the JSON report is what its published schema says, for another validator too', async t => {
	const {flags} = await publishHostile(t);
	const report = JSON.parse(await textOf(t, flags, 'json'));
	const schema = JSON.parse((await runCli(['evidence', 'schema', '--document', 'report'])).stdout);
	const isReport = new Ajv2020({strict: false}).compile(schema);
	t.true(isReport(report), JSON.stringify(isReport.errors));
	t.like(report, {verdict: 'failed', run_id: 'r1', counts: {planned: 8, executed: 6, passed: 4, failed: 2, not_executed: 2}, run_fault: null, problems: []});
	const long = report.commands[3].outputs[0];
	t.is(long.text.omitted_bytes, 1_048_576 - 2 * 16_384);
	t.true(long.text.tail.endsWith('END-MARKER'));
});

test('Markdown keeps everything that a run wrote inside of code', async t => {
	const {flags} = await publishHostile(t);
	const markdown = await textOf(t, flags, 'markdown');
	const outside = markdown.replaceAll(/^(`{3,})text\n[^]*?\n\1$/gm, '').replaceAll(/(`+)(?!`)[^]*?[^`]\1(?!`)/g, '');
	t.notRegex(outside, /[<>@]/);
	t.regex(outside, /^# failed: verification of/);
	t.true(markdown.includes('| 6 | `late` | **error** | SIGTERM |'), markdown.slice(0, 2000));
});

test('a report goes into a new file and never over another; with --json its digest is told', async t => {
	const {flags, ground} = await publish(t, [{id: 'one', argv: ['true']}]);
	const file = path.join(ground.directory, 'report.html');
	const told = (await runCli([...flags, '--format', 'html', '--output', file, '--json'])).json();
	t.like(told, {run_id: 'r1', format: 'html', verdict: 'passed', file});
	t.is(readFileSync(file).length, Number(told['bytes']));
	const again = await runCli([...flags, '--format', 'html', '--output', file]);
	t.is(again.exitCode, 3);
	t.regex(again.stderr, /CLI_FILE_NOT_WRITTEN/);
	t.is((await runCli([...flags, '--format', 'pdf'])).exitCode, 2);
	t.is((await runCli([...flags.slice(0, -1), 'r2', '--format', 'html'])).exitCode, 3);
});

test('a record that contradicts itself is reported as that, and the report is a no', async t => {
	const {flags, ground} = await publish(t, [{id: 'one', argv: ['echo', 'hello']}]);
	writeFileSync(path.join(ground.runDirectory('r1'), 'output/000.log'), 'jello\n');
	for (const format of ['html', 'markdown', 'junit', 'ctrf', 'json']) {
		const {exitCode, stdout} = await runCli([...flags, '--format', format]);
		t.is(exitCode, 1, format);
		t.false(stdout.includes('jello'), format);
		t.true(stdout.includes('contradicts itself'), format);
	}
});

browserTest('in Chromium nothing of hostile output runs, nothing breaks the layout, and every embedded digest agrees', async t => {
	t.timeout(120_000);
	const {flags, ground} = await publishHostile(t);
	const file = path.join(ground.directory, 'report.html');
	t.is((await runCli([...flags, '--format', 'html', '--output', file])).exitCode, 0);
	const browser = await startBrowser(t);
	for (const colorScheme of ['light', 'dark'] as const) {
		const {page, faults} = await openPage(browser, file, colorScheme);
		await page.click('#open-all');
		t.deepEqual(faults, []);
		t.is(await page.title(), 'failed: acme/widget#7');
		t.is(await page.evaluate('window.pwned'), undefined);
		t.regex(await page.innerText('#check-summary'), /^✓ All \d+ embedded files/);
		t.is(await page.evaluate(`document.querySelectorAll('script').length`), 1);
		t.is(await page.evaluate(`document.querySelectorAll('img, iframe, base, object, #injected, main style').length`), 0);
		t.is(await page.evaluate(`document.querySelectorAll('details.command[open]').length`), 8);
		for (const width of [1100, 400]) {
			await page.setViewportSize({width, height: 900});
			t.is(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `no sideways scrolling at ${width} pixels`);
		}

		const shown = await page.innerText('#c1 pre[aria-label^="Output"]');
		t.true(shown.includes('\ndone\n'), 'a line that was written over shows its last state');
		t.true(shown.includes('\\u202eevil') && shown.includes('concealed') && shown.includes('after the unfinished string'));
		t.regex(await page.innerText('#c3'), /896 KiB of 1 MiB are left out here/);
	}
});

browserTest('in Chromium an altered byte shows, a planted script does not run, and the keyboard reaches every output', async t => {
	t.timeout(120_000);
	const {flags, ground} = await publish(t, [{id: 'one', argv: ['seq', '1', '2000']}]);
	let callers = 0;
	const server = createServer(socket => {
		callers++;
		socket.destroy();
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => server.close());
	const address = server.address();
	const port = typeof address === 'object' ? address?.port : null;
	const html = await textOf(t, flags, 'html');
	const file = path.join(ground.directory, 'altered.html');
	const altered = html
		.replace(/(data-path="output\/000\.log"[^>]*base64,)MQoy/, '$1MQoz')
		.replace('</main>', `<script>window.pwned=1</script><img src="http://127.0.0.1:${port}/x" onerror="window.pwned=2"></main>`);
	t.not(altered, html);
	writeFileSync(file, altered);
	const browser = await startBrowser(t);
	const {page, faults} = await openPage(browser, file, 'light');
	t.regex(await page.innerText('#check-summary'), /^✗ 1 of 3 embedded files/);
	t.is(await page.evaluate('window.pwned'), undefined);
	t.is(faults.filter(fault => /^console: .*Content Security Policy.*blocked/.test(fault)).length, 3, faults.join('\n'));
	t.is(callers, 0, 'the policy let nothing out');

	await page.focus('summary');
	await page.keyboard.press('Enter');
	await page.keyboard.press('Tab');
	await page.keyboard.press('Tab');
	t.is(await page.evaluate("document.activeElement.getAttribute('aria-label')"), 'Output of one');
	await page.keyboard.press('End');
	t.true(await eventually('a scrolled output', () => page.evaluate('document.activeElement.scrollTop > 0')));
});
