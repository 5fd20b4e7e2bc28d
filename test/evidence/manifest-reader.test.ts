import {readFileSync} from 'node:fs';
import test, {type ExecutionContext} from 'ava';
import {canonicalFile} from '../../core/canonical-json.ts';
import {type ValidateAnswer, validateRun} from '../../evidence/index.ts';
import {example, exampleManifest, exampleSource, RunCopy} from '../helpers/example-run.ts';

function copyOf(t: ExecutionContext): RunCopy {
	const copy = new RunCopy();
	t.teardown(() => {
		copy.remove();
	});
	return copy;
}

function validate(copy: RunCopy): Promise<ValidateAnswer> {
	return validateRun({verificationDir: copy.verification, target: example.target, runId: example.runId, source: exampleSource});
}

const documents: ReadonlyArray<{title: string; bytes: (text: string) => string | Buffer; code: string}> = [
	{title: 'a duplicate key', bytes: text => text.replace('"stop":null', '"stop":null,"stop":null'), code: 'CORE_JSON_DUPLICATE_KEY'},
	{title: 'a duplicate key through an escape', bytes: text => text.replace('"stop":null', '"stop":null,"st\\u006fp":null'), code: 'CORE_JSON_DUPLICATE_KEY'},
	{title: 'a key in another case', bytes: text => text.replace('"stop":null', '"Stop":null'), code: 'EVIDENCE_UNKNOWN_KEY'},
	{title: '__proto__ as a key', bytes: text => text.replace('"stop":null', '"__proto__":null,"stop":null'), code: 'CORE_JSON_PROTO_KEY'},
	{title: 'constructor as a key', bytes: text => text.replace('"environment"', '"constructor":null,"environment"'), code: 'EVIDENCE_UNKNOWN_KEY'},
	{title: 'a lone surrogate', bytes: text => text.replace('"acme"', '"\\ud800"'), code: 'CORE_JSON_LONE_SURROGATE'},
	{title: 'a fraction', bytes: text => text.replace('"issue":7', '"issue":7.0'), code: 'CORE_JSON_NUMBER_FORM'},
	{title: 'minus zero', bytes: text => text.replace('"escaped":0', '"escaped":-0'), code: 'CORE_JSON_NUMBER_FORM'},
	{
		title: 'an exponent where a fraction is allowed',
		bytes: text => text.replace('"timeout_seconds":60', '"timeout_seconds":6e1'),
		code: 'EVIDENCE_NOT_CANONICAL',
	},
	{title: 'a number beyond every double', bytes: text => text.replace('"timeout_seconds":60', '"timeout_seconds":1e400'), code: 'CORE_JSON_NUMBER_RANGE'},
	{title: 'a number that a double rounds', bytes: text => text.replace('"issue":7', '"issue":9007199254740993'), code: 'CORE_JSON_NUMBER_RANGE'},
	{title: 'a byte order mark', bytes: text => `\ufeff${text}`, code: 'CORE_JSON_BOM'},
	{title: 'a second line feed', bytes: text => `${text}\n`, code: 'EVIDENCE_NOT_CANONICAL'},
	{title: 'no line feed', bytes: text => text.trimEnd(), code: 'EVIDENCE_NOT_CANONICAL'},
	{title: 'a carriage return', bytes: text => text.replace('\n', '\r\n'), code: 'EVIDENCE_NOT_CANONICAL'},
	{title: 'a second value', bytes: text => `${text}{}`, code: 'CORE_JSON_TRAILING_BYTES'},
	{title: 'a NUL after the value', bytes: text => `${text}\0`, code: 'CORE_JSON_TRAILING_BYTES'},
	{title: 'invalid UTF-8', bytes: text => Buffer.concat([Buffer.from(text), Buffer.from([0xff])]), code: 'CORE_JSON_UTF8'},
	{title: 'containers nested 100,000 deep', bytes: () => '['.repeat(100_000), code: 'CORE_JSON_DEPTH'},
	{
		title: 'keys in another order',
		bytes: text => text.replace('{"claims"', '{"target":0,"claims"').replace(/,"target":\{[^}]*\}/, ''),
		code: 'EVIDENCE_NOT_CANONICAL',
	},
	{title: 'an escape that is not needed', bytes: text => text.replace('/usr/bin/sh', '\\/usr/bin/sh'), code: 'EVIDENCE_NOT_CANONICAL'},
	{
		title: 'an upper-case digest',
		bytes: text => text.replace(/"sha256":"[0-9a-f]{64}"/, found => `"sha256":${found.slice(9).toUpperCase()}`),
		code: 'EVIDENCE_SCHEMA',
	},
	{title: 'another name for the digest', bytes: text => text.replaceAll('"rules_sha256"', '"rules_sha512"'), code: 'EVIDENCE_MISSING_KEY'},
	{
		title: 'no executed command but a pass',
		bytes: text => text.replace(/"commands":\[.*\],"environment"/, '"commands":[],"environment"'),
		code: 'EVIDENCE_CLAIM_COUNT',
	},
	{title: 'a path with a parent', bytes: text => text.replace('"output/000.log"', '"../output/000.log"'), code: 'EVIDENCE_SCHEMA'},
	{title: 'an absolute path', bytes: text => text.replace('"output/000.log"', '"/output/000.log"'), code: 'EVIDENCE_SCHEMA'},
	{title: 'a path in a home', bytes: text => text.replace('"output/000.log"', '"~/000.log"'), code: 'EVIDENCE_SCHEMA'},
	{title: 'a backslash in a path', bytes: text => text.replace('"output/000.log"', '"output\\\\000.log"'), code: 'EVIDENCE_SCHEMA'},
	{title: 'a drive in a path', bytes: text => text.replace('"output/000.log"', '"c:000.log"'), code: 'EVIDENCE_SCHEMA'},
	{title: 'a NUL in a path', bytes: text => text.replace('"output/000.log"', '"output/000.log\\u0000"'), code: 'EVIDENCE_SCHEMA'},
	{title: 'a percent-encoded path', bytes: text => text.replace('"output/000.log"', '"%2e%2e/000.log"'), code: 'EVIDENCE_SCHEMA'},
	{title: 'a path with an empty component', bytes: text => text.replace('"output/000.log"', '"output//000.log"'), code: 'EVIDENCE_SCHEMA'},
	{title: 'a hidden component in a path', bytes: text => text.replace('"output/000.log"', '"output/.000.log"'), code: 'EVIDENCE_SCHEMA'},
	{title: 'an upper-case path', bytes: text => text.replace('"output/000.log"', '"output/000.LOG"'), code: 'EVIDENCE_SCHEMA'},
	{title: 'an older version', bytes: text => text.replace('evidence-manifest/v3', 'evidence-manifest/v2'), code: 'EVIDENCE_VERSION'},
	{title: 'null', bytes: () => 'null\n', code: 'EVIDENCE_SCHEMA'},
	{title: 'a string', bytes: () => '"x"\n', code: 'EVIDENCE_SCHEMA'},
	{title: 'an empty file', bytes: () => '', code: 'CORE_JSON_EMPTY'},
	{title: 'an unknown word of status', bytes: text => text.replace('"completed"', '"finished"'), code: 'EVIDENCE_SCHEMA'},
	{title: 'a boolean in place of a number', bytes: text => text.replace('"issue":7', '"issue":true'), code: 'EVIDENCE_SCHEMA'},
];

