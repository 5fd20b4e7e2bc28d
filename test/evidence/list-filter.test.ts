import test from 'ava';
import type {ListedRun} from '../../evidence/list.ts';
import {filterRuns, type RunFilter} from '../../evidence/list-filter.ts';

const run = (id: string, rest: Partial<ListedRun>): ListedRun => ({
	run_id: id,
	state: 'published',
	result: 'passed',
	source_sha: 'a'.repeat(40),
	plan_sha256: null,
	manifest_sha256: null,
	started_at: '2026-08-01T12:00:00.000Z',
	ended_at: null,
	...rest,
});
const runs = [
	run('old', {started_at: '2026-07-31T23:59:59.999Z'}),
	run('failed', {result: 'failed'}),
	run('other', {source_sha: 'b'.repeat(40)}),
	run('unknown', {state: 'unknown', result: null, source_sha: null, started_at: null}),
];

const cases: ReadonlyArray<readonly [filter: RunFilter, ids: readonly string[]]> = [
	[{}, ['old', 'failed', 'other', 'unknown']],
	[{result: 'failed'}, ['failed']],
	[{result: 'passed'}, ['old', 'other']],
	[{commit: 'b'.repeat(40)}, ['other']],
	[{sinceMs: Date.parse('2026-08-01')}, ['failed', 'other']],
	[{sinceMs: Date.parse('2026-08-01'), result: 'passed', commit: 'a'.repeat(40)}, []],
];

for (const [filter, ids] of cases) {
	test(`filterRuns() by ${JSON.stringify(filter)} gives ${ids.join(', ') || 'nothing'}`, t => {
		t.deepEqual(
			filterRuns(runs, filter).map(({run_id: id}) => id),
			ids,
		);
	});
}
