import {type EvidenceReading, type EvidenceRequest, readEvidence} from './evidence-reading.ts';
import type {Attempts} from './ledger-check.ts';
import type {SourceReader} from './ports.ts';
import {ProblemList} from './problem-list.ts';
import type {Problem} from './problems.ts';
import {sourceProblems} from './source-check.ts';

/** What a fresh reader asks: which run, of what, on which checkout. Nothing of it is taken from the evidence. */
export type ValidateRequest = EvidenceRequest & {readonly source: SourceReader};

/** The answer of every reader (shapes.ts: ValidateAnswer). */
export type ValidateAnswer = {
	readonly verdict: 'valid-v3' | 'invalid' | 'archived-v2-consistent' | 'legacy-v1-digest-only';
	readonly archived: boolean;
	/** Of a run whose evidence holds; null otherwise. */
	readonly result: 'passed' | 'failed' | null;
	readonly attempts: Attempts | null;
	readonly manifest_sha256: string | null;
	/** All that were found; a verdict of `valid-v3` can carry named states (isNotice). */
	readonly problems: readonly Problem[];
};

/**
 * Checks one published run against itself, its ledger, the caller's arguments and the checkout, and gives a verdict with all problems.
 *
 * Total: whatever lies on disk gives an answer, in bounded memory; it writes nothing. A sound record of a failed run is `valid-v3`; with
 * `requirePassed` it carries EVIDENCE_NOT_PASSED. The checkout is read before and after everything else.
 * Source: E-READ-1, E-READ-6, E-LED-2, E-LED-3.
 */
export async function validateRun(request: ValidateRequest): Promise<ValidateAnswer> {
	const problems = new ProblemList();
	const reading = await readEvidence(
		request,
		({source: {sha, tree}}) => sourceProblems(request.source, {sha, tree, path: 'manifest.json', shaPointer: '/source/sha'}),
		problems,
	);
	return answerOf(reading, problems);
}

function answerOf({run, attempts}: EvidenceReading, problems: ProblemList): ValidateAnswer {
	const isValid = run.manifest !== null && problems.isSound;
	return {
		verdict: isValid ? 'valid-v3' : 'invalid',
		archived: false,
		result: isValid ? (run.manifest?.result ?? null) : null,
		attempts,
		manifest_sha256: run.manifestSha256,
		problems: problems.all(),
	};
}
