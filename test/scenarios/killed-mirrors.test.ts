import test from 'ava';
import {killMirrors} from '../helpers/killed-mirrors.ts';

test('a bootstrap or sync killed at a random moment, or whose git is, leaves what was, what will be, or a named state', async t => {
	t.timeout(240_000);
	await killMirrors(t, 8);
});
