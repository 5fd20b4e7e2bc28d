import {runIdProblem} from '../core/ids.ts';
import type {SafeDirectory} from '../core/safe-file.ts';
import {type Attempts, countAttempts, ledgerMatchProblems, ledgerRunProblems} from './ledger-check.ts';
import type {Manifest} from './manifest-schema.ts';
import type {SourceReader} from './ports.ts';
import {ProblemList} from './problem-list.ts';
import type {Problem, ProblemCode} from './problems.ts';
import type {FileReading} from './run-files.ts';
import {finishRun, nothingRead, type OutputScan, openRun, type RunReading} from './run-reader.ts';
import {sourceProblems, uniqueProblems} from './source-check.ts';
import {listVerification, type OpenVerification, openVerification, readLedger, type VerificationPlace} from './verification-directory.ts';

/** What a reader asks: which run, of what, on which checkout. Nothing of it is taken from the evidence. */
export type ValidateRequest = VerificationPlace & {
	readonly runId: string;
	/** The commit that the caller expects; without it the commit of the run is held against the checkout alone. */
	readonly sourceSha?: string;
	readonly source: SourceReader;
	/** Name a run that did not pass (EVIDENCE_NOT_PASSED); the verdict stays that of the evidence. */
	readonly requirePassed?: boolean;
	/** Looks for secrets in the stored outputs again; costs time, so it is asked for. */
	readonly scan?: OutputScan;
};

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
	const opened = openVerification(request, problems);
	if (opened === null) {
		return answerOf({run: nothingRead, attempts: null}, problems);
	}

	try {
		return await validateIn(opened, request, problems);
	} finally {
		opened.directory.close();
	}
}

async function validateIn({directory, uid}: OpenVerification, request: ValidateRequest, problems: ProblemList): Promise<ValidateAnswer> {
	const runRequest = {uid, problems, runId: request.runId, scan: request.scan ?? null};
	const run = isRunId(request.runId, problems) ? openRun(directory, runRequest) : null;
	try {
		const named = run?.read?.manifest ?? null;
		const before = await readSource(request, named);
		const reading = run === null ? nothingRead : finishRun(run, runRequest);
		const attempts = readLedgerSide(directory, reading, runRequest);
		const after = await readSource(request, named);
		problems.addAll(named === null ? [] : [...argumentProblems(named, request), ...uniqueProblems([...before, ...after])]);
		return answerOf({run: reading, attempts}, problems);
	} finally {
		run?.directory.close();
	}
}

type Found = {readonly run: RunReading; readonly attempts: Attempts | null};

function isRunId(runId: string, problems: ProblemList): boolean {
	const reason = runIdProblem(runId);
	if (reason !== null) {
		problems.add({code: 'EVIDENCE_RUN_MISMATCH', path: null, pointer: '', message: `this is no run id: ${reason}`});
	}

	return reason === null;
}

function readLedgerSide(directory: SafeDirectory, run: RunReading, reading: FileReading): Attempts | null {
	const {problems} = reading;
	const before = listVerification(directory, reading);
	const ledger = readLedger(directory, reading);
	const after = listVerification(directory, {...reading, problems: new ProblemList()});
	for (const name of before.others) {
		problems.add({
			code: 'EVIDENCE_DIRECTORY_UNLISTED',
			path: null,
			pointer: '',
			message: `the verification directory holds ${name}, which is no run, no leftover and no ledger`,
		});
	}

	if (ledger === null) {
		return null;
	}

	problems.addAll(ledger.problems);
	problems.addAll(ledgerRunProblems(ledger, {before: before.runs, after: after.runs}));
	const {manifest, manifestSha256, planSha256} = run;
	if (manifest === null || manifestSha256 === null || planSha256 === null) {
		return null;
	}

	problems.addAll(ledgerMatchProblems(ledger, {manifest, manifestSha256, planSha256}));
	return ledger.problems.length === 0 ? countAttempts(ledger, {planSha256, sourceSha: manifest.source.sha}) : null;
}

function argumentProblems(manifest: Manifest, request: ValidateRequest): Problem[] {
	const found: Problem[] = [];
	const compare = (code: ProblemCode, pointer: string, isEqual: boolean): void => {
		if (!isEqual) {
			found.push({code, path: 'manifest.json', pointer, message: 'this is not what was asked for'});
		}
	};

	compare('EVIDENCE_RUN_MISMATCH', '/run_id', manifest.run_id === request.runId);
	for (const name of ['owner', 'repository', 'issue'] as const) {
		compare('EVIDENCE_TARGET_MISMATCH', `/target/${name}`, manifest.target[name] === request.target[name]);
	}

	compare('EVIDENCE_SOURCE_HEAD', '/source/sha', request.sourceSha === undefined || manifest.source.sha === request.sourceSha);
	if (request.requirePassed === true && manifest.result !== 'passed') {
		found.push({code: 'EVIDENCE_NOT_PASSED', path: 'manifest.json', pointer: '/result', message: 'the evidence is that of a run that did not pass'});
	}

	return found;
}

/** What keeps the checkout from being exactly the commit of the run. */
async function readSource({source}: ValidateRequest, manifest: Manifest | null): Promise<Problem[]> {
	return manifest === null
		? []
		: sourceProblems(source, {sha: manifest.source.sha, tree: manifest.source.tree, path: 'manifest.json', shaPointer: '/source/sha'});
}

function answerOf({run, attempts}: Found, problems: ProblemList): ValidateAnswer {
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
