import test from 'ava';
import {killRuns} from '../helpers/killed-runs.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

test('bailiff killed at random moments leaves nobody behind and no half run', async t => {
	await killRuns(t, temporaryDirectory(t), 8);
});
