import test from 'ava';
import * as library from '../../cli/library.ts';

test('the package offers exactly what docs/api.md and the commands rest on', t => {
	t.deepEqual(Object.keys(library).toSorted(), [
		'BailiffError',
		'attestRun',
		'checkPlan',
		'contractPathOf',
		'createRunControl',
		'createSshSignatures',
		'diagnose',
		'errorCodes',
		'evidencePlace',
		'exportRun',
		'initRoot',
		'inspectRun',
		'listRuns',
		'newPlan',
		'readRunOutput',
		'readSigningKey',
		'readTrustFile',
		'readTrustedKey',
		'receiveBundle',
		'reportRun',
		'runPlan',
		'showRun',
		'validateArchivedV2',
		'validateLegacy',
		'validateRun',
		'verifyAttestation',
	]);
});
