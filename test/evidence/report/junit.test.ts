import test from 'ava';
import {XMLParser, XMLValidator} from 'fast-xml-parser';
import {renderJunit} from '../../../evidence/report/junit.ts';
import type {Report} from '../../../evidence/report/report-schema.ts';
import {exampleReport} from '../../helpers/example-report.ts';

const parse = (xml: string): {testsuites: {testsuite: Record<string, unknown> & {testcase: ReadonlyArray<Record<string, unknown>>}}} =>
	new XMLParser({ignoreAttributes: false, parseAttributeValue: true}).parse(xml);

test('renderJunit() counts the cases that it holds', t => {
	const xml = renderJunit(exampleReport(t).report);
	t.true(XMLValidator.validate(xml));
	const {testsuite} = parse(xml).testsuites;
	t.like(testsuite, {'@_name': 'acme/widget#7', '@_tests': 2, '@_failures': 0, '@_errors': 1, '@_skipped': 0});
	t.is(testsuite.testcase.length, 2);
});

test('renderJunit() gives a fault of the run a case of its own: nothing but passed and skipped cases would look green', t => {
	const {report} = exampleReport(t);
	const xml = renderJunit({...report, run_fault: 'between commands: interrupted by SIGTERM'});
	const {testsuite} = parse(xml).testsuites;
	t.like(testsuite, {'@_tests': 3, '@_errors': 2});
	t.like(testsuite.testcase[2], {'@_name': '(the run itself)', error: {'#text': 'between commands: interrupted by SIGTERM'}});
});

for (const [title, text, shown] of [
	['markup', '</system-out><b a="1">&amp;]]>', '</system-out><b a="1">&amp;]]>'],
	['ESC, NUL and non-characters', '\u001b \u0000 \ufffe \uffff', '\\x1b \\x00 \\ufffe \\uffff'],
	['a lone surrogate', 'a\ud800b', 'a\\ud800b'],
	['a carriage return', 'a\rb', 'a\\x0db'],
] as const) {
	test(`renderJunit() carries ${title} so that a parser gives it back as visible text`, t => {
		const {report} = exampleReport(t);
		const [first] = report.commands;
		const [output] = first?.outputs ?? [];
		if (first === undefined || output === undefined) {
			t.fail();
			return;
		}

		const changed: Report = {
			...report,
			commands: [{...first, message: text, outcome: 'failed', outputs: [{...output, text: {head: text, tail: '', omitted_bytes: 0}}]}],
		};
		const xml = renderJunit(changed);
		t.true(XMLValidator.validate(xml));
		const {testcase} = new XMLParser({ignoreAttributes: false, trimValues: false}).parse(xml).testsuites.testsuite;
		t.true(String(testcase['system-out']).endsWith(`\n${shown}`), String(testcase['system-out']));
		t.is(testcase.failure['@_message'], shown);
	});
}
