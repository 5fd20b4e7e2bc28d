import {readdirSync, readFileSync} from 'node:fs';
import {Ajv2020, type ValidateFunction} from 'ajv/dist/2020.js';
import test from 'ava';
import * as fc from 'fast-check';
import {canonicalJson} from '../../core/canonical-json.ts';
import type {JsonValue} from '../../core/errors.ts';
import {parseStrictJson} from '../../core/strict-json.ts';
import {type JsonSchema, ledgerLineJsonSchema, manifestJsonSchema, planJsonSchema} from '../../evidence/json-schema.ts';
import {ledgerLineSchema} from '../../evidence/ledger-schema.ts';
import {manifestSchema} from '../../evidence/manifest-schema.ts';
import {planSchema} from '../../evidence/plan-schema.ts';
import {exampleDirectory, exampleManifest} from '../helpers/example-run.ts';

function compile(schema: JsonSchema): ValidateFunction {
	return new Ajv2020({strict: false, allErrors: false}).compile(schema);
}

const validatePlan = compile(planJsonSchema());
const validateManifest = compile(manifestJsonSchema());
const validateLine = compile(ledgerLineJsonSchema());
const vectors = 'test/vectors/plans/';
const lines = readFileSync(`${exampleDirectory}/ledger.jsonl`, 'utf8').trimEnd().split('\n');
const read = (text: string | Uint8Array): JsonValue => parseStrictJson(Buffer.from(text), {maxBytes: 2_000_000, maxDepth: 32, anyNumber: true});

