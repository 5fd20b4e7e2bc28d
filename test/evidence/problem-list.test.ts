import test from 'ava';
import {isNotice, maxProblems, ProblemList} from '../../evidence/problem-list.ts';
import type {Problem, ProblemCode} from '../../evidence/problems.ts';

function problem(code: ProblemCode): Problem {
	return {code, path: null, pointer: '', message: 'm'};
}

test('a list without problems is sound', t => {
	const list = new ProblemList();
	t.true(list.isSound);
	t.deepEqual(list.all(), []);
});

test('a named state does not make a list unsound, a problem does', t => {
	const list = new ProblemList();
	list.add(problem('EVIDENCE_LEDGER_TORN'));
	t.true(list.isSound);
	list.add(problem('EVIDENCE_DIGEST'));
	t.false(list.isSound);
	t.is(list.all().length, 2);
});

test('problems beyond the bound are counted, and named states do not crowd out problems', t => {
	const list = new ProblemList();
	list.addAll(Array.from({length: maxProblems + 5}, () => problem('EVIDENCE_LEDGER_RUN_MISSING')));
	t.true(list.isSound);
	list.addAll(Array.from({length: maxProblems + 2}, () => problem('EVIDENCE_DIGEST')));
	t.false(list.isSound);
	const all = list.all();
	t.is(all.filter(found => found.code === 'EVIDENCE_DIGEST').length, maxProblems);
	t.is(all.at(-1)?.code, 'EVIDENCE_MORE_PROBLEMS');
	t.regex(all.at(-1)?.message ?? '', /^7 more/);
});

test('isNotice() knows the states that E-LED-3 and --require-passed name', t => {
	t.true(isNotice(problem('EVIDENCE_NOT_PASSED')));
	t.true(isNotice(problem('EVIDENCE_LEDGER_UNRECORDED')));
	t.false(isNotice(problem('EVIDENCE_LEDGER_CHAIN')));
	t.false(isNotice(problem('EVIDENCE_LEDGER_MISMATCH')));
});
