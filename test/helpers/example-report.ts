import type {ExecutionContext} from 'ava';
import type {Manifest} from '../../evidence/manifest-schema.ts';
import {type RunReport, readReport} from '../../evidence/report/read-report.ts';
import {example, exampleManifest, RunCopy} from './example-run.ts';

/** The report of the frozen run, changed as a producer would have written it. */
export function exampleReport(
	t: ExecutionContext,
	change: (manifest: Manifest) => Manifest = manifest => manifest,
	spoil: (copy: RunCopy) => void = () => {},
): RunReport {
	const copy = new RunCopy();
	t.teardown(() => copy.remove());
	copy.rewrite(change(exampleManifest()));
	spoil(copy);
	return readReport({place: {verificationDir: copy.verification, target: example.target}, runId: example.runId, maxHalfBytes: 65_536});
}
