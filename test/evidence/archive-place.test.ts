import test from 'ava';
import {identityOf} from '../../evidence/archive-place.ts';
import {ProblemList} from '../../evidence/problem-list.ts';

const below = '/r/repositories/acme/widget/worktrees/issue-7/verification';

test('the canonical place says whose the run is', t => {
	for (const root of ['/r', '/r/']) {
		const problems = new ProblemList();
		t.deepEqual(identityOf({root, artifactRoot: `${below}/r1`}, problems), {target: {owner: 'acme', repository: 'widget', issue: 7}, runId: 'r1'});
		t.true(problems.isSound);
	}

	t.truthy(identityOf({root: '/', artifactRoot: '/repositories/acme/widget/worktrees/issue-7/verification/r1'}, new ProblemList()));
});

for (const place of [
	below,
	`${below}/`,
	`${below}/r1/`,
	`${below}/r1/output`,
	`${below}//r1`,
	`${below}/..`,
	`${below}/.staging-r1`,
	`${below}/ledger.jsonl`,
	'/s/repositories/acme/widget/worktrees/issue-7/verification/r1',
	'/r/repositories/acme/widget/worktrees/issue-07/verification/r1',
	'/r/repositories/acme/widget/worktrees/issue-0/verification/r1',
	'/r/repositories/acme/widget/worktrees/issue-9999999999999999/verification/r1',
	'/r/repositories/../widget/worktrees/issue-7/verification/r1',
	'/r/repositories/acme/widget.lock/worktrees/issue-7/verification/r1',
	'/r/repositories/acme/widget/worktrees/issue-7/runtime/r1',
	'r/repositories/acme/widget/worktrees/issue-7/verification/r1',
]) {
	test(`${place} is no place of a run`, t => {
		const problems = new ProblemList();
		t.is(identityOf({root: '/r', artifactRoot: place}, problems), null);
		t.deepEqual(
			problems.all().map(({code}) => code),
			['EVIDENCE_TARGET_MISMATCH'],
		);
	});
}
