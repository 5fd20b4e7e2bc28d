import type {Target} from '../core/ids.ts';
import type {LedgerRun, ParsedLedger} from './ledger-lines.ts';
import type {Manifest} from './manifest-schema.ts';
import type {Problem, ProblemCode} from './problems.ts';

/** How often the same plan was started on the same commit (shapes.ts: ValidateAnswer.attempts). */
export type Attempts = {readonly same_plan_and_source: number; readonly failed: number; readonly unfinished: number};

/** One published run and where it stands beside the ledger. */
export type LedgerSubject = {
	readonly manifest: Manifest;
	readonly manifestSha256: string;
	readonly planSha256: string;
};

/** The names below `verification/`, listed before and after the ledger was read, so that a run that is published meanwhile is neither unknown nor missing. */
export type RunNames = {readonly before: ReadonlySet<string>; readonly after: ReadonlySet<string>};

/**
 * Everything in which a run and the ledger do not vouch for each other: the `started` line that the manifest names, plan, commit, and the
 * digest and result of the `published` line.
 *
 * A missing `published` line is the named state EVIDENCE_LEDGER_UNRECORDED (a crash between rename and line; the next run writes it).
 * Pure. Source: E-LED-2.
 */
export function ledgerMatchProblems(ledger: ParsedLedger, subject: LedgerSubject): Problem[] {
	const {manifest} = subject;
	const run = ledger.runs.get(manifest.run_id);
	if (run === undefined) {
		return [problem('EVIDENCE_LEDGER_MISMATCH', '', `the ledger has no started line of the run ${manifest.run_id}`)];
	}

	const {started} = run;
	const problems: Problem[] = [];
	if (started.line.n !== manifest.ledger.n || started.sha256 !== manifest.ledger.sha256) {
		problems.push({code: 'EVIDENCE_LEDGER_MISMATCH', path: 'manifest.json', pointer: '/ledger', message: 'this is not the started line of the run'});
	}

	const {plan_sha256: planSha256, source_sha: sourceSha, at, n} = started.line;
	problems.push(
		...mismatch(planSha256 === subject.planSha256, `/${n - 1}/plan_sha256`, 'the run was started with another plan'),
		...mismatch(sourceSha === manifest.source.sha, `/${n - 1}/source_sha`, 'the run was started on another commit'),
		...mismatch(at === manifest.started_at, `/${n - 1}/at`, 'the run was started at another time than the manifest says'),
	);
	return [...problems, ...endProblems(run.end, subject)];
}

/**
 * Names the published runs that are gone (EVIDENCE_LEDGER_RUN_MISSING), runs that the ledger does not know or gave up although they are there,
 * and the torn tail (EVIDENCE_LEDGER_TORN).
 *
 * Pure. Source: E-LED-3.
 */
export function ledgerRunProblems(ledger: ParsedLedger, names: RunNames): Problem[] {
	const problems: Problem[] = [];
	for (const [runId, {started, end}] of ledger.runs) {
		const event = end?.line.event;
		const pointer = `/${(end ?? started).line.n - 1}/run_id`;
		if (event === 'published' && !names.after.has(runId)) {
			problems.push(problem('EVIDENCE_LEDGER_RUN_MISSING', pointer, `the run ${runId} was published and is not there`));
		}

		if (event === 'abandoned' && names.before.has(runId)) {
			problems.push(problem('EVIDENCE_LEDGER_MISMATCH', pointer, `the run ${runId} was given up and is there all the same`));
		}
	}

	for (const name of names.before) {
		if (!ledger.runs.has(name)) {
			problems.push(problem('EVIDENCE_LEDGER_MISMATCH', '', `the ledger does not know the run ${name}`));
		}
	}

	if (ledger.torn !== null) {
		const {bytes, offset} = ledger.torn;
		problems.push(
			problem(
				'EVIDENCE_LEDGER_TORN',
				'',
				`${bytes} bytes after the last line feed (offset ${offset}) are no line: a write was cut off, the next run records it`,
			),
		);
	}

	return problems;
}

/** The last line of a ledger as it once was, and of which issue, named by somebody outside of it. */
export type LedgerHead = {readonly target: Target; readonly ledger: {readonly n: number; readonly sha256: string}};

/**
 * Names a ledger that does not hold the line that was once its last one: its tail was cut off, or it was written afresh (EVIDENCE_LEDGER_CUT).
 * A head of another issue says nothing about this one (EVIDENCE_TARGET_MISMATCH).
 *
 * Pure. Source: E-LED-3.
 */
export function ledgerHeadProblems(ledger: ParsedLedger, target: Target, head: LedgerHead): Problem[] {
	const {owner, repository, issue} = head.target;
	if (owner !== target.owner || repository !== target.repository || issue !== target.issue) {
		return [problem('EVIDENCE_TARGET_MISMATCH', '', `the receipt is about ${owner}/${repository}#${issue}`)];
	}

	const {n, sha256} = head.ledger;
	return ledger.entries.some(({line, sha256: found}) => line.n === n && found === sha256)
		? []
		: [problem('EVIDENCE_LEDGER_CUT', `/${n - 1}`, `the line ${n} that the receipt names is not there: the tail was cut off, or the ledger written afresh`)];
}

/** Counts the runs of the same plan on the same commit, this one included. Pure. Source: E-LED-3. */
export function countAttempts(ledger: ParsedLedger, plan: {readonly planSha256: string; readonly sourceSha: string}): Attempts {
	let total = 0;
	let failed = 0;
	let unfinished = 0;
	for (const {started, end} of ledger.runs.values()) {
		if (started.line.plan_sha256 !== plan.planSha256 || started.line.source_sha !== plan.sourceSha) {
			continue;
		}

		total++;
		if (end?.line.event !== 'published') {
			unfinished++;
		} else if (end.line.result === 'failed') {
			failed++;
		}
	}

	return {same_plan_and_source: total, failed, unfinished};
}

function endProblems(end: LedgerRun['end'], {manifest, manifestSha256}: LedgerSubject): Problem[] {
	if (end === null) {
		return [problem('EVIDENCE_LEDGER_UNRECORDED', '', 'the run is there and its published line is not: the next run writes it')];
	}

	if (end.line.event !== 'published') {
		return [];
	}

	const pointer = `/${end.line.n - 1}`;
	return [
		...mismatch(end.line.manifest_sha256 === manifestSha256, `${pointer}/manifest_sha256`, 'another manifest was published under this run id'),
		...mismatch(end.line.result === manifest.result, `${pointer}/result`, 'another result was published under this run id'),
	];
}

function mismatch(isEqual: boolean, pointer: string, message: string): Problem[] {
	return isEqual ? [] : [problem('EVIDENCE_LEDGER_MISMATCH', pointer, message)];
}

function problem(code: ProblemCode, pointer: string, message: string): Problem {
	return {code, path: 'ledger.jsonl', pointer, message};
}
