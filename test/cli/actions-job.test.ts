import path from 'node:path';
import test from 'ava';
import {actionsJobOf, announceRun, fencedForJob, fencedFromCommands, workflowCommand} from '../../cli/actions-job.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

test('actionsJobOf() knows the jobs of three forges and nothing else', t => {
	t.is(actionsJobOf({}), null);
	t.is(actionsJobOf({CI: 'true', GITHUB_STEP_SUMMARY: '/x'}), null);
	t.is(actionsJobOf({GITHUB_ACTIONS: 'false'}), null);
	t.deepEqual(actionsJobOf({GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: '/x'}), {summaryFile: '/x'});
	t.deepEqual(actionsJobOf({GITEA_ACTIONS: 'true', GITHUB_STEP_SUMMARY: ''}), {summaryFile: null});
	t.deepEqual(actionsJobOf({FORGEJO_ACTIONS: 'true'}), {summaryFile: null});
});

for (const [annotation, line] of [
	[{level: 'error', title: 'unit', message: 'failed'}, '::error title=unit::failed'],
	[{level: 'warning', title: 'a,b:c%', message: '100%\r\nof: x, y'}, '::warning title=a%2Cb%3Ac%25::100%25%0D%0Aof: x, y'],
	[{level: 'error', title: 'x\n::add-mask::y', message: '\n::set-output name=a::b'}, '::error title=x%0A%3A%3Aadd-mask%3A%3Ay::%0A::set-output name=a::b'],
] as const) {
	test(`workflowCommand() of ${JSON.stringify(annotation)} is one line`, t => {
		t.is(workflowCommand(annotation), line);
		t.false(line.includes('\n'));
	});
}

test('fencedFromCommands() uses a word that nobody can know', t => {
	const [first, second] = [fencedFromCommands('::error::x'), fencedFromCommands('::error::x')] as const;
	t.not(first, second);
	t.regex(first, /^::stop-commands::([\da-f]{32})\n::error::x\n::\1::$/);
});

test('fencedForJob() fences the bytes of a command where a runner reads them, and keeps every byte', t => {
	const bytes = Buffer.from([0x3a, 0x3a, 0xff, 0x00, 0x0a]);
	t.is(fencedForJob(bytes, null, false), bytes);
	t.is(fencedForJob(bytes, {summaryFile: null}, true), bytes);
	const fenced = fencedForJob(bytes, {summaryFile: null}, false);
	t.regex(fenced.toString('latin1'), /^::stop-commands::([\da-f]{32})\n::\u00ff\0\n\n::\1::\n$/);
});

test('announceRun() turns every failure into a line', t => {
	const root = temporaryDirectory(t);
	const run = {contractPath: path.join(root, 'harness/operations/repository-cache.md'), target: {owner: 'a', repository: 'b', issue: 1}, runId: 'r1'};
	const [line = ''] = announceRun({summaryFile: null}, run);
	t.regex(line, /^bailiff: the job summary could not be made: /);
});