for (const [title, schema, id] of [
	['plan', planJsonSchema, 'urn:bailiff:verification-plan:v3'],
	['manifest', manifestJsonSchema, 'urn:bailiff:evidence-manifest:v3'],
	['ledger line', ledgerLineJsonSchema, 'urn:bailiff:evidence-ledger-line:v3'],
] as const) {
	test(`the schema of the ${title} says what it is and comes out the same every time`, t => {
		const first = schema();
		t.is(first['$schema'], 'https://json-schema.org/draft/2020-12/schema');
		t.is(first['$id'], id);
		t.is(typeof first['title'], 'string');
		t.is(typeof first['description'], 'string');
		t.is(canonicalJson(first), canonicalJson(schema()));
		t.regex(canonicalJson(first), /"properties":\{.*"description":/);
	});
}

test('zod and ajv agree on every plan of the vectors that is JSON at all', t => {
	let compared = 0;
	for (const name of readdirSync(vectors)) {
		let value: JsonValue;
		try {
			value = read(readFileSync(vectors + name));
		} catch {
			continue;
		}

		const isGood = planSchema.safeParse(value).success;
		// Unique ids are beyond JSON Schema, and the parser alone sees how a number is written.
		t.is(validatePlan(value), isGood || name === 'bad-duplicate-id.json', name);
		compared++;
	}

	t.true(compared > 25);
});

test('zod and ajv accept the frozen run', t => {
	t.true(validateManifest(exampleManifest()));
	for (const line of lines) {
		t.true(ledgerLineSchema.safeParse(read(line)).success);
		t.true(validateLine(read(line)));
	}
});

const command = {id: 'unit', argv: ['true'], timeout_seconds: 5, max_output_bytes: 100};
const plan = {
	schema: 'verification-plan/v3',
	owner: 'acme',
	repository: 'widget',
	issue: 7,
	source_sha: '0123456789abcdef0123456789abcdef01234567',
	commands: [command],
};
const names = [
	'a',
	'.',
	'..',
	'-a',
	'.a',
	'a.lock',
	'a/b',
	'',
	'a\u0000',
	'a\nb',
	'a\u2028.lock',
	'.staging-x',
	'ä',
	'aä',
	'x'.repeat(240),
	'x'.repeat(241),
	'a\u007f',
	'...',
	'0',
	'ledger.jsonl',
];

for (const [index, name] of names.entries()) {
	test(`zod and ajv agree on the name ${index} ${JSON.stringify(name.slice(0, 12))}`, t => {
		const [line] = lines;
		for (const [schema, validate, value] of [
			[planSchema, validatePlan, {...plan, owner: name}],
			[planSchema, validatePlan, {...plan, repository: name}],
			[planSchema, validatePlan, {...plan, path: name}],
			[planSchema, validatePlan, {...plan, path: `/${name}:/${name}`}],
			[planSchema, validatePlan, {...plan, commands: [{...command, cwd: name}]}],
			[planSchema, validatePlan, {...plan, commands: [{...command, cwd: `b/${name}`}]}],
			[planSchema, validatePlan, {...plan, commands: [{...command, id: name}]}],
			[planSchema, validatePlan, {...plan, commands: [{...command, argv: [name]}]}],
			[planSchema, validatePlan, {...plan, commands: [{...command, argv: ['a', name]}]}],
			[planSchema, validatePlan, {...plan, commands: [{...command, env: {[name === '' ? 'A' : name]: name}}]}],
			[ledgerLineSchema, validateLine, {...Object(read(line ?? '')), run_id: name}],
		] as const) {
			t.is(validate(value), schema.safeParse(value).success, JSON.stringify(value));
		}
	});
}

for (const [title, change] of [
	['PATH in env', {env: {PATH: '/bin'}}],
	['red without a code', {purpose: 'red'}],
	['red that expects 0', {purpose: 'red', expected_exit_code: 0}],
	['red that expects 1', {purpose: 'red', expected_exit_code: 1}],
	['green that expects 0', {purpose: 'green', expected_exit_code: 0}],
	['no arguments', {argv: []}],
	['a limit of 0', {limits: {processes: 0}}],
] as const) {
	test(`zod and ajv agree on ${title}`, t => {
		const value = {...plan, commands: [{...command, ...change}]};
		t.is(validatePlan(value), planSchema.safeParse(value).success);
	});
}

type Place = {readonly holder: Record<string, unknown>; readonly key: string};

/** Every member of a JSON value, at any depth. */
function placesOf(value: unknown): Place[] {
	if (typeof value !== 'object' || value === null) {
		return [];
	}

	const holder = value as Record<string, unknown>;
	return Object.keys(holder).flatMap(key => [{holder, key}, ...placesOf(holder[key])]);
}

const odd = fc.oneof(
	fc.constantFrom<unknown>(
		null,
		true,
		0,
		1,
		-1,
		1.5,
		255,
		256,
		3600,
		3601,
		1_048_577,
		2 ** 53,
		'',
		'.',
		'..',
		'a/b',
		'/a',
		'a\u0000',
		'x'.repeat(129),
		[],
		{},
		['', 'a'],
		'red',
		'required',
		'SIGKILL',
		'SIGRTMIN+31',
		'ENOENT',
	),
	fc.string({maxLength: 6}),
	fc.integer(),
);

/** Only unique ids and the byte length of names are beyond JSON Schema. */
function isSayable(value: unknown): boolean {
	const ids = placesOf(value)
		.filter(place => place.key === 'id')
		.map(place => place.holder['id']);
	return new Set(ids).size === ids.length;
}

for (const [title, schema, validate, sample] of [
	[
		'plan',
		planSchema,
		validatePlan,
		(): unknown =>
			structuredClone({
				...plan,
				path: '/bin',
				sandbox: {mode: 'off', filesystem: {read: ['a'], deny: ['/a']}, require: ['pid']},
				limits: {processes: 3},
				commands: [
					{...command, env: {A: 'b'}, cwd: 'a', purpose: 'red', expected_exit_code: 2},
					{...command, id: 'b'},
				],
			}),
	],
	['manifest', manifestSchema, validateManifest, (): unknown => structuredClone(exampleManifest())],
	['ledger line', ledgerLineSchema, validateLine, (): unknown => JSON.parse(lines[1] ?? '')],
] as const) {
	test(`zod and ajv agree on a ${title} with anything changed, added or removed`, t => {
		let refused = 0;
		fc.assert(
			fc.property(fc.nat(), odd, fc.constantFrom('change', 'remove', 'add'), (pick, value, how) => {
				const mutated = sample();
				const places = placesOf(mutated);
				const place = places[pick % places.length];
				if (place === undefined) {
					return;
				}

				if (how === 'remove' && !Array.isArray(place.holder)) {
					delete place.holder[place.key];
				} else if (how === 'add' && !Array.isArray(place.holder)) {
					place.holder['added'] = value;
				} else {
					place.holder[place.key] = value;
				}

				fc.pre(title !== 'plan' || isSayable(mutated));
				const isGood = schema.safeParse(mutated).success;
				refused += isGood ? 0 : 1;
				t.is(validate(mutated), isGood, JSON.stringify(mutated));
			}),
			{numRuns: 1000},
		);
		t.true(refused > 100);
	});
}
