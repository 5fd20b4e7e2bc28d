import {BailiffError} from '../core/errors.ts';
import {runIdProblem} from '../core/ids.ts';
import {closing} from '../core/safe-file.ts';
import {identityProblems} from './identity-check.ts';
import {ledgerMatchProblems} from './ledger-check.ts';
import {manifestLimits} from './manifest.ts';
import type {Manifest} from './manifest-schema.ts';
import {ProblemList} from './problem-list.ts';
import {readEvidenceFile} from './run-files.ts';
import {readRun} from './run-reader.ts';
import {openVerification, readLedger, type VerificationPlace} from './verification-directory.ts';

/** A manifest whose run holds together, and its exact bytes. */
export type SoundManifest = {readonly manifest: Manifest; readonly bytes: Buffer; readonly sha256: string};

/**
 * The manifest of a run that contradicts neither itself nor its ledger. Git is not asked: that is validateRun.
 *
 * Refuses: EVIDENCE_RUN_NOT_FOUND, EVIDENCE_UNSOUND with all problems in the details. Source: E-EXP-3.
 */
export function readSoundManifest(place: VerificationPlace, runId: string): SoundManifest {
	const problems = new ProblemList();
	const opened = runIdProblem(runId) === null ? openVerification(place, problems) : null;
	if (opened === null) {
		throw refused('EVIDENCE_RUN_NOT_FOUND', `there is no run ${JSON.stringify(runId)}`, problems);
	}

	return closing(opened.directory, directory => {
		const reading = {uid: opened.uid, problems};
		const {manifest, manifestSha256, planSha256} = readRun(directory, {...reading, runId, scan: null});
		if (manifest === null || manifestSha256 === null) {
			throw refused('EVIDENCE_RUN_NOT_FOUND', `there is no readable manifest of run ${JSON.stringify(runId)}`, problems);
		}

		problems.addAll(identityProblems(manifest, {runId, target: place.target}));
		const ledger = readLedger(directory, reading);
		problems.addAll(ledger === null ? [] : [...ledger.problems, ...ledgerMatchProblems(ledger, {manifest, manifestSha256, planSha256: planSha256 ?? ''})]);
		const request = {name: 'manifest.json', path: 'manifest.json', maxBytes: manifestLimits.maxBytes};
		const file = closing(directory.enter(runId), run => readEvidenceFile(run, request, reading));
		if (file === null || file.sha256 !== manifestSha256 || !problems.isSound) {
			throw refused('EVIDENCE_UNSOUND', `the run ${JSON.stringify(runId)} contradicts itself or its ledger: nobody should put a name to it`, problems);
		}

		return {manifest, bytes: file.bytes, sha256: file.sha256};
	});
}

function refused(code: 'EVIDENCE_RUN_NOT_FOUND' | 'EVIDENCE_UNSOUND', message: string, problems: ProblemList): BailiffError {
	const found = problems.all().map(({code: problemCode, path, pointer, message: text}) => ({code: problemCode, path, pointer, message: text}));
	const first = found[0] === undefined ? '' : `: ${found[0].message}`;
	return new BailiffError(code, `${message}${first}`, {details: {problems: found}});
}
