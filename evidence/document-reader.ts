import type {z} from 'zod';
import {BailiffError, type JsonValue} from '../core/errors.ts';
import {parseStrictJson, pointerToken, type StrictJsonOptions} from '../core/strict-json.ts';
import {maxProblems, type ProblemList} from './problem-list.ts';
import type {Problem} from './problems.ts';
import {schemaProblems} from './schema-problems.ts';

/** A parsed document of a run; null when the bytes are no strict JSON or the value null, which is then reported. Total for any bytes. */
export function parseDocument(bytes: Buffer, options: StrictJsonOptions, where: {readonly path: string; readonly problems: ProblemList}): JsonValue {
	const {path, problems} = where;
	try {
		const value = parseStrictJson(bytes, options);
		if (value === null) {
			problems.add({code: 'EVIDENCE_SCHEMA', path, pointer: '', message: 'expected an object, found null'});
		}

		return value;
	} catch (error) {
		if (!(error instanceof BailiffError)) {
			throw error;
		}

		const pointer = error.details['pointer'];
		problems.add({code: error.code, path, pointer: typeof pointer === 'string' ? pointer : '', message: error.message});
		return null;
	}
}

/** The word of `schema` in a document, or null where it has none. */
export function schemaWord(value: JsonValue): string | null {
	const word = isObject(value) && Object.hasOwn(value, 'schema') ? value['schema'] : undefined;
	return typeof word === 'string' ? word : null;
}

/** The most items of an array by its key; more makes the schema library slow before it refuses. */
const maxItems: Readonly<Record<string, number>> = {commands: 256, claims: 256, argv: 4096, env_names: 131_072, extra_outputs: 1, redactions: 1000};
const maxOtherItems = 64;

/** The first array of a manifest (of any version) that holds more items than its key allows, or null. */
export function excessProblem(value: JsonValue, path: string): Problem | null {
	return excessOf(value, '', {path, pointer: ''});
}

type Place = {readonly path: string; readonly pointer: string};

function excessOf(value: JsonValue, key: string, place: Place): Problem | null {
	if (isArray(value)) {
		const limit = Object.hasOwn(maxItems, key) ? (maxItems[key] ?? 0) : maxOtherItems;
		if (value.length > limit) {
			return {code: 'EVIDENCE_SCHEMA', ...place, message: `expected at most ${limit} items, found ${value.length}`};
		}

		return firstExcess(value.entries(), key, place);
	}

	return isObject(value) ? firstExcess(Object.entries(value), null, place) : null;
}

function firstExcess(entries: Iterable<readonly [string | number, JsonValue]>, arrayKey: string | null, {path, pointer}: Place): Problem | null {
	for (const [name, item] of entries) {
		if (typeof item === 'object' && item !== null) {
			const found = excessOf(item, arrayKey ?? String(name), {path, pointer: `${pointer}/${pointerToken(String(name).slice(0, 64))}`});
			if (found !== null) {
				return found;
			}
		}
	}

	return null;
}

/** What keeps a part of a document from its shape, at most `maxProblems` of it; `pointer` is that of the part. */
export function partProblems(schema: z.ZodType, value: JsonValue, {path, pointer}: Place): Problem[] {
	const part = schema.safeParse(value);
	const issues = part.success ? [] : part.error.issues.slice(0, maxProblems + 1);
	return schemaProblems(issues, {value, path}).map(found => ({...found, pointer: `${pointer}${found.pointer}`}));
}

/** The same for each item of the array `name`, one after another, so that a hostile file cannot make the schema library hold millions of issues. */
export function itemProblems(schema: z.ZodType, value: JsonValue, {path, name}: {readonly path: string; readonly name: string}): Problem[] {
	const items = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
	const found: Problem[] = [];
	for (const [index, item] of (items !== undefined && isArray(items) ? items : []).entries()) {
		found.push(...partProblems(schema, item, {path, pointer: `/${name}/${index}`}));
		if (found.length > maxProblems) {
			break;
		}
	}

	return found;
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
	return Array.isArray(value);
}

function isObject(value: JsonValue): value is {readonly [key: string]: JsonValue} {
	return typeof value === 'object' && value !== null && !isArray(value);
}
