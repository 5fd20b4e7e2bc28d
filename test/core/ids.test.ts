import test from 'ava';
import {checkTarget, commitIdPattern, ownerProblem, repositoryProblem, runIdProblem} from '../../core/ids.ts';

const good = {owner: 'acme', repository: 'widget', issue: 7};

for (const name of ['a', '0', 'Acme-Inc', 'a.b_c', 'a..b', 'a b', '\u0061\u00e9', 'a'.repeat(240)]) {
	test(`${JSON.stringify(name.slice(0, 12))} (${name.length}) is an owner and a repository`, t => {
		t.is(ownerProblem(name), null);
		t.is(repositoryProblem(name), null);
	});
}

for (const name of ['', '.', '..', '-a', 'a/b', '/a', 'a\0', 'a\nb', 'a\u007f', 'a.lock', 'a'.repeat(241), '\u00e9'.repeat(121), 'a\ud800']) {
	test(`${JSON.stringify(name.slice(0, 12))} (${name.length}) is neither owner nor repository`, t => {
		t.not(ownerProblem(name), null);
		t.not(repositoryProblem(name), null);
	});
}

test('an owner starts with a letter or digit, a repository may start with a dot', t => {
	t.not(ownerProblem('.github'), null);
	t.not(ownerProblem('_a'), null);
	t.is(repositoryProblem('.github'), null);
	t.not(repositoryProblem('.staging-1'), null);
});

for (const [runId, isGood] of [
	['a', true],
	['20260801-120000-4f2a9c1e', true],
	['A.b_c-d', true],
	['a'.repeat(128), true],
	['', false],
	['.a', false],
	['-a', false],
	['_a', false],
	['a/b', false],
	['a b', false],
	['\u00e9', false],
	['a\n', false],
	['a'.repeat(129), false],
	['ledger.jsonl', false],
] as const) {
	test(`${JSON.stringify(runId.slice(0, 30))} (${runId.length}) is ${isGood ? 'a' : 'no'} run id`, t => {
		t.is(runIdProblem(runId) === null, isGood);
	});
}

for (const [id, isGood] of [
	['0'.repeat(40), true],
	['0123456789abcdef0123456789abcdef01234567', true],
	['0'.repeat(39), false],
	['0'.repeat(41), false],
	['A'.repeat(40), false],
	['main', false],
	['HEAD', false],
	[`${'0'.repeat(40)}\n`, false],
] as const) {
	test(`${JSON.stringify(id)} is ${isGood ? 'a' : 'no'} commit id`, t => {
		t.is(commitIdPattern.test(id), isGood);
	});
}

for (const [change, code] of [
	[{owner: '../x'}, 'CORE_ID_OWNER'],
	[{repository: 'a/b'}, 'CORE_ID_REPOSITORY'],
	[{issue: 0}, 'CORE_ID_ISSUE'],
	[{issue: -1}, 'CORE_ID_ISSUE'],
	[{issue: 1.5}, 'CORE_ID_ISSUE'],
	[{issue: Number.NaN}, 'CORE_ID_ISSUE'],
	[{issue: 2 ** 53}, 'CORE_ID_ISSUE'],
] as const) {
	test(`checkTarget() refuses ${JSON.stringify(change)}: ${code}`, t => {
		t.throws(() => checkTarget({...good, ...change}), {code});
	});
}

test('checkTarget() gives a good target back', t => {
	t.deepEqual(checkTarget(good), good);
});
