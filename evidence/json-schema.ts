import * as z from 'zod';
import type {JsonValue} from '../core/errors.ts';
import {manifestV1Schema, manifestV2Schema} from './archive-schema.ts';
import {ownerForm, repositoryForm, runIdForm} from './forms.ts';
import {ledgerLineSchema} from './ledger-schema.ts';
import {manifestSchema} from './manifest-schema.ts';
import {planHints} from './plan.ts';
import {argvForm, cwdForm, environmentForm, planCommandSchema, planSchema, searchPathForm} from './plan-schema.ts';
import {reportSchema} from './report/report-schema.ts';

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = {readonly [key: string]: JsonValue};

const component = String.raw`(?!\.{1,2}(?:/|$))[^/\u0000]+`;
const name = String.raw`[^/\u0000-\u001f\u007f]`;

/**
 * What zod checks by code, said again in the words of JSON Schema. Three things cannot be said there and are only in the descriptions: that
 * command ids are unique, that the 240 of a name are bytes, and that numbers are written as digits.
 */
const refinements: ReadonlyMap<z.core.$ZodType, JsonSchema> = new Map<z.core.$ZodType, JsonSchema>([
	[ownerForm, {pattern: `^[A-Za-z0-9]${name}*$`, maxLength: 240, not: {pattern: String.raw`\.lock$`}}],
	[repositoryForm, {pattern: `^${name}+$`, maxLength: 240, not: {pattern: String.raw`^\.{1,2}$|^-|^\.staging-|\.lock$`}}],
	[runIdForm, {pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$', not: {const: 'ledger.jsonl'}}],
	[cwdForm, {pattern: String.raw`^(?:\.|${component}(?:/${component})*)$`}],
	[searchPathForm, {pattern: String.raw`^/[^:\u0000]*(?::/[^:\u0000]*)*$`}],
	[argvForm, {prefixItems: [{type: 'string', pattern: String.raw`^[^\u0000]+$`}]}],
	[environmentForm, {properties: {PATH: false}}],
	[
		planCommandSchema,
		{anyOf: [{properties: {purpose: {not: {const: 'red'}}}}, {properties: {expected_exit_code: {minimum: 1}}, required: ['expected_exit_code']}]},
	],
]);

const manifestDescriptions: Readonly<Record<string, string>> = {
	run_id: 'unique below the issue, never used twice',
	source: 'the commit that was checked, and what became of the checkout meanwhile',
	plan: 'the exact bytes that ran',
	secret_scan: 'number of rules, digest of their canonical JSON, number of redactions',
	ledger: 'the line of the ledger that says this run was started; its digest is over the line without its LF',
	started_at: 'wall clock when the started line was written',
	finished_at: 'started_at plus the monotonic time that went by',
	commands: 'the executed commands, in the order of the plan and without a gap',
	claims: 'one entry per executed command: nine JSON Pointers into this manifest',
	stop: 'why the run ended before the end of its plan, or null',
	result: 'passed only if every command of the plan was executed and passed, nothing was redacted and the source stayed as it was',
	executable: 'as it was found: absolute, or relative to the checkout inside of it',
	execution_status: 'one of five words; only completed can pass',
	termination: 'set from the system calls that were made',
	trigger: 'what made the command be ended, null only with completed',
	escaped: 'processes outside of the group of the leader that had to be signalled',
	started_at_ms: 'whole milliseconds from the start of the run',
	duration_ms: 'whole milliseconds until nobody was left',
	seen_bytes: 'bytes that were read from the pipe, kept or not',
	complete: 'end of file was reached and nothing was dropped',
	redactions: 'where the stored file reads [REDACTED] in place of a secret',
	max_rss_bytes: 'largest single process',
	peak_group_rss_bytes: 'of the whole group, null where no sample was taken',
};

const ledgerDescriptions: Readonly<Record<string, string>> = {
	n: 'number of the line, from 1',
	prev_sha256: 'SHA-256 of the line before without its LF, null in the first line',
	at: 'wall clock, UTC',
	bytes: 'how many bytes a power loss had left behind the last LF',
};

const reportDescriptions: Readonly<Record<string, string>> = {
	verdict: 'unsound: the record contradicts itself or its ledger, whatever result it names',
	outcome: 'failed: ended by itself and otherwise than expected; error: was ended, or could not run',
	record: 'the record of the manifest, null for a command that was not executed to its end',
	withheld: 'why nothing of the output is shown, or null',
	text: 'both ends of the output without control sequences, safe to show',
	run_fault: 'why the run did not pass where no command says so, or null',
	problems: 'what the record contradicts in itself',
	cpu_millicores: 'thousandths of one processor since the sample before',
	bytes: 'size of the stored file',
	claim: 'nine JSON Pointers into the manifest',
};

/** The published JSON Schema of verification-plan/v3, made from the very definition that parsePlan uses. Source: E-V3-1, R-PLAN. */
export function planJsonSchema(): JsonSchema {
	const about =
		'A plan: which commands run against which commit of which issue. Ids of commands are unique; owner and repository have at most 240 bytes; numbers are written as digits.';
	return published(planSchema, {id: 'verification-plan:v3', title: 'verification-plan/v3', about, descriptions: planHints});
}

/** The published JSON Schema of evidence-manifest/v3. Source: E-V3-1, E-V3-2. */
export function manifestJsonSchema(): JsonSchema {
	const about =
		'What one run did. The file is exactly RFC 8785 canonical JSON plus one LF; the truth table and the claims are checked by `bailiff validate`, not by this schema.';
	return published(manifestSchema, {id: 'evidence-manifest:v3', title: 'evidence-manifest/v3', about, descriptions: manifestDescriptions});
}

const archiveDescriptions: Readonly<Record<string, string>> = {
	source: 'the commit, HEAD when the run was made, and whether the checkout was without changes',
	plan: 'the plan file in the run; its commands hold at least id, argv, cwd and expected_exit_code',
	claims: 'one entry per executed command: six JSON Pointers into this manifest',
	exit_code: 'null when the command gave none',
	output: 'the stored output, run-relative',
};

/** The published JSON Schema of evidence-manifest/v2, which is only read. Source: E-READ-4. */
export function manifestV2JsonSchema(): JsonSchema {
	const about = 'An archived manifest: read by `bailiff validate-archived-v2`, never written, never taken for fresh evidence. Any byte form is allowed.';
	return published(manifestV2Schema, {id: 'evidence-manifest:v2', title: 'evidence-manifest/v2', about, descriptions: archiveDescriptions});
}

/** The published JSON Schema of evidence-manifest/v1, which is only read. Source: E-READ-4. */
export function manifestV1JsonSchema(): JsonSchema {
	const about = 'An archived manifest: read by `bailiff validate-legacy`, never written, never taken for fresh evidence. Any byte form is allowed.';
	return published(manifestV1Schema, {id: 'evidence-manifest:v1', title: 'evidence-manifest/v1', about, descriptions: archiveDescriptions});
}

/** The published JSON Schema of one line of ledger.jsonl. Source: E-LED-1. */
export function ledgerLineJsonSchema(): JsonSchema {
	const about = 'One line of the ledger of attempts: canonical JSON, chained by digests from the first line on.';
	return published(ledgerLineSchema, {id: 'evidence-ledger-line:v3', title: 'One line of ledger.jsonl', about, descriptions: ledgerDescriptions});
}

/** The published JSON Schema of bailiff-report/v1. Source: E-VIEW-1. */
export function reportJsonSchema(): JsonSchema {
	const about = 'One run as `bailiff evidence report --format json` shows it. A view that proves nothing: the manifest is the evidence.';
	return published(reportSchema, {id: 'bailiff-report:v1', title: 'bailiff-report/v1', about, descriptions: {...manifestDescriptions, ...reportDescriptions}});
}

type Publication = {readonly id: string; readonly title: string; readonly about: string; readonly descriptions: Readonly<Record<string, string>>};

function published(schema: z.core.$ZodType, publication: Publication): JsonSchema {
	const made = z.toJSONSchema(schema, {
		override: ({zodSchema, jsonSchema}) => {
			Object.assign(jsonSchema, refinements.get(zodSchema) ?? {});
		},
	});
	const {$schema, ...rest} = described(z.record(z.string(), z.json()).parse(made), publication.descriptions);
	return {$schema: $schema ?? null, $id: `urn:bailiff:${publication.id}`, title: publication.title, description: publication.about, ...rest};
}

/** The same schema with a description at each property that has one. */
function described(schema: JsonSchema, descriptions: Publication['descriptions']): JsonSchema {
	const walked = Object.entries(schema).map(([key, member]): [string, JsonValue] => [
		key,
		key === 'properties' ? describedProperties(member, descriptions) : describedAny(member, descriptions),
	]);
	return Object.fromEntries(walked);
}

function describedAny(value: JsonValue, descriptions: Publication['descriptions']): JsonValue {
	if (isList(value)) {
		return value.map(item => describedAny(item, descriptions));
	}

	return isObject(value) ? described(value, descriptions) : value;
}

function describedProperties(properties: JsonValue, descriptions: Publication['descriptions']): JsonValue {
	if (!isObject(properties)) {
		return properties;
	}

	const walked = Object.entries(properties).map(([key, member]): [string, JsonValue] => {
		const text = Object.hasOwn(descriptions, key) ? descriptions[key] : undefined;
		const inner = isObject(member) ? described(member, descriptions) : member;
		return [key, text === undefined || !isObject(inner) ? inner : {description: text, ...inner}];
	});
	return Object.fromEntries(walked);
}

function isObject(value: JsonValue): value is JsonSchema {
	return typeof value === 'object' && value !== null && !isList(value);
}

function isList(value: JsonValue): value is readonly JsonValue[] {
	return Array.isArray(value);
}
