import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {Ajv2020} from 'ajv/dist/2020.js';
import test from 'ava';
import {
	ledgerLineJsonSchema,
	manifestJsonSchema,
	manifestV1JsonSchema,
	manifestV2JsonSchema,
	planJsonSchema,
	reportJsonSchema,
} from '../../evidence/json-schema.ts';
import {corpusDirectory} from '../helpers/evidence-corpus.ts';
import {exampleDirectory, exampleManifest} from '../helpers/example-run.ts';
import {runCli} from '../helpers/run-cli.ts';

for (const [argv, schema] of [
	[['plan', 'schema'], planJsonSchema()],
	[['evidence', 'schema'], manifestJsonSchema()],
	[['evidence', 'schema', '--document', 'ledger-line'], ledgerLineJsonSchema()],
	[['evidence', 'schema', '--document', 'report'], reportJsonSchema()],
	[['evidence', 'schema', '--version', 'v2'], manifestV2JsonSchema()],
	[['evidence', 'schema', '--document', 'manifest', '--version', 'v1'], manifestV1JsonSchema()],
] as const) {
	test(`bailiff ${argv.join(' ')} prints the schema that the code uses, for people and on one line`, async t => {
		const plain = await runCli(argv);
		t.is(plain.exitCode, 0);
		t.deepEqual(JSON.parse(plain.stdout), schema);
		t.deepEqual((await runCli([...argv, '--json'])).json(), schema);
	});
}

test('another validator accepts by the printed schemas what bailiff accepts', async t => {
	const ajv = new Ajv2020({strict: false});
	const isPlan = ajv.compile(JSON.parse((await runCli(['plan', 'schema'])).stdout));
	const vectors = path.join('test', 'vectors', 'plans');
	for (const name of readdirSync(vectors).filter(file => file.startsWith('good-'))) {
		t.true(isPlan(JSON.parse(readFileSync(path.join(vectors, name), 'utf8'))), name);
	}

	t.false(isPlan({schema: 'verification-plan/v3'}));
	t.true(ajv.compile(JSON.parse((await runCli(['evidence', 'schema'])).stdout))(exampleManifest()));
	const isLine = ajv.compile(JSON.parse((await runCli(['evidence', 'schema', '--document', 'ledger-line'])).stdout));
	for (const line of readFileSync(path.join(exampleDirectory, 'ledger.jsonl'), 'utf8').trimEnd().split('\n')) {
		t.true(isLine(JSON.parse(line)));
	}
});

test('another validator accepts the archives of the corpus by the printed schemas, and no manifest of another version', async t => {
	const ajv = new Ajv2020({strict: false});
	const v1 = JSON.parse(readFileSync(path.join(corpusDirectory, 'bases/v1/r1/manifest.json'), 'utf8'));
	const v2 = JSON.parse(readFileSync(path.join(corpusDirectory, 'bases/v2/r2/manifest.json'), 'utf8'));
	const isV1 = ajv.compile(JSON.parse((await runCli(['evidence', 'schema', '--version', 'v1'])).stdout));
	const isV2 = ajv.compile(JSON.parse((await runCli(['evidence', 'schema', '--version', 'v2'])).stdout));
	t.deepEqual([isV1(v1), isV1(v2), isV1({...v1, result: 'passed'})], [true, false, false]);
	t.deepEqual([isV2(v2), isV2(v1), isV2({...v2, started_at: null}), isV2(exampleManifest())], [true, false, false, false]);
});

test('an archive has no ledger, and there is no other version', async t => {
	t.is((await runCli(['evidence', 'schema', '--document', 'ledger-line', '--version', 'v2'])).exitCode, 2);
	t.is((await runCli(['evidence', 'schema', '--version', 'v4'])).exitCode, 2);
});

test('an unknown document is wrong use', async t => {
	t.is((await runCli(['evidence', 'schema', '--document', 'trace'])).exitCode, 2);
});
