import test from 'ava';
import {killMirrors} from '../helpers/killed-mirrors.ts';

test('200 kills of bailiff and of git at random moments of bootstrap and sync', async t => {
	t.timeout(3_600_000);
	await killMirrors(t, 200);
});
