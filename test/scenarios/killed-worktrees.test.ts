import test from 'ava';
import {killWorktrees} from '../helpers/killed-worktrees.ts';

test('a create or remove killed at a random moment, or whose git is, leaves what was, what will be, or a named state', async t => {
	t.timeout(240_000);
	await killWorktrees(t, 6);
});
