import test from 'ava';
import * as fc from 'fast-check';

import {issuePaths, repositoryPaths, rootPaths, runDirectory} from '../../cache/layout.ts';
import {codeOf} from '../helpers/refusal.ts';

const target = {owner: 'acme', repository: 'widget', issue: 7};

test('issuePaths() gives every canonical place of C-LAY', t => {
	const repository = '/srv/h/repositories/acme/widget';
	const issue = `${repository}/worktrees/issue-7`;
	t.deepEqual(issuePaths('/srv/h', target), {
		root: '/srv/h',
		harness: '/srv/h/harness',
		operations: '/srv/h/harness/operations',
		contract: '/srv/h/harness/operations/repository-cache.md',
		repositories: '/srv/h/repositories',
		bootstrapLocks: '/srv/h/repositories/.locks',
		name: {owner: 'acme', repository: 'widget'},
		ownerBootstrapLocks: '/srv/h/repositories/.locks/acme',
		bootstrapLock: '/srv/h/repositories/.locks/acme/widget.bootstrap.lock',
		owner: '/srv/h/repositories/acme',
		repository,
		mirror: `${repository}/repository.git`,
		locks: `${repository}/locks`,
		repositoryLock: `${repository}/locks/repository.lock`,
		refsRecord: `${repository}/locks/refs.json`,
		worktrees: `${repository}/worktrees`,
		target,
		issueLock: `${repository}/locks/issue-7.lock`,
		issue,
		state: `${issue}/state.json`,
		checkout: `${issue}/checkout`,
		verification: `${issue}/verification`,
		ledger: `${issue}/verification/ledger.jsonl`,
		runtime: `${issue}/runtime`,
	});
});

test('rootPaths() of the root directory itself has no doubled slash', t => {
	t.is(rootPaths('/').repositories, '/repositories');
	t.is(rootPaths('/').contract, '/harness/operations/repository-cache.md');
});

for (const [owner, repository, issue, code] of [
	['..', 'widget', 7, 'CORE_ID_OWNER'],
	['.locks', 'widget', 7, 'CORE_ID_OWNER'],
	['-a', 'widget', 7, 'CORE_ID_OWNER'],
	['a/b', 'widget', 7, 'CORE_ID_OWNER'],
	['a\0', 'widget', 7, 'CORE_ID_OWNER'],
	['a.lock', 'widget', 7, 'CORE_ID_OWNER'],
	['', 'widget', 7, 'CORE_ID_OWNER'],
	['acme', '.', 7, 'CORE_ID_REPOSITORY'],
	['acme', '..', 7, 'CORE_ID_REPOSITORY'],
	['acme', '.staging-0', 7, 'CORE_ID_REPOSITORY'],
	['acme', 'x.lock', 7, 'CORE_ID_REPOSITORY'],
	['acme', 'a\nb', 7, 'CORE_ID_REPOSITORY'],
	['acme', 'é'.repeat(121), 7, 'CORE_ID_REPOSITORY'],
	['acme', 'widget', 0, 'CORE_ID_ISSUE'],
	['acme', 'widget', -1, 'CORE_ID_ISSUE'],
	['acme', 'widget', 1.5, 'CORE_ID_ISSUE'],
	['acme', 'widget', 2 ** 53, 'CORE_ID_ISSUE'],
] as const) {
	test(`issuePaths() refuses ${JSON.stringify(owner).slice(0, 20)}, ${JSON.stringify(repository).slice(0, 20)}, ${issue} with ${code}`, t => {
		t.is(
			codeOf(() => issuePaths('/srv/h', {owner, repository, issue})),
			code,
		);
	});
}

test('every name that is accepted stays one component, as given, and its lock file fits the filesystem', t => {
	fc.assert(
		fc.property(fc.string({unit: 'binary', minLength: 1, maxLength: 250}), fc.string({unit: 'binary', minLength: 1, maxLength: 250}), (owner, repository) => {
			if (codeOf(() => repositoryPaths('/r', {owner, repository})) !== null) {
				return;
			}

			const paths = repositoryPaths('/r', {owner, repository});
			t.deepEqual(paths.mirror.split('/'), ['', 'r', 'repositories', owner, repository, 'repository.git']);
			t.true(Buffer.byteLength(paths.bootstrapLock.split('/').at(-1) ?? '') <= 255);
		}),
	);
	t.is(
		Buffer.byteLength(
			repositoryPaths('/r', {owner: 'a', repository: 'b'.repeat(240)})
				.bootstrapLock.split('/')
				.at(-1) ?? '',
		),
		255,
	);
});

test('runDirectory() lies below verification and refuses what is no run id', t => {
	const paths = issuePaths('/srv/h', target);
	t.is(runDirectory(paths, 'run-1'), `${paths.verification}/run-1`);
	for (const runId of ['..', '.', '', 'a/b', 'ledger.jsonl', '-x', 'a'.repeat(129)]) {
		t.is(
			codeOf(() => runDirectory(paths, runId)),
			'CORE_ID_RUN',
			runId,
		);
	}
});
