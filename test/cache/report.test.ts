import test from 'ava';
import {ReportDraft, reportOn} from '../../cache/report.ts';
import {BailiffError} from '../../core/errors.ts';

const draft = () => new ReportDraft('cache sync', {owner: 'acme', repository: 'widget'});
const refuse = (details: Record<string, string> = {}) => {
	throw new BailiffError('CACHE_ABSENT', 'there is none', {details});
};

test('a refusal becomes a report that is whole: error, problem, path and remedy', async t => {
	const report = await reportOn(draft(), async () => refuse({path: 'repository.git', remedy: 'bailiff cache bootstrap', more: 'x'}));
	t.like(report, {status: 'refused', complete: false});
	t.like(report.error, {code: 'CACHE_ABSENT', message: 'there is none'});
	t.deepEqual(report.problems, [
		{code: 'CACHE_ABSENT', path: 'repository.git', message: 'there is none', details: {more: 'x'}, remedy: 'bailiff cache bootstrap'},
	]);
});

test('a refusal after a change is partial', async t => {
	const changed = draft();
	changed.isChanged = true;
	changed.isComplete = true;
	const report = await reportOn(changed, async () => refuse());
	t.like(report, {status: 'partial', complete: false});
});

test('problems stop a command with the code of the first, and say how many more there are', async t => {
	const found = draft();
	const problem = {path: null, details: {}, remedy: null};
	const report = await reportOn(found, async () => {
		found.stopOn([
			{...problem, code: 'CACHE_STALE_GIT_LOCK', message: 'first'},
			{...problem, code: 'CACHE_FOREIGN_REF', message: 'second'},
		]);
		return 'ok';
	});
	t.is(report.error?.code, 'CACHE_STALE_GIT_LOCK');
	t.is(report.error?.message, 'first (and 1 more problem)');
	t.is(report.problems.length, 2);
});

test('an answer no carries its first problem as error; a bug goes through', async t => {
	const damaged = draft();
	damaged.problems.push({code: 'CACHE_MIRROR_CORRUPT', path: null, message: 'damaged', details: {}, remedy: null});
	t.is((await reportOn(damaged, async () => 'no')).error?.code, 'CACHE_MIRROR_CORRUPT');
	t.is((await reportOn(damaged, async () => 'ok')).error, null);
	await t.throwsAsync(
		reportOn(draft(), async () => {
			throw new TypeError('a bug');
		}),
		{instanceOf: TypeError},
	);
});
