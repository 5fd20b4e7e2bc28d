import test from 'ava';
import {buildClaims, claimPointers} from '../../evidence/claims.ts';
import {exampleManifest} from '../helpers/example-run.ts';

test('claimPointers() gives nine pointers into the command of that index', t => {
	t.deepEqual(claimPointers(12), {
		argv: '/commands/12/argv',
		cwd: '/commands/12/cwd',
		expected_exit_code: '/commands/12/expected_exit_code',
		exit_code: '/commands/12/exit_code',
		output_path: '/commands/12/output/path',
		output_sha256: '/commands/12/output/sha256',
		timeout_seconds: '/commands/12/timeout_seconds',
		execution_status: '/commands/12/execution_status',
		termination: '/commands/12/termination',
	});
});

test('buildClaims() gives the claims of the frozen run, one per executed command in their order', t => {
	const manifest = exampleManifest();
	t.deepEqual(buildClaims(manifest.commands), manifest.claims);
	t.deepEqual(buildClaims([]), []);
});
