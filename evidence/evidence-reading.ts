import {runIdProblem} from '../core/ids.ts';
import type {SafeDirectory} from '../core/safe-file.ts';
import {identityProblems} from './identity-check.ts';
import {layerProblems} from './layer-demand.ts';
import {type Attempts, countAttempts, type LedgerHead, ledgerHeadProblems, ledgerMatchProblems, ledgerRunProblems} from './ledger-check.ts';
import type {Manifest} from './manifest-schema.ts';
import type {Layer} from './plan-schema.ts';
import {ProblemList} from './problem-list.ts';
import type {Problem} from './problems.ts';
import type {FileReading} from './run-files.ts';
import {finishRun, nothingRead, type OutputScan, openRun, type RunReading} from './run-reader.ts';
import {uniqueProblems} from './source-check.ts';
import {listVerification, type OpenVerification, openVerification, readLedger, type VerificationPlace} from './verification-directory.ts';

/** What a reader asks: which run, of what. Nothing of it is taken from the evidence. */
export type EvidenceRequest = VerificationPlace & {
	readonly runId: string;
	/** The commit that the caller expects; without it the commit of the run is taken. */
	readonly sourceSha?: string;
	/** Name a run that did not pass (EVIDENCE_NOT_PASSED); the verdict stays that of the evidence. */
	readonly requirePassed?: boolean;
	/** Name commands that were not held by one of these (EVIDENCE_LAYER_NOT_HELD); the verdict stays that of the evidence. */
	readonly requireLayers?: readonly Layer[];
	/** What the ledger once ended with, of a receipt: a cut tail makes the evidence invalid (EVIDENCE_LEDGER_CUT). */
	readonly ledgerHead?: LedgerHead;
	/** Looks for secrets in the stored outputs again; costs time, so it is asked for. */
	readonly scan?: OutputScan;
};

/** What a run and the ledger beside it say. */
export type EvidenceReading = {readonly run: RunReading; readonly attempts: Attempts | null};

/** What is asked of the source with the manifest at hand, before and after everything else is read. */
export type SourceQuestion = (manifest: Manifest) => Promise<readonly Problem[]>;

/**
 * Reads one published run and holds it against itself, its ledger and the caller's arguments; all problems go to `problems`.
 *
 * Total, in bounded memory; it writes nothing. Source: E-READ-1, E-READ-6, E-LED-2, E-LED-3.
 */
export async function readEvidence(request: EvidenceRequest, askSource: SourceQuestion, problems: ProblemList): Promise<EvidenceReading> {
	const opened = openVerification(request, problems);
	if (opened === null) {
		return {run: nothingRead, attempts: null};
	}

	try {
		return await readIn(opened, request, {askSource, problems});
	} finally {
		opened.directory.close();
	}
}

type Reading = {readonly askSource: SourceQuestion; readonly problems: ProblemList};

async function readIn({directory, uid}: OpenVerification, request: EvidenceRequest, {askSource, problems}: Reading): Promise<EvidenceReading> {
	const runRequest = {uid, problems, runId: request.runId, scan: request.scan ?? null};
	const run = isRunId(request.runId, problems) ? openRun(directory, runRequest) : null;
	try {
		const named = run?.read?.manifest ?? null;
		const before = named === null ? [] : await askSource(named);
		const reading = run === null ? nothingRead : finishRun(run, runRequest);
		const attempts = readLedgerSide(directory, reading, {...runRequest, request});
		const after = named === null ? [] : await askSource(named);
		problems.addAll(named === null ? [] : [...argumentProblems(named, request), ...uniqueProblems([...before, ...after])]);
		return {run: reading, attempts};
	} finally {
		run?.directory.close();
	}
}

function isRunId(runId: string, problems: ProblemList): boolean {
	const reason = runIdProblem(runId);
	if (reason !== null) {
		problems.add({code: 'EVIDENCE_RUN_MISMATCH', path: null, pointer: '', message: `this is no run id: ${reason}`});
	}

	return reason === null;
}

function readLedgerSide(directory: SafeDirectory, run: RunReading, reading: FileReading & {readonly request: EvidenceRequest}): Attempts | null {
	const {problems, request} = reading;
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
	if (request.ledgerHead !== undefined) {
		problems.addAll(ledgerHeadProblems(ledger, request.target, request.ledgerHead));
	}

	problems.addAll(ledgerRunProblems(ledger, {before: before.runs, after: after.runs}));
	const {manifest, manifestSha256, planSha256} = run;
	if (manifest === null || manifestSha256 === null || planSha256 === null) {
		return null;
	}

	problems.addAll(ledgerMatchProblems(ledger, {manifest, manifestSha256, planSha256}));
	return ledger.problems.length === 0 ? countAttempts(ledger, {planSha256, sourceSha: manifest.source.sha}) : null;
}

function argumentProblems(manifest: Manifest, request: EvidenceRequest): Problem[] {
	const found = identityProblems(manifest, request);
	if (request.sourceSha !== undefined && manifest.source.sha !== request.sourceSha) {
		found.push({code: 'EVIDENCE_SOURCE_HEAD', path: 'manifest.json', pointer: '/source/sha', message: 'this is not what was asked for'});
	}

	if (request.requirePassed === true && manifest.result !== 'passed') {
		found.push({code: 'EVIDENCE_NOT_PASSED', path: 'manifest.json', pointer: '/result', message: 'the evidence is that of a run that did not pass'});
	}

	return [...found, ...layerProblems(manifest, request.requireLayers ?? [])];
}
