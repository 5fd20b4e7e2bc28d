import test from 'ava';
import {codeSpan, renderMarkdown} from '../../../evidence/report/markdown.ts';
import {exampleReport} from '../../helpers/example-report.ts';

for (const [text, span] of [
	['plain', '`plain`'],
	['', '`  `'],
	['a`b', '``a`b``'],
	['`a', '`` `a ``'],
	['``` fence', '```` ``` fence ````'],
	['a|b', '`a\\|b`'],
	['two\nlines\t\u001b\u202e', '`two\\nlines\\t\\x1b\\u202e`'],
	[' blank ', '`  blank  `'],
] as const) {
	test(`codeSpan() of ${JSON.stringify(text)} is ${JSON.stringify(span)}`, t => {
		t.is(codeSpan(text), span);
	});
}

test('renderMarkdown() lists commands, shows the end of what failed and says that it proves nothing', t => {
	const markdown = renderMarkdown(exampleReport(t).report);
	t.regex(markdown, /^# failed: verification of `acme\/widget#7`\n/);
	t.true(markdown.includes('| 1 | `unit` | passed | exit 0 | 6 ms | 1 min |\n'));
	t.true(markdown.includes('```text\nstarted\n```'));
	t.regex(markdown, /proves nothing/);
});

test('renderMarkdown() fences output with more backticks than it holds, and keeps to its limits', t => {
	const {report} = exampleReport(t);
	const commands = report.commands.map(command => ({
		...command,
		outputs: command.outputs.map(output => ({...output, text: {head: `${'x\n'.repeat(500)}\`\`\`\`\n</details>`, tail: '', omitted_bytes: 0}})),
	}));
	const markdown = renderMarkdown({...report, commands}, {maxRows: 1, maxOutputs: 1, maxLines: 5});
	t.true(markdown.includes('`````text\nx\nx\nx\n````\n</details>\n`````'), markdown);
	t.true(markdown.includes('1 more commands are not listed here.'));
	t.true(markdown.includes('its last 5 lines'));
});
