import {type Clock, systemClock} from '../core/clock.ts';
import {BailiffError, errnoOf} from '../core/errors.ts';
import type {Problem, SourceReader} from '../evidence/index.ts';
import type {CheckoutCheck} from '../runner/ports.ts';
import {type CheckoutState, inspectCheckout, readPlace} from './checkout-state.ts';
import type {Git} from './git-command.ts';
import {displayPath} from './path-display.ts';
import type {TrackedSnapshot} from './tracked-snapshot.ts';
import type {Difference} from './worktree-walk.ts';

/** What a checkout check needs. */
export type CheckoutOptions = {
	readonly git: Git;
	/** Absolute path of the checkout; looked at when it is used, not before. */
	readonly path: string;
	/** It is the issue worktree of the root (shapes.ts: source.checkout). */
	readonly isCanonical: boolean;
	readonly clock?: Clock;
};

/** What head_after says when HEAD names no commit any more. */
export const noCommit = '0'.repeat(40);
const shownPaths = 10;
const shownProblems = 100;

/**
 * The checkout at `path`, to be proven and watched by the runner and to be read by a verifier. Nothing is looked at yet.
 *
 * Nothing that the checkout's own configuration names is ever started, and nothing in it is written. Source: R-START-3, E-READ-1.
 */
export function openCheckout(options: CheckoutOptions): CheckoutCheck & SourceReader {
	return new Checkout(options);
}

class Checkout implements CheckoutCheck, SourceReader {
	readonly isCanonical: boolean;
	readonly #options: CheckoutOptions & {readonly clock: Clock};
	#proven: {readonly readHead: () => string | null; readonly snapshot: TrackedSnapshot} | null = null;

	constructor(options: CheckoutOptions) {
		this.isCanonical = options.isCanonical;
		this.#options = {clock: systemClock, ...options};
	}

	/**
	 * Source: R-START-3. Refuses: RUN_SOURCE_MISMATCH, RUN_CHECKOUT_DIRTY, and where nothing can be said CACHE_CHECKOUT_INVALID,
	 * CACHE_CHECKOUT_UNSUPPORTED, CACHE_OBJECT_INVALID, CACHE_GIT_ codes.
	 */
	async verify(sourceSha: string): Promise<{readonly tree: string}> {
		const {place, head} = readPlace(this.#options.path);
		requireHead(head.read(), sourceSha);
		const state = await inspectCheckout({...this.#options, place, commit: sourceSha});
		if (state.differences.length > 0) {
			throw dirty(sourceSha, state);
		}

		requireHead(head.read(), sourceSha);
		this.#proven = {readHead: () => head.read(), snapshot: state.snapshot};
		return {tree: state.tree};
	}

	/** Never rejects for what a command did: where HEAD names no commit any more, `head` is forty zeros. */
	async drift(): Promise<{readonly head: string; readonly trackedChanges: number}> {
		if (this.#proven === null) {
			throw new BailiffError('RUN_SOURCE_MISMATCH', 'the checkout was not verified before the look for drift');
		}

		return {head: this.#proven.readHead() ?? noCommit, trackedChanges: this.#proven.snapshot.countChanges()};
	}

	/** Source: E-READ-1. Never rejects: what cannot be read is a problem. */
	async read(sha: string): Promise<{readonly head: string | null; readonly tree: string | null; readonly problems: readonly Problem[]}> {
		let found: string | null = null;
		try {
			const {place, head} = readPlace(this.#options.path);
			found = head.read();
			if (found !== sha) {
				return {head: found, tree: null, problems: [headProblem(found, sha)]};
			}

			const state = await inspectCheckout({...this.#options, place, commit: sha});
			const after = head.read();
			const moved = after === sha ? [] : [headProblem(after, sha)];
			return {head: after, tree: state.tree, problems: [...moved, ...bytesProblems(state)]};
		} catch (error) {
			// A checkout that is taken away or closed meanwhile shows as the failed call's own error.
			if (!(error instanceof Error) || (!(error instanceof BailiffError) && errnoOf(error) === null)) {
				throw error;
			}

			const problem: Problem = {code: 'EVIDENCE_SOURCE_UNREADABLE', path: null, pointer: '', message: error.message};
			return {head: found, tree: null, problems: [problem]};
		}
	}
}

function requireHead(head: string | null, sourceSha: string): void {
	if (head !== sourceSha) {
		throw new BailiffError('RUN_SOURCE_MISMATCH', `${headSentence(head, sourceSha)}; check it out: git checkout --detach ${sourceSha}`, {
			details: {head, source_sha: sourceSha},
		});
	}
}

function headProblem(head: string | null, sha: string): Problem {
	return {code: 'EVIDENCE_SOURCE_HEAD', path: null, pointer: '/source/sha', message: headSentence(head, sha)};
}

function headSentence(head: string | null, sha: string): string {
	return `HEAD of the checkout ${head === null ? 'names no commit' : `is ${head}`}, expected was ${sha}`;
}

function dirty(sourceSha: string, state: CheckoutState): BailiffError {
	const shown = state.differences.slice(0, shownPaths);
	const more = state.differences.length - shown.length;
	const list = shown.map(difference => describe(difference)).join(', ');
	const rest = more > 0 ? ` and ${more}${state.isCut ? ' or more' : ''} others` : '';
	return new BailiffError(
		'RUN_CHECKOUT_DIRTY',
		`the checkout is not exactly the commit ${sourceSha}: ${list}${rest}; commit, restore or remove these paths${hint(state.differences)}`,
		{
			details: {
				count: state.differences.length,
				paths: shown.map(({path, state: pathState}) => ({path: displayPath(path), state: pathState})),
			},
		},
	);
}

/** What git status shows as clean needs a word of explanation. */
function hint(differences: readonly Difference[]): string {
	return differences.some(({state}) => state === 'untracked') ? ' (only what a .gitignore of the commit ignores may lie there)' : '';
}

function bytesProblems(state: CheckoutState): Problem[] {
	const problems = state.differences
		.slice(0, shownProblems)
		.map((difference): Problem => ({code: 'EVIDENCE_SOURCE_BYTES', path: null, pointer: '', message: `the checkout differs: ${describe(difference)}`}));
	const more = state.differences.length - problems.length;
	return more === 0 ? problems : [...problems, {code: 'EVIDENCE_SOURCE_BYTES', path: null, pointer: '', message: `${more} more paths of the checkout differ`}];
}

function describe({path, state}: Difference): string {
	return `${words[state]} ${displayPath(path)}`;
}

const words: Readonly<Record<Difference['state'], string>> = {
	staged: 'staged',
	deleted: 'deleted',
	changed: 'changed',
	mode: 'other execute bit',
	type: 'other file type',
	unreadable: 'unreadable',
	untracked: 'untracked',
	submodule: 'submodule that is not empty',
};
