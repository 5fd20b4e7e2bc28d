import test from 'ava';
import {killRuns} from '../helpers/killed-runs.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

test('bailiff killed at 200 random moments leaves nobody behind and no half run', async t => {
	t.timeout(1_800_000);
	await killRuns(t, temporaryDirectory(t), 200);
});
