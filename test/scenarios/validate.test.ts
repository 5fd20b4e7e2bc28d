import {randomBytes} from 'node:crypto';
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {makeRepository} from '../helpers/repository.ts';
import {runCli} from '../helpers/run-cli.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

test('nothing to validate is a no with a named problem, never a yes', async t => {
	const directory = temporaryDirectory(t);
	const root = path.join(directory, 'root');
	await runCli(['init', '--root', root]);
	const {path: checkout} = makeRepository(path.join(directory, 'checkout'), {a: 'b'});
	const argv = ['validate', '--root', root, '--repo-root', checkout, '--target', 'acme/widget#7', '--run', 'r1'];
	const plain = await runCli(argv);
	t.is(plain.exitCode, 1);
	t.regex(plain.stdout, /^invalid: the evidence of run r1 does not hold\n {2}EVIDENCE_/);
	const json = await runCli([...argv, '--json']);
	t.is(json.exitCode, 1);
	t.like(json.json(), {verdict: 'invalid', archived: false, result: null, attempts: null, manifest_sha256: null});
});

for (const [title, args, code, exitCode] of [
	['without a run', ['--target', 'acme/widget#7'], 'CLI_USAGE', 2],
	['without a target', ['--run', 'r1'], 'CLI_USAGE', 2],
	['with half a target', ['--run', 'r1', '--owner', 'acme'], 'CLI_USAGE', 2],
	['below a root that is none', ['--run', 'r1', '--target', 'acme/widget#7'], 'CACHE_ROOT_INVALID', 3],
] as const) {
	test(`validate ${title} is refused with ${code}`, async t => {
		const directory = temporaryDirectory(t);
		const argv = ['validate', '--root', directory, '--repo-root', directory, ...args];
		const plain = await runCli(argv);
		t.is(plain.exitCode, exitCode);
		t.regex(plain.stderr, new RegExp(`^bailiff: ${code}: `));
		t.like((await runCli([...argv, '--json'])).json(), {error: {code}});
	});
}

test('--require-layer refuses a run without a sandbox; --rescan looks for secrets in the stored outputs again', async t => {
	const directory = temporaryDirectory(t);
	const root = path.join(directory, 'root');
	await runCli(['init', '--root', root]);
	const {path: checkout, sha} = makeRepository(path.join(directory, 'checkout'), {a: 'b'});
	const plan = path.join(directory, 'plan.json');
	const command = {id: 'say', argv: ['printf', '%040d', '0'], timeout_seconds: 10, max_output_bytes: 1000};
	writeFileSync(
		plan,
		JSON.stringify({
			schema: 'verification-plan/v3',
			owner: 'acme',
			repository: 'widget',
			issue: 7,
			source_sha: sha,
			sandbox: {mode: 'off'},
			commands: [command],
		}),
	);
	const place = ['--root', root, '--repo-root', checkout];
	t.is((await runCli(['run', ...place, '--plan', plan, '--run-id', 'r1'])).exitCode, 0);
	const validate = ['validate', ...place, '--target', 'acme/widget#7', '--run', 'r1', '--json'];
	t.is((await runCli([...validate, '--rescan'])).json()['verdict'], 'valid-v3');
	const demanded = await runCli([...validate, '--require-layer', 'fs_write', '--require-layer', 'network']);
	t.is(demanded.exitCode, 1);
	t.is(demanded.json()['verdict'], 'valid-v3');
	t.regex(demanded.stdout, /EVIDENCE_LAYER_NOT_HELD/);
	t.is((await runCli([...validate, '--require-layer', 'walls'])).exitCode, 2);
	const token = `ghp_${randomBytes(18).toString('hex')}`;
	writeFileSync(path.join(root, 'repositories/acme/widget/worktrees/issue-7/verification/r1/output/000.log'), token);
	const codes = async (...more: string[]) => JSON.stringify((await runCli([...validate, ...more])).json()['problems']);
	t.notRegex(await codes(), /EVIDENCE_SECRET_FOUND/);
	const found = await codes('--rescan');
	t.regex(found, /EVIDENCE_SECRET_FOUND/);
	t.false(found.includes(token));
});
