import {canonicalJson} from '../core/canonical-json.ts';
import type {JsonValue} from '../core/errors.ts';
import type {Manifest} from './manifest-schema.ts';

/** The media type of what is signed. Source: in-toto Attestation Framework, DSSE binding. */
export const statementPayloadType = 'application/vnd.in-toto+json';

/**
 * The bytes of the in-toto Statement v1 that a manifest gives, with the test-result predicate v0.1: RFC 8785, so that a verifier can make them again and
 * compare bytes instead of believing fields.
 *
 * Shape: subjects are the manifest (sha256) and the commit that was checked (gitCommit); the configuration is the plan. Commands that were executed
 * and passed are the passed tests, every other executed one is a failed test. Source: E-EXP-3, in-toto Statement v1, test-result v0.1.
 */
export function statementBytes(manifest: Manifest, manifestSha256: string): Buffer {
	const {owner, repository, issue} = manifest.target;
	const name = `${owner}/${repository}/issue-${issue}/${manifest.run_id}`;
	const idsOf = (isPassed: boolean): string[] => manifest.commands.filter(({passed}) => passed === isPassed).map(({id}) => id);
	const statement: JsonValue = {
		_type: 'https://in-toto.io/Statement/v1',
		subject: [
			{name: `${name}/manifest.json`, digest: {sha256: manifestSha256}},
			{name: `${owner}/${repository}`, digest: {gitCommit: manifest.source.sha}},
		],
		predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
		predicate: {
			result: manifest.result === 'passed' ? 'PASSED' : 'FAILED',
			configuration: [{name: `${name}/plan.json`, digest: {sha256: manifest.plan.sha256}}],
			passedTests: idsOf(true),
			warnedTests: [],
			failedTests: idsOf(false),
		},
	};
	return Buffer.from(canonicalJson(statement), 'utf8');
}
