import {BailiffError} from '../../core/errors.ts';
import {runIdProblem} from '../../core/ids.ts';
import {closing, type SafeDirectory} from '../../core/safe-file.ts';
import {version} from '../../core/version.ts';
import {identityProblems} from '../identity-check.ts';
import {countAttempts, ledgerMatchProblems} from '../ledger-check.ts';
import {manifestLimits} from '../manifest.ts';
import type {CommandRecord, Manifest} from '../manifest-schema.ts';
import {planLimits} from '../plan.ts';
import {isNotice, ProblemList} from '../problem-list.ts';
import {enterEvidenceDirectory, readEvidenceFile} from '../run-files.ts';
import {type RunReading, readRun} from '../run-reader.ts';
import {type OpenVerification, openVerification, readLedger, type VerificationPlace} from '../verification-directory.ts';
import {commandOutcome} from './command-outcome.ts';
import {halfBytesFor} from './excerpt.ts';
import type {Report, ReportCommand} from './report-schema.ts';
import {runReasons} from './run-reasons.ts';
import {samplesOf} from './samples.ts';
import {type OutputDirectory, readStoredOutputs, readTrace, type StoredOutput} from './stored-outputs.ts';

/** A run as a report shows it, with the bytes that a page embeds. */
export type RunReport = {
	readonly report: Report;
	/** Bytes of the shown outputs, by run-relative path. */
	readonly outputs: ReadonlyMap<string, StoredOutput>;
	/** The exact bytes of manifest and plan, where they are those of the digests in the report. */
	readonly documents: {readonly manifest: Buffer | null; readonly plan: Buffer | null};
};

/** Which run, and how much of each output is shown. */
export type ReportRequest = {
	readonly place: VerificationPlace;
	readonly runId: string;
	/** At most so many bytes from each end of an output. */
	readonly maxHalfBytes: number;
};

/**
 * Reads one run, holds it against itself and its ledger, and gives the view from which each format is rendered. Writes nothing.
 *
 * Limits: about 4 MiB of outputs in all. What has another digest than the manifest names, or what looks like a secret, is withheld.
 * Refuses: EVIDENCE_RUN_NOT_FOUND when there is no readable manifest of that run (`details.problems` says why). Source: E-VIEW-1.
 */
export function readReport(request: ReportRequest): RunReport {
	const problems = new ProblemList();
	const opened = runIdProblem(request.runId) === null ? openVerification(request.place, problems) : null;
	if (opened === null) {
		throw notFound(request.runId, problems);
	}

	return closing(opened.directory, () => reportOf(opened, request, problems));
}

function reportOf(opened: OpenVerification, request: ReportRequest, problems: ProblemList): RunReport {
	const {directory, uid} = opened;
	const run = readRun(directory, {uid, problems, runId: request.runId, scan: null});
	const {manifest, manifestSha256} = run;
	if (manifest === null || manifestSha256 === null) {
		throw notFound(request.runId, problems);
	}

	problems.addAll(identityProblems(manifest, {runId: request.runId, target: request.place.target}));
	const attempts = readAttempts(opened, {manifest, manifestSha256, planSha256: run.planSha256 ?? manifest.plan.sha256}, problems);
	return closing(directory.enter(request.runId), runDirectory => {
		const documents = readDocuments(runDirectory, uid, run);
		const shown = readCommands({runDirectory, uid}, {run, manifest}, request.maxHalfBytes);
		const facts = {
			stop: manifest.stop,
			source: manifest.source,
			secret_scan: manifest.secret_scan,
			commands: shown.commands,
			counts: countsOf(shown.commands, manifest),
			problems: problems.all().map(({code, path, pointer, message}) => ({code, path, pointer, message})),
		};
		const report: Report = {
			schema: 'bailiff-report/v1',
			generator: {name: 'bailiff', version},
			...runReasons({...facts, result: manifest.result, contradictions: problems.all().filter(problem => !isNotice(problem)).length}),
			run_id: manifest.run_id,
			target: manifest.target,
			started_at: manifest.started_at,
			finished_at: manifest.finished_at,
			duration_ms: Math.max(0, Date.parse(manifest.finished_at) - Date.parse(manifest.started_at)),
			manifest: {sha256: manifestSha256, bytes: documents.manifestBytes},
			plan: {sha256: manifest.plan.sha256, bytes: manifest.plan.bytes},
			producer: manifest.producer,
			environment: manifest.environment,
			attempts,
			...facts,
		};
		return {report, outputs: shown.outputs, documents};
	});
}

