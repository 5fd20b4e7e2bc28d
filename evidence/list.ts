import {closing, type SafeDirectory} from '../core/safe-file.ts';
import type {LedgerRun} from './ledger-lines.ts';
import {manifestLimits} from './manifest.ts';
import {readManifest} from './manifest-reader.ts';
import {ProblemList} from './problem-list.ts';
import type {Problem} from './problems.ts';
import {enterEvidenceDirectory, type FileReading, readEvidenceFile} from './run-files.ts';
import {listVerification, openVerification, readLedger, type VerificationPlace} from './verification-directory.ts';

/**
 * How a run stands: `published`; `unrecorded` (there, without its published line yet); `missing` (published and gone); `abandoned` or
 * `unfinished` (started, never published: given up by a later run, or still running or just killed); `unknown` (there, and no line says so).
 */
export type RunState = 'published' | 'unrecorded' | 'missing' | 'abandoned' | 'unfinished' | 'unknown';

/** One run as the ledger and the directory tell it; nothing of it is verified. */
export type ListedRun = {
	readonly run_id: string;
	readonly state: RunState;
	readonly result: 'passed' | 'failed' | null;
	readonly source_sha: string | null;
	readonly plan_sha256: string | null;
	readonly manifest_sha256: string | null;
	/** RFC 3339, UTC. */
	readonly started_at: string | null;
	readonly ended_at: string | null;
};

/** The runs of one issue, oldest first, and what killed runs left. */
export type RunList = {
	readonly runs: readonly ListedRun[];
	/** Directories whose name begins with a dot: never a run, never completed later (E-PUB-3). */
	readonly leftovers: readonly string[];
	/** Problems of the ledger and of the directory; a directory that is not there is one. */
	readonly problems: readonly Problem[];
};

/**
 * Lists the runs of an issue from one directory listing and its ledger: no run directory is opened, but for those whose published line is missing.
 *
 * Total: whatever lies there gives a list and problems. Source: E-VIEW-1, E-PUB-3, E-LED-3.
 */
export function listRuns(place: VerificationPlace): RunList {
	const problems = new ProblemList();
	const opened = openVerification(place, problems);
	if (opened === null) {
		return {runs: [], leftovers: [], problems: problems.all()};
	}

	return closing(opened.directory, directory => {
		const reading = {uid: opened.uid, problems};
		const ledger = readLedger(directory, reading);
		const names = listVerification(directory, reading);
		problems.addAll(ledger?.problems ?? []);
		const known = [...(ledger?.runs ?? [])].map(([runId, run]) => listed(runId, run, names.runs.has(runId)));
		const unknown = [...names.runs].filter(name => ledger?.runs.has(name) !== true).map(name => unknownRun(name));
		const runs = [...known, ...unknown.toSorted((left, right) => (left.run_id < right.run_id ? -1 : 1))];
		return {
			runs: runs.map(run => (run.state === 'unrecorded' || run.state === 'unknown' ? withManifest(run, directory, reading.uid) : run)),
			leftovers: names.leftovers.toSorted(),
			problems: problems.all(),
		};
	});
}

const nothingPublished = {result: null, manifest_sha256: null} as const;

function listed(runId: string, {started, end}: LedgerRun, isThere: boolean): ListedRun {
	const {source_sha, plan_sha256, at: started_at} = started.line;
	const {result, manifest_sha256} = end?.line.event === 'published' ? end.line : nothingPublished;
	return {run_id: runId, state: stateOf(end, isThere), result, source_sha, plan_sha256, manifest_sha256, started_at, ended_at: end?.line.at ?? null};
}

function stateOf(end: LedgerRun['end'], isThere: boolean): RunState {
	if (end?.line.event === 'published') {
		return isThere ? 'published' : 'missing';
	}

	if (isThere) {
		return 'unrecorded';
	}

	return end === null ? 'unfinished' : 'abandoned';
}

function unknownRun(runId: string): ListedRun {
	return {run_id: runId, state: 'unknown', result: null, source_sha: null, plan_sha256: null, manifest_sha256: null, started_at: null, ended_at: null};
}

/** What the manifest of a run says where the ledger does not; a run that cannot be read stays as it is. */
function withManifest(run: ListedRun, verification: SafeDirectory, uid: number): ListedRun {
	const reading: FileReading = {uid, problems: new ProblemList()};
	const directory = enterEvidenceDirectory(verification, run.run_id, {...reading, path: null});
	if (directory === null) {
		return run;
	}

	return closing(directory, () => {
		const file = readEvidenceFile(directory, {name: 'manifest.json', path: 'manifest.json', maxBytes: manifestLimits.maxBytes}, reading);
		const manifest = file === null ? undefined : readManifest(file.bytes, reading.problems)?.manifest;
		if (file === null || manifest === undefined) {
			return run;
		}

		return {
			...run,
			result: manifest.result,
			source_sha: manifest.source.sha,
			plan_sha256: manifest.plan.sha256,
			manifest_sha256: file.sha256,
			started_at: manifest.started_at,
			ended_at: manifest.finished_at,
		};
	});
}
