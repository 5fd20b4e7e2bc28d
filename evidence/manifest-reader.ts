import {z} from 'zod';
import {canonicalFile} from '../core/canonical-json.ts';
import type {JsonValue} from '../core/errors.ts';
import {excessProblem, itemProblems, parseDocument, partProblems, schemaWord} from './document-reader.ts';
import {manifestLimits} from './manifest.ts';
import {claimSchema, commandRecordSchema, type Manifest, manifestDecimalKeys, manifestSchema} from './manifest-schema.ts';
import type {ProblemList} from './problem-list.ts';
import type {Problem} from './problems.ts';
import {schemaProblems} from './schema-problems.ts';

const path = 'manifest.json';

/** A manifest as it was read: `value` resolves pointers, `manifest` has types. */
export type ReadManifest = {readonly value: JsonValue; readonly manifest: Manifest};

/** 256 commands with 2,000 redactions each are some 520,000 containers; no object of a manifest has more than 26 keys. */
export const manifestParseBounds = {maxContainers: 600_000, maxKeys: 64} as const;

/**
 * Reads the bytes of manifest.json: strict parse, canonical bytes as a second gate of its own, then the closed shapes of shapes.ts.
 *
 * Total: any bytes give an answer; null when the shapes do not hold. The parts are checked one after another, so that a hostile file cannot
 * make the schema library hold millions of issues. Source: E-V3-1, E-V3-2, E-READ-6.
 */
export function readManifest(bytes: Buffer, problems: ProblemList): ReadManifest | null {
	const value = parseDocument(bytes, {...manifestLimits, ...manifestParseBounds, decimalKeys: manifestDecimalKeys}, {path, problems});
	if (value === null) {
		return null;
	}

	const schema = schemaWord(value);
	if (schema !== null && schema !== 'evidence-manifest/v3') {
		problems.add(
			problem('EVIDENCE_VERSION', '/schema', 'only evidence-manifest/v3 is fresh evidence: archived versions have readers and verdicts of their own'),
		);
		return null;
	}

	const excess = excessProblem(value, path);
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

const frameSchema = manifestSchema.extend({commands: z.array(z.unknown()).max(256), claims: z.array(z.unknown()).max(256)});

function shaped(value: JsonValue, problems: ProblemList): Manifest | null {
	const found = [
		...partProblems(frameSchema, value, {path, pointer: ''}),
		...itemProblems(commandRecordSchema, value, {path, name: 'commands'}),
		...itemProblems(claimSchema, value, {path, name: 'claims'}),
	];
	if (found.length > 0) {
		problems.addAll(found);
		return null;
	}

	const whole = manifestSchema.safeParse(value);
	problems.addAll(whole.success ? [] : schemaProblems(whole.error.issues, {value, path}));
	return whole.success ? whole.data : null;
}

function problem(code: Problem['code'], pointer: string, message: string): Problem {
	return {code, path, pointer, message};
}
