import test from 'ava';
import type {CacheReport, CommonReport} from '../../cache/index.ts';
import {ReportDraft} from '../../cache/report.ts';
import {exitCodeOfReport, replyOfReports} from '../../cli/cache-reply.ts';
import {BailiffError} from '../../core/errors.ts';

function report(status: CommonReport['status'], error: BailiffError | null = null, repository = 'widget'): CacheReport {
	return new ReportDraft('cache sync', {owner: 'acme', repository}).finish(status, error?.toJSON() ?? null);
}

for (const [status, exitCode] of [
	['ok', 0],
	['no', 1],
	['refused', 3],
	['partial', 4],
] as const) {
	test(`a report that is ${status} ends with ${exitCode}`, t => {
		t.is(exitCodeOfReport(report(status)), exitCode);
		t.is(replyOfReports([report(status)]).exitCode, exitCode);
	});
}

test('a report that a signal broke off ends with the code of the signal', t => {
	const error = new BailiffError('CLI_INTERRUPTED', 'broken off', {details: {signal: 'SIGTERM'}});
	t.is(exitCodeOfReport(report('refused', error)), 143);
});

test('one report is printed whole; of several the worst decides and all are printed', t => {
	const one = replyOfReports([report('ok')]);
	t.deepEqual(Object.keys(one.json), [
		'command',
		'status',
		'error',
		'problems',
		'locks',
		'complete',
		'identity',
		'repository',
		'cache',
		'default_branch',
		'worktrees',
		'credential',
	]);
	const several = replyOfReports([report('ok'), report('partial', null, 'gadget'), report('no', null, 'gizmo')]);
	t.is(several.exitCode, 4);
	t.like(several.json, {command: 'cache sync', status: 'partial'});
	t.is(JSON.stringify(several.json).match(/"complete"/g)?.length, 3);
});

test('a person sees every problem with the command that would mend it, and no control character', t => {
	const draft = new ReportDraft('cache sync', {owner: 'acme', repository: 'widget'});
	draft.problems.push({code: 'CACHE_STALE_GIT_LOCK', path: 'repository.git/a.lock', message: 'left\u001b[2J behind', details: {}, remedy: "rm -- '/a b'"});
	const {note = ''} = replyOfReports([draft.finish('refused', {code: 'CACHE_STALE_GIT_LOCK', message: 'left behind', details: {}})]);
	t.regex(note, /^bailiff: CACHE_STALE_GIT_LOCK: left.* behind\n {2}a person who has looked at it may run: rm -- '\/a b'$/);
	t.false(note.includes('\u001b'));
	t.regex(replyOfReports([report('refused', new BailiffError('CACHE_ABSENT', 'none'))]).note ?? '', /^bailiff: CACHE_ABSENT: none$/);
});
