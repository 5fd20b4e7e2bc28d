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
