import {BailiffError} from '../core/errors.ts';
import {runIdProblem} from '../core/ids.ts';
import {closing, type SafeDirectory} from '../core/safe-file.ts';
import {type Attempts, countAttempts, ledgerMatchProblems, ledgerRunProblems} from './ledger-check.ts';
import {manifestLimits} from './manifest.ts';
import {readManifest} from './manifest-reader.ts';
import type {Manifest} from './manifest-schema.ts';
import type {SourceReader} from './ports.ts';
import {ProblemList} from './problem-list.ts';
import type {Problem, ProblemCode} from './problems.ts';
import {enterEvidenceDirectory, type FileReading, readEvidenceFile} from './run-files.ts';
import {type OutputScan, type RunReading, readRun} from './run-reader.ts';
import {listVerification, openVerification, readLedger, type VerificationPlace} from './verification-directory.ts';

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
		const reading = {uid: opened.uid, problems};
		const before = await readSource(request, namedCommit(opened.directory, request.runId, opened.uid));
		const found = readEvidence(opened.directory, request, reading);
		const after = await readSource(request, found.run.manifest?.source.sha ?? null);
		problems.addAll(unique([...sourceProblems(before, found.run.manifest), ...sourceProblems(after, found.run.manifest)]));
		return answerOf(found, problems);
	} finally {
		opened.directory.close();
	}
}

type Found = {readonly run: RunReading; readonly attempts: Attempts | null};
type SourceState = Awaited<ReturnType<SourceReader['read']>>;

const nothingRead: RunReading = {manifestSha256: null, manifest: null, planSha256: null, plan: null};

function readEvidence(directory: SafeDirectory, request: ValidateRequest, reading: FileReading): Found {
	const {problems} = reading;
	const idProblem = runIdProblem(request.runId);
	if (idProblem !== null) {
		problems.add({code: 'EVIDENCE_RUN_MISMATCH', path: null, pointer: '', message: `this is no run id: ${idProblem}`});
		return {run: nothingRead, attempts: null};
	}

	const run = readRun(directory, {...reading, runId: request.runId, scan: request.scan ?? null});
	if (run.manifest !== null) {
		problems.addAll(argumentProblems(run.manifest, request));
	}

	return {run, attempts: readLedgerSide(directory, run, reading)};
}

/** Which commit the run is about, before anything is believed: only to look at the checkout before and after. */
function namedCommit(directory: SafeDirectory, runId: string, uid: number): string | null {
	const unheard = new ProblemList();
	if (runIdProblem(runId) !== null) {
		return null;
	}

	const run = enterEvidenceDirectory(directory, runId, {uid, problems: unheard, path: null});
	if (run === null) {
		return null;
	}

	return closing(run, () => {
		const file = readEvidenceFile(run, {name: 'manifest.json', path: 'manifest.json', maxBytes: manifestLimits.maxBytes}, {uid, problems: unheard});
		return file === null ? null : (readManifest(file.bytes, unheard)?.manifest.source.sha ?? null);
	});
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

async function readSource({source}: ValidateRequest, sha: string | null): Promise<SourceState | null> {
	if (sha === null) {
		return null;
	}

	try {
		return await source.read(sha);
	} catch (error) {
		if (!(error instanceof BailiffError)) {
			throw error;
		}

		return {head: null, tree: null, problems: [{code: 'EVIDENCE_SOURCE_UNREADABLE', path: null, pointer: '', message: error.message}]};
	}
}

function sourceProblems(state: SourceState | null, manifest: Manifest | null): Problem[] {
	if (state === null || manifest === null) {
		return [];
	}

	const found = [...state.problems];
	if (state.head !== manifest.source.sha) {
		found.push({code: 'EVIDENCE_SOURCE_HEAD', path: 'manifest.json', pointer: '/source/sha', message: 'HEAD of the checkout is not the commit of the run'});
	}

	if (state.tree !== manifest.source.tree) {
		found.push({code: 'EVIDENCE_SOURCE_TREE', path: 'manifest.json', pointer: '/source/tree', message: 'the tree of that commit is another one'});
	}

	return found;
}

function unique(problems: readonly Problem[]): Problem[] {
	return [...new Map(problems.map(problem => [JSON.stringify(problem), problem])).values()];
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
