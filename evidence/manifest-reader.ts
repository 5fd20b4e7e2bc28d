import {z} from 'zod';
import {canonicalFile} from '../core/canonical-json.ts';
import {BailiffError, type JsonValue} from '../core/errors.ts';
import {parseStrictJson} from '../core/strict-json.ts';
import {manifestLimits} from './manifest.ts';
import {claimSchema, commandRecordSchema, type Manifest, manifestDecimalKeys, manifestSchema} from './manifest-schema.ts';
import {maxProblems, type ProblemList} from './problem-list.ts';
import type {Problem} from './problems.ts';
import {schemaProblems} from './schema-problems.ts';

const path = 'manifest.json';

/** A manifest as it was read: `value` resolves pointers, `manifest` has types. */
export type ReadManifest = {readonly value: JsonValue; readonly manifest: Manifest};

/**
 * Reads the bytes of manifest.json: strict parse, canonical bytes as a second gate of its own, then the closed shapes of shapes.ts.
 *
 * Total: any bytes give an answer; null when the shapes do not hold. The parts are checked one after another, so that a hostile file cannot
 * make the schema library hold millions of issues. Source: E-V3-1, E-V3-2, E-READ-6.
 */
export function readManifest(bytes: Buffer, problems: ProblemList): ReadManifest | null {
	const value = parsed(bytes, problems);
	if (value === null) {
		return null;
	}

	const schema = isObject(value) && Object.hasOwn(value, 'schema') ? value['schema'] : undefined;
	if (typeof schema === 'string' && schema !== 'evidence-manifest/v3') {
		problems.add(
			problem('EVIDENCE_VERSION', '/schema', 'only evidence-manifest/v3 is fresh evidence: archived versions have readers and verdicts of their own'),
		);
		return null;
	}

	const excess = excessOf(value, '', '');
	if (excess !== null) {
		problems.add(excess);
		return null;
	}

	// Two looks at the same bytes: the parser could be wrong, or the writer.
	if (!canonicalFile(value).equals(bytes)) {
		problems.add(problem('EVIDENCE_NOT_CANONICAL', '', 'the bytes are not the canonical form (RFC 8785) of the value with one line feed'));
	}

	const manifest = shaped(value, problems);
	return manifest === null ? null : {value, manifest};
}

/** 256 commands with 2,000 redactions each are some 520,000 containers; no object of a manifest has more than 26 keys. */
const parseBounds = {maxContainers: 600_000, maxKeys: 64} as const;

function parsed(bytes: Buffer, problems: ProblemList): JsonValue {
	try {
		const value = parseStrictJson(bytes, {...manifestLimits, ...parseBounds, decimalKeys: manifestDecimalKeys});
		if (value === null) {
			problems.add(problem('EVIDENCE_SCHEMA', '', 'expected an object, found null'));
		}

		return value;
	} catch (error) {
		if (!(error instanceof BailiffError)) {
			throw error;
		}

		const pointer = error.details['pointer'];
		problems.add(problem(error.code, typeof pointer === 'string' ? pointer : '', error.message));
		return null;
	}
}

/** The most items of an array by its key; more makes the schema library slow before it refuses. */
const maxItems: Readonly<Record<string, number>> = {commands: 256, claims: 256, argv: 4096, env_names: 131_072, extra_outputs: 1, redactions: 1000};
const maxOtherItems = 64;

function excessOf(value: JsonValue, key: string, pointer: string): Problem | null {
	if (isArray(value)) {
		const limit = Object.hasOwn(maxItems, key) ? (maxItems[key] ?? 0) : maxOtherItems;
		if (value.length > limit) {
			return problem('EVIDENCE_SCHEMA', pointer, `expected at most ${limit} items, found ${value.length}`);
		}

		return firstExcess(value.entries(), key, pointer);
	}

	if (!isObject(value)) {
		return null;
	}

	return firstExcess(Object.entries(value), null, pointer);
}

function firstExcess(entries: Iterable<readonly [string | number, JsonValue]>, arrayKey: string | null, pointer: string): Problem | null {
	for (const [name, item] of entries) {
		if (typeof item === 'object' && item !== null) {
			const found = excessOf(item, arrayKey ?? String(name), `${pointer}/${Number.isInteger(name) ? name : encodeURI(String(name)).slice(0, 64)}`);
			if (found !== null) {
				return found;
			}
		}
	}

	return null;
}

const frameSchema = manifestSchema.extend({commands: z.array(z.unknown()).max(256), claims: z.array(z.unknown()).max(256)});

function shaped(value: JsonValue, problems: ProblemList): Manifest | null {
	const found = [
		...partProblems(frameSchema, value, ''),
		...itemProblems(commandRecordSchema, value, 'commands'),
		...itemProblems(claimSchema, value, 'claims'),
	];
	if (found.length > 0) {
		problems.addAll(found);
		return null;
	}

	const whole = manifestSchema.safeParse(value);
	problems.addAll(whole.success ? [] : schemaProblems(whole.error.issues, {value, path}));
	return whole.success ? whole.data : null;
}

function itemProblems(schema: z.ZodType, value: JsonValue, name: string): Problem[] {
	const items = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
	const found: Problem[] = [];
	for (const [index, item] of (items !== undefined && isArray(items) ? items : []).entries()) {
		found.push(...partProblems(schema, item, `/${name}/${index}`));
		if (found.length > maxProblems) {
			break;
		}
	}

	return found;
}

function partProblems(schema: z.ZodType, value: JsonValue, pointer: string): Problem[] {
	const part = schema.safeParse(value);
	const issues = part.success ? [] : part.error.issues.slice(0, maxProblems + 1);
	return schemaProblems(issues, {value, path}).map(found => ({...found, pointer: `${pointer}${found.pointer}`}));
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
	return Array.isArray(value);
}

function isObject(value: JsonValue): value is {readonly [key: string]: JsonValue} {
	return typeof value === 'object' && value !== null && !isArray(value);
}

function problem(code: Problem['code'], pointer: string, message: string): Problem {
	return {code, path, pointer, message};
}
