import {type EvidenceReading, type EvidenceRequest, readEvidence} from './evidence-reading.ts';
import type {Attempts} from './ledger-check.ts';
import type {Manifest} from './manifest-schema.ts';
import type {PullRequestHead, SourceObjects} from './ports.ts';
import {ProblemList} from './problem-list.ts';
import type {Problem, ProblemCode} from './problems.ts';
import {bindSource, type EvidenceGap, headBinding, type SourceBinding} from './source-binding.ts';

/** What a reviewer asks who must not use a checkout. */
export type InspectRequest = EvidenceRequest & {
	/** The objects of a mirror or a bundle. Where they cannot be had its calls refuse, and the reason becomes a gap. */
	readonly objects: SourceObjects;
	/** Null: no provider can be asked, which is a gap. */
	readonly pullRequest: PullRequestHead | null;
};

/** The answer of `evidence inspect`: what is bound, what could not be bound, and what is wrong. */
export type InspectAnswer = {
	/** `source-bound`: the evidence holds, and every item is bound. `evidence-gap`: nothing is wrong, and something could not be bound. */
	readonly verdict: 'source-bound' | 'evidence-gap' | 'invalid';
	/** Of a run whose evidence holds in itself; null otherwise. */
	readonly result: 'passed' | 'failed' | null;
	readonly source: {readonly sha: string; readonly tree: string} | null;
	readonly attempts: Attempts | null;
	readonly manifest_sha256: string | null;
	/** Items that were worked out again from objects or from the provider's answer. */
	readonly bound: readonly string[];
	/** Items that could not be bound, each with its reason. Never guessed, never filled in. */
	readonly evidence_gap: readonly EvidenceGap[];
	readonly problems: readonly Problem[];
};

/** Evidence that cannot be reached is a gap; evidence that is there and wrong is a problem. */
const outOfReach: ReadonlySet<string> = new Set<ProblemCode>(['EVIDENCE_DIRECTORY_MISSING', 'EVIDENCE_FILE_UNREADABLE', 'EVIDENCE_LEDGER_MISSING']);

/**
 * Checks one run as `validateRun` does, with its source bound to git objects and to the head that the provider names, never to a checkout.
 *
 * Total; writes nothing. What contradicts the evidence is a problem; what cannot be looked at is an entry of `evidence_gap`. Source: E-READ-5, E-READ-6.
 */
export async function inspectRun(request: InspectRequest): Promise<InspectAnswer> {
	const problems = new ProblemList();
	const reading = await readEvidence(request, async () => [], problems);
	const {manifest} = reading.run;
	if (manifest === null) {
		return answerOf(reading, {bound: [], gaps: [unreachable(problems)], problems: []}, problems);
	}

	const source = await bindSource(manifest, request.objects);
	const head = await headBinding(manifest, request.pullRequest);
	problems.addAll([...source.problems, ...head.problems]);
	const binding = {bound: [...source.bound, ...head.bound], gaps: [...source.gaps, ...head.gaps], problems: []};
	return answerOf(reading, binding, problems);
}

function unreachable(problems: ProblemList): EvidenceGap {
	const [first] = problems.all();
	return {item: 'evidence', reason: first === undefined ? 'the run could not be read' : `${first.message} (${first.code})`};
}

function answerOf({run, attempts}: EvidenceReading, {bound, gaps}: SourceBinding, problems: ProblemList): InspectAnswer {
	const {manifest, manifestSha256} = run;
	const isMissing = manifest === null && problems.all().every(({code}) => outOfReach.has(code));
	const verdict = isMissing ? 'evidence-gap' : verdictOf(problems.isSound && manifest !== null, gaps.length);
	return {
		verdict,
		result: verdict === 'invalid' ? null : (manifest?.result ?? null),
		source: sourceOf(manifest),
		attempts,
		manifest_sha256: manifestSha256,
		bound,
		evidence_gap: gaps,
		problems: problems.all(),
	};
}

function verdictOf(isSound: boolean, gaps: number): InspectAnswer['verdict'] {
	if (!isSound) {
		return 'invalid';
	}

	return gaps === 0 ? 'source-bound' : 'evidence-gap';
}

function sourceOf(manifest: Manifest | null): InspectAnswer['source'] {
	return manifest === null ? null : {sha: manifest.source.sha, tree: manifest.source.tree};
}
