import type {z} from 'zod';
import {pointerToken} from '../core/strict-json.ts';
import {maxProblems} from './problem-list.ts';
import type {Problem} from './problems.ts';

/** What was checked, and where a person finds it. */
export type CheckedDocument = {
	/** The value that the schema refused. */
	readonly value: unknown;
	/** Relative to the run directory, null when the document is no file of a run. */
	readonly path: string | null;
	/** What to write instead, by the name of the key. */
	readonly hints?: Readonly<Record<string, string>>;
};

/**
 * Turns the issues of a zod schema into problems: one per unknown key (EVIDENCE_UNKNOWN_KEY), missing key (EVIDENCE_MISSING_KEY) or
 * wrong value (EVIDENCE_SCHEMA), each with the JSON Pointer of exactly that place.
 *
 * Strings of the document are never quoted (they could be secrets): a message shows numbers, booleans and the kind of everything else.
 * At most `maxProblems`, and then one that says so (EVIDENCE_MORE_PROBLEMS).
 * Source: E-READ ("all problems are collected"), R-PLAN-1.
 */
export function schemaProblems(issues: readonly z.core.$ZodIssue[], document: CheckedDocument): Problem[] {
	const found = issues.slice(0, maxProblems).flatMap(issue => problemsOfIssue(issue, document));
	if (issues.length <= maxProblems && found.length <= maxProblems) {
		return found;
	}

	const message = `more are not listed, the limit is ${maxProblems}`;
	return [...found.slice(0, maxProblems), {code: 'EVIDENCE_MORE_PROBLEMS', path: null, pointer: '', message}];
}

/** The JSON Pointer (RFC 6901) of a path of keys and indices. */
export function pointerOf(path: readonly PropertyKey[]): string {
	return path.map(token => `/${pointerToken(typeof token === 'symbol' ? token.toString() : token)}`).join('');
}

function problemsOfIssue(issue: z.core.$ZodIssue, document: CheckedDocument): Problem[] {
	const pointer = pointerOf(issue.path);
	const at = (code: Problem['code'], where: string, message: string): Problem => ({code, path: document.path, pointer: where, message});
	if (issue.code === 'unrecognized_keys') {
		return issue.keys.map(key => at('EVIDENCE_UNKNOWN_KEY', `${pointer}/${pointerToken(key)}`, `the key ${JSON.stringify(key)} is not known here, remove it`));
	}

	const key = issue.path.at(-1);
	const hint = typeof key === 'string' && document.hints !== undefined && Object.hasOwn(document.hints, key) ? `: ${document.hints[key]}` : '';
	const found = valueAt(document.value, issue.path);
	if (!found.isPresent) {
		return [at('EVIDENCE_MISSING_KEY', pointer, `the key ${JSON.stringify(String(key))} is missing${hint}`)];
	}

	return [at('EVIDENCE_SCHEMA', pointer, `${expectation(issue)}, found ${kindOf(found.value)}${hint}`)];
}

function expectation(issue: z.core.$ZodIssue): string {
	if (issue.code === 'invalid_type') {
		return `expected ${issue.expected === 'int' ? 'a whole number' : issue.expected}`;
	}

	if (issue.code === 'too_small' || issue.code === 'too_big') {
		return `expected ${unit(issue.origin)}${issue.code === 'too_small' ? `at least ${issue.minimum}` : `at most ${issue.maximum}`}`;
	}

	if (issue.code === 'invalid_value') {
		return `expected ${issue.values.map(value => JSON.stringify(value)).join(' or ')}`;
	}

	if (issue.code === 'invalid_format') {
		return `expected a string that matches ${issue.pattern ?? issue.format}`;
	}

	if (issue.code === 'invalid_key') {
		return `the name of this key is not allowed (${issue.issues.map(inner => expectation(inner)).join(', ')})`;
	}

	return issue.code === 'custom' ? issue.message : 'expected one of the known shapes';
}

function unit(origin: string): string {
	switch (origin) {
		case 'array':
			return 'a number of items of ';
		case 'string':
			return 'a number of characters of ';
		default:
			return '';
	}
}

function valueAt(root: unknown, path: readonly PropertyKey[]): {readonly isPresent: boolean; readonly value: unknown} {
	let value = root;
	for (const token of path) {
		if (typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) {
			return {isPresent: false, value: undefined};
		}

		value = Reflect.get(value, token);
	}

	return {isPresent: true, value};
}

function kindOf(value: unknown): string {
	if (typeof value === 'number' || typeof value === 'boolean' || value === null) {
		return String(value);
	}

	if (typeof value === 'string') {
		return `a string of ${value.length} characters`;
	}

	return Array.isArray(value) ? `an array of ${value.length} items` : 'an object';
}
