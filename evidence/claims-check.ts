import {canonicalJson} from '../core/canonical-json.ts';
import type {JsonValue} from '../core/errors.ts';
import {type ClaimPointers, claimPointers} from './claims.ts';
import type {Manifest} from './manifest-schema.ts';
import {outputPaths} from './output-paths.ts';
import type {ResolvedPlan} from './plan.ts';
import type {Problem, ProblemCode} from './problems.ts';

/** What the claims of a manifest are held against: nothing of it comes from the claims themselves. */
export type ClaimEvidence = {
	/** The manifest as it was parsed, for resolving pointers. */
	readonly value: JsonValue;
	readonly manifest: Manifest;
	/** Null when the plan could not be read: then only its values go unchecked. */
	readonly plan: ResolvedPlan | null;
	/** Digest of each stored file that could be opened, by its run-relative path. */
	readonly outputs: ReadonlyMap<string, string>;
};

/** What a claim leads to, said by somebody else than the manifest. */
export type DerivedValue = {readonly value: JsonValue; readonly origin: string};

/** The claims of one manifest, of any version, and what they must be. */
export type ClaimSide<Name extends string> = {
	/** Of the manifest in the run. */
	readonly path: string;
	readonly value: JsonValue;
	readonly claims: ReadonlyArray<Readonly<Record<Name | 'id', string>>>;
	readonly commandIds: readonly string[];
	readonly names: readonly Name[];
	readonly pointersOf: (index: number) => Readonly<Record<Name, string>>;
	/** Undefined where nobody says anything, or what says it could not be read (which is a problem of its own). */
	readonly derive: (index: number, name: Name) => DerivedValue | undefined;
};

/** The nine names of the pointers of E-V3-4. */
export const claimNames = Object.keys(claimPointers(0)).filter(isName);

/**
 * Everything in which the claims are not exactly one per executed command with the nine computed pointers, or a pointed-at value is not what
 * plan and stored file say.
 *
 * Exit code, status and termination are re-derived by truthTableProblems, which looks at the same members. Source: E-V3-4, RFC 6901.
 */
export function claimProblems(evidence: ClaimEvidence): Problem[] {
	const {claims, commands} = evidence.manifest;
	return claimSideProblems({
		path: 'manifest.json',
		value: evidence.value,
		claims,
		commandIds: commands.map(({id}) => id),
		names: claimNames,
		pointersOf: claimPointers,
		derive: (index, name) => derivedValue(evidence, index, name),
	});
}

/** The same for the claims of any version: count, ids, computed pointers compared as strings, then resolved and held against what derives them. */
export function claimSideProblems<Name extends string>(side: ClaimSide<Name>): Problem[] {
	const {claims, commandIds, path} = side;
	const problem = (code: ProblemCode, pointer: string, message: string): Problem => ({code, path, pointer, message});
	const problems: Problem[] = [];
	if (claims.length !== commandIds.length) {
		problems.push(problem('EVIDENCE_CLAIM_COUNT', '/claims', `there are ${claims.length} claims for ${commandIds.length} executed commands`));
	}

	for (const [index, claim] of claims.slice(0, commandIds.length).entries()) {
		if (claim.id !== commandIds[index]) {
			problems.push(problem('EVIDENCE_CLAIM_VALUE', `/claims/${index}/id`, 'the id is not that of the command'));
		}

		const expected = side.pointersOf(index);
		for (const name of side.names) {
			if (claim[name] === expected[name]) {
				problems.push(...valueProblems(side, index, name));
			} else {
				problems.push(problem('EVIDENCE_CLAIM_POINTER', `/claims/${index}/${name}`, `the pointer must be ${expected[name]}`));
			}
		}
	}

	return problems;
}

/**
 * The value that a JSON Pointer names, by own properties only; undefined when there is none.
 *
 * An array index has the one form of RFC 6901: no sign, no leading zero, no `-`. Source: RFC 6901, facts/evidence.md case 17.
 */
export function resolvePointer(root: JsonValue, pointer: string): JsonValue | undefined {
	if (pointer === '') {
		return root;
	}

	if (!pointer.startsWith('/')) {
		return undefined;
	}

	let value: JsonValue | undefined = root;
	for (const token of pointer.slice(1).split('/')) {
		value = memberOf(value, token.replaceAll('~1', '/').replaceAll('~0', '~'));
		if (value === undefined) {
			return undefined;
		}
	}

	return value;
}

function memberOf(value: JsonValue, key: string): JsonValue | undefined {
	if (isArray(value)) {
		return /^(?:0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined;
	}

	return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? value[key] : undefined;
}

function valueProblems<Name extends string>(side: ClaimSide<Name>, index: number, name: Name): Problem[] {
	const {path} = side;
	const pointer = side.pointersOf(index)[name];
	const found = resolvePointer(side.value, pointer);
	if (found === undefined) {
		return [{code: 'EVIDENCE_CLAIM_POINTER', path, pointer: `/claims/${index}/${name}`, message: 'the pointer leads nowhere'}];
	}

	const derived = side.derive(index, name);
	if (derived === undefined || canonicalJson(found) === canonicalJson(derived.value)) {
		return [];
	}

	return [{code: 'EVIDENCE_CLAIM_VALUE', path, pointer, message: `the claimed value is not that of ${derived.origin}`}];
}

/** What plan or stored file say; undefined where they say nothing or could not be read (which is a problem of its own). */
function derivedValue({plan, outputs}: ClaimEvidence, index: number, name: keyof ClaimPointers): DerivedValue | undefined {
	if (isPlanned(name)) {
		const planned = plan?.commands[index];
		return planned === undefined ? undefined : {value: planned[name], origin: 'the plan'};
	}

	if (name === 'output_path') {
		return {value: outputPaths(index).output, origin: 'the place of the command'};
	}

	const sha256 = outputs.get(outputPaths(index).output);
	return name === 'output_sha256' && sha256 !== undefined ? {value: sha256, origin: 'the stored file'} : undefined;
}

function isPlanned(name: keyof ClaimPointers): name is 'argv' | 'cwd' | 'expected_exit_code' | 'timeout_seconds' {
	return name === 'argv' || name === 'cwd' || name === 'expected_exit_code' || name === 'timeout_seconds';
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
	return Array.isArray(value);
}

function isName(key: string): key is keyof ClaimPointers {
	return Object.hasOwn(claimPointers(0), key);
}