for (const {title, bytes, code} of documents) {
	test(`validateRun() refuses a manifest with ${title}`, async t => {
		const copy = copyOf(t);
		const before = readFileSync(copy.path('manifest.json'), 'utf8');
		const after = bytes(before);
		t.notDeepEqual(Buffer.from(after), Buffer.from(before));
		copy.write('manifest.json', after);
		const answer = await validate(copy);
		t.is(answer.verdict, 'invalid');
		t.true(
			answer.problems.some(problem => problem.code === code),
			JSON.stringify(answer.problems),
		);
	});
}

test('validateRun() meets a manifest of millions of wrong values with a bounded list', async t => {
	const copy = copyOf(t);
	copy.write('manifest.json', canonicalFile({...exampleManifest(), commands: Array.from({length: 2_000_000}, () => 1)}));
	t.deepEqual(
		(await validate(copy)).problems.slice(0, 1).map(({code, pointer}) => [code, pointer]),
		[['EVIDENCE_SCHEMA', '/commands']],
	);
	copy.write('manifest.json', canonicalFile({...exampleManifest(), commands: Array.from({length: 256}, () => ({argv: Array.from({length: 4096}, () => 1)}))}));
	const answer = await validate(copy);
	t.is(answer.problems.filter(problem => problem.path === 'manifest.json').length, 1000);
	t.is(answer.problems.at(-1)?.code, 'EVIDENCE_MORE_PROBLEMS');
});
