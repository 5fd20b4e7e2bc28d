import {existsSync, readdirSync, readFileSync} from 'node:fs';
import test from 'ava';
import {renewWorktree, resumeWorktree, syncMirror} from '../../cache/index.ts';
import {sha256Hex} from '../../core/digest.ts';
import {addLocalApproval, writeLocalIssue} from '../../publish/local/index.ts';
import {isRefused, type WorktreeGround, workedGround} from '../helpers/worktree-ground.ts';

const approval = {kind: 'implementation', login: 'maintainer', base: null, branch: null, headSha: null} as const;

async function edit({directory, target}: WorktreeGround): Promise<void> {
	await writeLocalIssue({directory, target}, {title: 'Count words', login: 'maintainer', state: 'open', body: 'the new body\n'});
}

test('C-REUSE-3: after a fresh approval the state is renewed, the old one kept, base and work untouched', async t => {
	const ground = await workedGround(t);
	const {paths, request, directory, target, work} = ground;
	work('commit', '-q', '--allow-empty', '-m', 'more');
	const old = readFileSync(paths.state);
	const expectedStateSha256 = sha256Hex(old);
	await edit(ground);
	isRefused(t, await renewWorktree({...request, expectedStateSha256}), 'CACHE_NOT_APPROVED');
	await addLocalApproval({directory, target}, approval);
	isRefused(t, await renewWorktree({...request, expectedStateSha256: 'f'.repeat(64)}), 'CACHE_STATE_CHANGED');
	t.deepEqual(readFileSync(paths.state), old);

	const report = await renewWorktree({...request, expectedStateSha256});
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.true(report.complete);
	t.is(report.issue.drift, null);
	t.deepEqual(readFileSync(`${paths.issue}/state.${expectedStateSha256}.json`), old);
	const renewed = JSON.parse(readFileSync(paths.state, 'utf8'));
	t.is(renewed.issue_body_sha256, sha256Hex('the new body\n'));
	t.is(renewed.base_sha, ground.source.sha);
	t.is((await resumeWorktree(request)).status, 'ok');

	const again = await renewWorktree({...request, expectedStateSha256: sha256Hex(readFileSync(paths.state))});
	t.is(again.status, 'ok', 'nothing to renew is no fault');
	t.is(readdirSync(paths.issue).filter(name => name.startsWith('state.')).length, 2);
});

test('C-REUSE-3: a new approval that names another base asks for another worktree', async t => {
	const ground = await workedGround(t);
	const {paths, request, directory, target} = ground;
	const base = ground.commit('second');
	t.is((await syncMirror(ground.mirror.request)).status, 'ok');
	await edit(ground);
	await addLocalApproval({directory, target}, {...approval, base});
	const expectedStateSha256 = sha256Hex(readFileSync(paths.state));
	isRefused(t, await renewWorktree({...request, expectedStateSha256}), 'CACHE_BASE_AMBIGUOUS');
	t.false(existsSync(`${paths.issue}/state.${expectedStateSha256}.json`));
});