function readAttempts(
	{directory, uid}: OpenVerification,
	subject: {readonly manifest: Manifest; readonly manifestSha256: string; readonly planSha256: string},
	problems: ProblemList,
): Report['attempts'] {
	const ledger = readLedger(directory, {uid, problems});
	if (ledger === null) {
		return null;
	}

	problems.addAll(ledger.problems);
	problems.addAll(ledgerMatchProblems(ledger, subject));
	return ledger.problems.length > 0 ? null : countAttempts(ledger, {planSha256: subject.manifest.plan.sha256, sourceSha: subject.manifest.source.sha});
}

function readDocuments(
	directory: SafeDirectory,
	uid: number,
	{manifest, manifestSha256}: RunReading,
): RunReport['documents'] & {readonly manifestBytes: number} {
	const reading = {uid, problems: new ProblemList()};
	const document = (name: string, maxBytes: number, sha256: string | undefined): Buffer | null => {
		const file = readEvidenceFile(directory, {name, path: name, maxBytes}, reading);
		return file !== null && file.sha256 === sha256 ? file.bytes : null;
	};
	const manifestFile = document('manifest.json', manifestLimits.maxBytes, manifestSha256 ?? undefined);
	return {manifest: manifestFile, plan: document('plan.json', planLimits.maxBytes, manifest?.plan.sha256), manifestBytes: manifestFile?.length ?? 0};
}

type Place = {readonly runDirectory: SafeDirectory; readonly uid: number};
type Shown = {readonly commands: ReportCommand[]; readonly outputs: ReadonlyMap<string, StoredOutput>};

function readCommands({runDirectory, uid}: Place, {run, manifest}: {readonly run: RunReading; readonly manifest: Manifest}, maxHalfBytes: number): Shown {
	const outputs = new Map<string, StoredOutput>();
	const count = manifest.commands.reduce((sum, command) => sum + 1 + command.extra_outputs.length, 0);
	// Every problem of these files was reported when the run was read.
	const reading = {uid, problems: new ProblemList()};
	const directory = enterEvidenceDirectory(runDirectory, 'output', {...reading, path: 'output'});
	try {
		const from: OutputDirectory = {directory, reading, halfBytes: halfBytesFor(count, maxHalfBytes)};
		// A plan that cannot be read is a problem of its own; what was executed is shown all the same.
		const planned = run.plan === null || run.plan.commands.length < manifest.commands.length ? manifest.commands : run.plan.commands;
		const commands = planned.map((command, index) => {
			const record = manifest.commands[index] ?? null;
			const stored = record === null ? [] : readStoredOutputs(from, record, index);
			for (const output of stored) {
				outputs.set(output.output.path, output);
			}

			return commandOf(
				{planned: record ?? command, record, index, manifest},
				{
					outputs: stored.map(({output}) => output),
					samples: record === null ? [] : samplesOf(readTrace(from, record, index)),
				},
			);
		});
		return {commands, outputs};
	} finally {
		directory?.close();
	}
}

type Planned = Pick<CommandRecord, 'id' | 'purpose' | 'cwd' | 'expected_exit_code' | 'timeout_seconds'> & {readonly argv: readonly string[]};

function commandOf(
	{planned, record, index, manifest}: {readonly planned: Planned; readonly record: CommandRecord | null; readonly index: number; readonly manifest: Manifest},
	read: Pick<ReportCommand, 'outputs' | 'samples'>,
): ReportCommand {
	const {id, purpose, argv, cwd, expected_exit_code, timeout_seconds} = planned;
	return {
		index,
		id,
		purpose,
		argv: [...argv],
		cwd,
		expected_exit_code,
		timeout_seconds,
		...commandOutcome(index, record, manifest.stop),
		record,
		claim: manifest.claims[index] ?? null,
		...read,
	};
}

function countsOf(commands: readonly ReportCommand[], manifest: Manifest): Report['counts'] {
	const count = (outcome: ReportCommand['outcome']): number => commands.filter(command => command.outcome === outcome).length;
	return {
		planned: commands.length,
		executed: manifest.commands.length,
		passed: count('passed'),
		failed: count('failed') + count('error'),
		not_executed: count('not_executed'),
	};
}

function notFound(runId: string, problems: ProblemList): BailiffError {
	const found = problems.all().map(({code, path, pointer, message}) => ({code, path, pointer, message}));
	const first = found[0] === undefined ? '' : `: ${found[0].message}`;
	return new BailiffError('EVIDENCE_RUN_NOT_FOUND', `there is no run ${JSON.stringify(runId)} to report on${first}`, {details: {problems: found}});
}
