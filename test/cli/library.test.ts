import test from 'ava';
import * as library from '../../cli/library.ts';

test('the package offers exactly what docs/api.md and the commands rest on', t => {
	t.deepEqual(Object.keys(library).toSorted(), [
		'BailiffError',
		'checkPlan',
		'contractPathOf',
		'createRunControl',
		'diagnose',
		'errorCodes',
		'evidencePlace',
		'initRoot',
		'listRuns',
		'newPlan',
		'readRunOutput',
		'runPlan',
		'showRun',
		'validateRun',
	]);
});
