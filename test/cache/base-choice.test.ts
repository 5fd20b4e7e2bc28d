import path from 'node:path';
import test from 'ava';
import {type BaseRelation, chooseBase, readBaseRelation} from '../../cache/base-choice.ts';
import {openGit} from '../../cache/git-command.ts';
import {refusalLater} from '../helpers/refusal.ts';
import {makeRepository} from '../helpers/repository.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const d = 'd'.repeat(40);
const v = 'a'.repeat(40);
const relation: BaseRelation = {ancestry: 'approved-is-ancestor', onlyDefault: 3, onlyApproved: 0};
const relate = async (): Promise<BaseRelation> => relation;
const never = async (): Promise<BaseRelation> => {
	throw new Error('asked without need');
};

test('without an approved base, or with the same, it is the default branch, and nothing is compared', async t => {
	for (const approvedBase of [null, d]) {
		t.deepEqual(await chooseBase({defaultBranchSha: d, approvedBase, chosen: null, relate: never}), {sha: d, source: 'default-branch'});
	}
});

test('where the two differ nothing is picked: both are shown, with ancestry, counts and the two commands', async t => {
	const refusal = await refusalLater(() => chooseBase({defaultBranchSha: d, approvedBase: v, chosen: null, relate}));
	t.is(refusal?.code, 'CACHE_BASE_AMBIGUOUS');
	t.true(refusal?.message.includes(`--base ${d} --base-source default-branch`));
	t.true(refusal?.message.includes(`--base ${v} --base-source discovery`));
	t.deepEqual(refusal?.details, {default_branch_sha: d, approved_base: v, ancestry: 'approved-is-ancestor', only_default: 3, only_approved: 0});
});

for (const [title, approvedBase, chosen, code] of [
	['the default branch by name', v, {sha: d, source: 'default-branch'}, null],
	['the approved base by name', v, {sha: v, source: 'discovery'}, null],
	['the default branch under the other name', v, {sha: d, source: 'discovery'}, 'CACHE_BASE_WITHOUT_AUTHORITY'],
	['the approved base under the other name', v, {sha: v, source: 'default-branch'}, 'CACHE_BASE_WITHOUT_AUTHORITY'],
	['a third commit', v, {sha: 'e'.repeat(40), source: 'default-branch'}, 'CACHE_BASE_WITHOUT_AUTHORITY'],
	['a discovery where none was approved', null, {sha: d, source: 'discovery'}, 'CACHE_BASE_WITHOUT_AUTHORITY'],
	['a short id', v, {sha: d.slice(0, 12), source: 'default-branch'}, 'CORE_ID_COMMIT'],
	['a name', v, {sha: 'main', source: 'default-branch'}, 'CORE_ID_COMMIT'],
] as const) {
	test(`a person chooses ${title}: ${code ?? 'taken'}`, async t => {
		const asked = {defaultBranchSha: d, approvedBase, chosen, relate: never};
		const refusal = await refusalLater(async () => t.deepEqual(await chooseBase(asked), chosen));
		t.is(refusal?.code ?? null, code);
	});
}

test('how two commits lie to each other is counted by git; a missing one makes it unknown', async t => {
	const repository = makeRepository(path.join(temporaryDirectory(t), 'r'), {a: 'a'});
	let count = 0;
	const commit = (): string => {
		repository.git('commit', '-q', '--allow-empty', '-m', `commit ${count++}`);
		return repository.git('rev-parse', 'HEAD').trim();
	};
	const [first, second, third] = [repository.sha, commit(), commit()];
	repository.git('checkout', '-q', '--detach', second);
	const side = commit();
	const git = await openGit();
	const gitDir = path.join(repository.path, '.git');
	const related = (defaultBranchSha: string, approvedBase: string) => readBaseRelation(git, gitDir, {defaultBranchSha, approvedBase});
	t.deepEqual(await related(third, first), {ancestry: 'approved-is-ancestor', onlyDefault: 2, onlyApproved: 0});
	t.deepEqual(await related(first, third), {ancestry: 'default-is-ancestor', onlyDefault: 0, onlyApproved: 2});
	t.deepEqual(await related(third, side), {ancestry: 'diverged', onlyDefault: 1, onlyApproved: 1});
	t.deepEqual(await related(third, v), {ancestry: 'unknown', onlyDefault: null, onlyApproved: null});
});
