import test from 'ava';
import {statementBytes} from '../../evidence/statement.ts';
import {example, exampleManifest} from '../helpers/example-run.ts';

const digest = 'a'.repeat(64);

test('statementBytes() names manifest, commit, plan, and which commands passed', t => {
	const manifest = exampleManifest();
	t.deepEqual(JSON.parse(statementBytes(manifest, digest).toString()), {
		_type: 'https://in-toto.io/Statement/v1',
		subject: [
			{name: `acme/widget/issue-7/${example.runId}/manifest.json`, digest: {sha256: digest}},
			{name: 'acme/widget', digest: {gitCommit: example.sha}},
		],
		predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
		predicate: {
			result: 'FAILED',
			configuration: [{name: `acme/widget/issue-7/${example.runId}/plan.json`, digest: {sha256: manifest.plan.sha256}}],
			passedTests: ['unit'],
			warnedTests: [],
			failedTests: ['soak'],
		},
	});
});

test('statementBytes() is the same bytes for the same manifest, and others for another digest', t => {
	t.deepEqual(statementBytes(exampleManifest(), digest), statementBytes(exampleManifest(), digest));
	t.notDeepEqual(statementBytes(exampleManifest(), digest), statementBytes(exampleManifest(), 'b'.repeat(64)));
});
