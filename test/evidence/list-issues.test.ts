import {chmodSync, mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {BailiffError} from '../../core/errors.ts';
import {listIssues} from '../../evidence/list-issues.ts';
import {ordinaryUser} from '../helpers/driver.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

test('listIssues() finds issues with evidence in order of numbers, and passes over everything else', t => {
	const root = temporaryDirectory(t);
	const make = (...names: string[]): string => mkdirSync(path.join(root, 'repositories', ...names), {recursive: true}) ?? '';
	for (const issue of [10, 9, 2]) {
		make('acme', 'widget', 'worktrees', `issue-${issue}`, 'verification');
	}

	make('acme', 'gadget', 'worktrees', 'issue-1', 'verification');
	make('zeta', 'widget', 'worktrees', 'issue-7', 'verification');
	make('acme', 'widget', 'worktrees', 'issue-3');
	make('acme', 'widget', 'worktrees', 'issue-x', 'verification');
	make('acme', 'widget', 'worktrees', 'issue-04', 'verification');
	make('acme', 'empty');
	writeFileSync(path.join(root, 'repositories', 'file'), '');
	symlinkSync(path.join(root, 'repositories', 'acme'), path.join(root, 'repositories', 'link'));
	const names = (owner: string | null, repository: string | null): string[] =>
		listIssues(root, {owner, repository}).map(target => `${target.owner}/${target.repository}#${target.issue}`);
	t.deepEqual(names(null, null), ['acme/gadget#1', 'acme/widget#2', 'acme/widget#9', 'acme/widget#10', 'zeta/widget#7']);
	t.deepEqual(names('acme', 'widget'), ['acme/widget#2', 'acme/widget#9', 'acme/widget#10']);
	t.deepEqual(names('nobody', null), []);
	t.deepEqual(listIssues(temporaryDirectory(t), {owner: null, repository: null}), []);
	t.throws(() => listIssues(path.join(root, 'none'), {owner: null, repository: null}), {instanceOf: BailiffError});
});

test('a root whose repositories are closed to the caller is refused, never an empty list', t => {
	const root = temporaryDirectory(t);
	chmodSync(root, 0o755);
	mkdirSync(path.join(root, 'repositories'), {mode: 0o000});
	asOrdinaryUser(() => {
		t.throws(() => listIssues(root, {owner: null, repository: null}), {code: 'CORE_FILE_UNREADABLE'});
	});
});

/** Root may read everything, so it steps down for the call. */
function asOrdinaryUser(action: () => void): void {
	const own = process.geteuid?.();
	if (own === 0) {
		process.seteuid?.(ordinaryUser.uid);
	}

	try {
		action();
	} finally {
		if (own === 0) {
			process.seteuid?.(0);
		}
	}
}
