import test from 'ava';
import {killWorktrees} from '../helpers/killed-worktrees.ts';

test('200 kills of bailiff and of git at random moments of create and remove', async t => {
	t.timeout(3_600_000);
	await killWorktrees(t, 200);
});
