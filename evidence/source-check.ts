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
		const found: Problem[] = [...problems];
		if (head !== named.sha) {
			found.push({code: 'EVIDENCE_SOURCE_HEAD', path, pointer: named.shaPointer, message: 'HEAD of the checkout is not the commit of the run'});
		}

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
