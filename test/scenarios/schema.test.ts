import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {Ajv2020} from 'ajv/dist/2020.js';
import test from 'ava';
import {ledgerLineJsonSchema, manifestJsonSchema, planJsonSchema, reportJsonSchema} from '../../evidence/json-schema.ts';
import {exampleDirectory, exampleManifest} from '../helpers/example-run.ts';
import {runCli} from '../helpers/run-cli.ts';

for (const [argv, schema] of [
	[['plan', 'schema'], planJsonSchema()],
	[['evidence', 'schema'], manifestJsonSchema()],
	[['evidence', 'schema', '--document', 'ledger-line'], ledgerLineJsonSchema()],
	[['evidence', 'schema', '--document', 'report'], reportJsonSchema()],
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

test('an unknown document is wrong use', async t => {
	t.is((await runCli(['evidence', 'schema', '--document', 'trace'])).exitCode, 2);
});
