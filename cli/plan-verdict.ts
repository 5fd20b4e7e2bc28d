import type {JsonValue} from '../core/errors.ts';
import {parsePlan, planLimits} from '../evidence/plan.ts';
import type {Plan} from '../evidence/plan-schema.ts';
import type {Problem} from '../evidence/problems.ts';
import {isBailiffError} from './exit-codes.ts';
import {readInputFile} from './input-file.ts';

/** What `plan check` found: the plan, or every problem that keeps the file from being one. */
export type PlanVerdict =
	| {readonly verdict: 'valid'; readonly plan: Plan; readonly sha256: string; readonly problems: readonly []}
	| {readonly verdict: 'invalid'; readonly plan: null; readonly sha256: string | null; readonly problems: readonly Problem[]};

/**
 * Says whether a file is a well-formed plan, whatever can be enforced here.
 *
 * Refuses: what cannot be read at all (CORE_FILE_UNREADABLE, CORE_FILE_NOT_REGULAR, CORE_FILE_CHANGED); a file that is no plan is an answer.
 * Source: R-PLAN-7.
 */
export function checkPlan(planFile: string): PlanVerdict {
	let sha256: string | null = null;
	try {
		const content = readInputFile(planFile, planLimits.maxBytes);
		({sha256} = content);
		return {verdict: 'valid', plan: parsePlan(content.bytes), sha256, problems: []};
	} catch (error) {
		const problems = planProblems(error);
		if (problems === null) {
			throw error;
		}

		return {verdict: 'invalid', plan: null, sha256, problems};
	}
}

/** The problems that an error says a plan has, or null where it is about something else. */
function planProblems(error: unknown): Problem[] | null {
	if (!isBailiffError(error)) {
		return null;
	}

	const {code, message, details} = error;
	if (code === 'EVIDENCE_PLAN_INVALID' && Array.isArray(details['problems'])) {
		return details['problems'].filter(isProblem);
	}

	const isAboutBytes = code.startsWith('CORE_JSON_') || code === 'CORE_FILE_TOO_LARGE';
	const pointer = typeof details['pointer'] === 'string' ? details['pointer'] : '';
	return isAboutBytes ? [{code, path: null, pointer, message}] : null;
}

function isProblem(value: JsonValue): value is Problem {
	return typeof value === 'object' && value !== null && 'code' in value && 'pointer' in value && 'message' in value;
}
