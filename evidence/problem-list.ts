import type {Problem, ProblemCode} from './problems.ts';

/** The most problems that one reading lists: a hostile file must not fill the memory of its reader. */
export const maxProblems = 1000;

/** Codes of states that are named and do not make evidence invalid (E-LED-3, shapes.ts: ValidateAnswer.result). */
const noticeCodes: ReadonlySet<string> = new Set<ProblemCode>([
	'EVIDENCE_LAYER_NOT_HELD',
	'EVIDENCE_LEDGER_RUN_MISSING',
	'EVIDENCE_LEDGER_TORN',
	'EVIDENCE_LEDGER_UNRECORDED',
	'EVIDENCE_MORE_PROBLEMS',
	'EVIDENCE_NOT_PASSED',
]);

/** True for a named state that does not make evidence invalid: a torn tail, another run that is gone, a result that is not `passed`. */
export function isNotice(problem: Problem): boolean {
	return noticeCodes.has(problem.code);
}

/** Collects what a reading finds, in the order in which it is found, up to a bound of its own for problems and for named states. */
export class ProblemList {
	readonly #items: Problem[] = [];
	#refusals = 0;
	#notices = 0;

	/** True while nothing was found that makes evidence invalid. */
	get isSound(): boolean {
		return this.#refusals === 0;
	}

	add(problem: Problem): void {
		const count = isNotice(problem) ? ++this.#notices : ++this.#refusals;
		if (count <= maxProblems) {
			this.#items.push(problem);
		}
	}

	addAll(problems: Iterable<Problem>): void {
		for (const problem of problems) {
			this.add(problem);
		}
	}

	/** All problems; where some were left out, a last one says how many. */
	all(): readonly Problem[] {
		const dropped = this.#refusals + this.#notices - this.#items.length;
		if (dropped === 0) {
			return this.#items;
		}

		return [...this.#items, {code: 'EVIDENCE_MORE_PROBLEMS', path: null, pointer: '', message: `${dropped} more are not listed, the limit is ${maxProblems}`}];
	}
}
