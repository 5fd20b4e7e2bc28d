import type {ErrorCode, ErrorDetails} from '../core/errors.ts';
import {shellWord} from './remedy.ts';
import type {CacheProblem} from './report.ts';

/** A command line for a person, each word quoted where it has to be. */
export function commandLine(words: readonly string[]): string {
	return words.map(shellWord).join(' ');
}

/** A problem at a place of the mirror; `path` is relative to `<owner>/<repository>/`. */
export function placeProblem(
	code: ErrorCode,
	path: string,
	message: string,
	more: {readonly details?: ErrorDetails; readonly remedy?: string | null} = {},
): CacheProblem {
	return {code, path, message, details: more.details ?? {}, remedy: more.remedy ?? null};
}
