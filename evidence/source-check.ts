import {BailiffError} from '../core/errors.ts';
import type {SourceReader} from './ports.ts';
import type {Problem} from './problems.ts';

/** The commit that a manifest names, and where it names it. */
export type NamedSource = {
	readonly sha: string;
	/** Null where that version of the manifest names none. */
	readonly tree: string | null;
	/** Of the manifest in the run. */
	readonly path: string;
	readonly shaPointer: string;
};

/** What keeps the checkout from being exactly the named commit as it is now. Never rejects for what lies on disk. Source: E-READ-1, E-READ-2. */
export async function sourceProblems(source: SourceReader, named: NamedSource): Promise<Problem[]> {
	const {path} = named;
	try {
		const {head, tree, problems} = await source.read(named.sha);
		if (head !== named.sha) {
			const message = `HEAD of the checkout ${head === null ? 'names no commit' : `is ${head}`}, the run was made on ${named.sha}`;
			// Said once, with its place in the manifest. A checkout at another commit says nothing of the tree.
			const others = problems.filter(({code}) => code !== 'EVIDENCE_SOURCE_HEAD');
			return [...others, {code: 'EVIDENCE_SOURCE_HEAD', path, pointer: named.shaPointer, message}];
		}

		const found: Problem[] = [...problems];
		if (named.tree !== null && tree !== named.tree) {
			found.push({code: 'EVIDENCE_SOURCE_TREE', path, pointer: '/source/tree', message: 'the tree of that commit is another one'});
		}

		return found;
	} catch (error) {
		if (!(error instanceof BailiffError)) {
			throw error;
		}

		return [{code: 'EVIDENCE_SOURCE_UNREADABLE', path: null, pointer: '', message: `the checkout cannot be read: ${error.message}`}];
	}
}

/** Each problem once, in order: the checkout is read before and after everything else. */
export function uniqueProblems(problems: readonly Problem[]): Problem[] {
	return [...new Map(problems.map(problem => [JSON.stringify(problem), problem])).values()];
}
