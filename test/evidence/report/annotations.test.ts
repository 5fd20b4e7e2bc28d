import test from 'ava';
import {annotationsOf, maxAnnotations} from '../../../evidence/report/annotations.ts';
import {renderJobSummary} from '../../../evidence/report/job-summary.ts';
import {exampleReport} from '../../helpers/example-report.ts';

test('annotationsOf() names what failed with the end of its output, and nothing of what passed', t => {
	const {report} = exampleReport(t);
	t.deepEqual(annotationsOf(report), [{level: 'error', title: 'soak', message: `${report.commands[1]?.message ?? ''}\nstarted`}]);
	t.deepEqual(
		annotationsOf({...report, verdict: 'passed', commands: report.commands.slice(0, 1), attempts: {same_plan_and_source: 1, failed: 0, unfinished: 0}}),
		[],
	);
});

test('annotationsOf() says that the same plan was run before', t => {
	const {report} = exampleReport(t);
	const annotations = annotationsOf({...report, attempts: {same_plan_and_source: 4, failed: 3, unfinished: 1}});
	t.deepEqual(annotations.at(-1), {
		level: 'warning',
		title: 'earlier attempts',
		message: 'the same plan was run on this commit before: 2 failed, 1 never ended',
	});
});

test('annotationsOf() gives at most ten, the worst first, and says how many are left', t => {
	const {report} = exampleReport(t);
	const [, failed] = report.commands;
	const commands = Array.from({length: 60}, () => failed).filter(command => command !== undefined);
	const annotations = annotationsOf({...report, commands, verdict: 'unsound', run_fault: 'the record contradicts itself'});
	t.is(annotations.length, maxAnnotations);
	t.is(annotations[0]?.title, 'the record contradicts itself');
	t.is(annotations.at(-1)?.title, '52 more');
});

test('renderJobSummary() takes as much as fits, and nothing where not even the head does', t => {
	const {report} = exampleReport(t);
	const [, failed] = report.commands;
	const commands = Array.from({length: 256}, () => failed)
		.filter(command => command !== undefined)
		.map(command => ({
			...command,
			outputs: command.outputs.map(output => ({...output, text: {head: `${'\u20ac'.repeat(490)}\n`.repeat(200), tail: '', omitted_bytes: 0}})),
		}));
	const many = {...report, commands};
	const full = renderJobSummary(many, 10_000_000) ?? '';
	const cut = renderJobSummary(many, 300_000) ?? '';
	const bare = renderJobSummary(many, 4000) ?? '';
	t.true(Buffer.byteLength(full) > 300_000);
	t.true(Buffer.byteLength(cut) <= 300_000 && cut.includes('```text'));
	t.true(Buffer.byteLength(bare) <= 4000 && bare.startsWith('# failed'));
	t.is(renderJobSummary(many, 100), null);
	t.is(renderJobSummary(many, -5), null);
});
