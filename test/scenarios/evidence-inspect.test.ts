import {execFileSync} from 'node:child_process';
import {chmodSync, cpSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {CorpusGround, cloneCorpusSource, corpusDirectory} from '../helpers/evidence-corpus.ts';
import {type CliResult, runCli} from '../helpers/run-cli.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

type Gap = {readonly item: string; readonly reason: string};

function groundOf(t: ExecutionContext): {readonly ground: CorpusGround; readonly directory: string; readonly flags: readonly string[]} {
	const directory = temporaryDirectory(t);
	const ground = new CorpusGround(directory, 'v3', cloneCorpusSource(directory));
	return {ground, directory, flags: ['--root', ground.root, '--target', 'acme/widget#7', '--run', ground.runId]};
}

function inspect(flags: readonly string[], ...more: readonly string[]): Promise<CliResult> {
	return runCli(['evidence', 'inspect', ...flags, ...more, '--json']);
}

function gapsOf(result: CliResult): string[] {
	return (result.json()['evidence_gap'] as Gap[]).map(({item}) => item);
}

test('a git bundle, an export in both forms and a bare repository each bind the whole source; only the head of the pull request is missing', async t => {
	const {ground, directory, flags} = groundOf(t);
	const mirror = path.join(directory, 'mirror.git');
	execFileSync('git', ['clone', '-q', '--bare', ground.checkout, mirror], {stdio: 'ignore'});
	for (const name of ['evidence.tar', 'evidence']) {
		await runCli(['evidence', 'export', ...flags, '--repo-root', ground.checkout, '--output', path.join(directory, name)]);
	}

	rmSync(ground.checkout, {recursive: true});
	for (const choice of [
		['--bundle', path.join(corpusDirectory, 'source.bundle')],
		['--bundle', path.join(directory, 'evidence.tar')],
		['--bundle', path.join(directory, 'evidence')],
		['--mirror', mirror],
	]) {
		const result = await inspect(flags, ...choice);
		t.is(result.exitCode, 1, 'a gap is no yes');
		t.like(result.json(), {verdict: 'evidence-gap', result: 'passed', problems: []}, result.stdout);
		t.deepEqual(gapsOf(result), ['pull_request.head']);
	}
});

test('the mirror of the root is taken, and without one the source that came with a received run', async t => {
	const {ground, directory, flags} = groundOf(t);
	t.true(gapsOf(await inspect(flags)).includes('source.commit'));
	const bundle = path.join(directory, 'evidence.tar');
	await runCli(['evidence', 'export', ...flags, '--repo-root', ground.checkout, '--output', bundle]);
	const sha256 = execFileSync('sha256sum', [bundle], {encoding: 'utf8'}).slice(0, 64);
	const reviewer = path.join(directory, 'reviewer');
	await runCli(['init', '--root', reviewer]);
	await runCli(['evidence', 'receive', '--root', reviewer, '--bundle', bundle, '--expected-sha256', sha256]);
	t.deepEqual(gapsOf(await inspect(['--root', reviewer, ...flags.slice(2)])), ['pull_request.head']);

	const repository = path.join(ground.root, 'repositories/acme/widget');
	mkdirSync(path.join(repository, 'locks'), {mode: 0o700});
	execFileSync('git', ['clone', '-q', '--bare', ground.checkout, path.join(repository, 'repository.git')], {stdio: 'ignore'});
	t.deepEqual(gapsOf(await inspect(flags)), ['pull_request.head']);
	chmodSync(repository, 0o755);
	const untrusted = await inspect(flags);
	t.is(untrusted.json()['verdict'], 'invalid');
});

test('a source that is none is a gap with its reason, at once', async t => {
	const {directory, flags} = groundOf(t);
	const place = path.join(directory, 'hostile');
	const hostile: ReadonlyArray<readonly [reason: RegExp, make: () => void]> = [
		[/CORE_FILE_UNREADABLE/, () => undefined],
		[/CORE_FILE_NOT_REGULAR/, () => execFileSync('mkfifo', [place])],
		[/CORE_FILE_UNTRUSTED/, () => symlinkSync(path.resolve(corpusDirectory, 'source.bundle'), place)],
		[/CACHE_GIT_FAILED/, () => writeFileSync(place, '# v2 git bundle\n\n')],
		[/CACHE_OBJECT_INVALID/, () => writeFileSync(place, 'PACK')],
		[/EVIDENCE_BUNDLE_INVALID/, () => writeFileSync(place, 'something else')],
		[
			/CORE_FILE_TOO_LARGE/,
			() => {
				writeFileSync(place, '');
				truncateSync(place, 2 ** 40);
			},
		],
	];
	for (const [reason, make] of hostile) {
		make();
		const result = await inspect(flags, '--bundle', place);
		const [gap] = result.json()['evidence_gap'] as Gap[];
		t.is(gap?.item, 'source.commit');
		t.regex(gap?.reason ?? '', reason);
		t.is(result.exitCode, 1);
		rmSync(place, {force: true});
	}
});

test('the text names each bound item and each gap; two sources are wrong use', async t => {
	const {flags} = groundOf(t);
	const {stdout, exitCode} = await runCli(['evidence', 'inspect', ...flags, '--bundle', path.join(corpusDirectory, 'source.bundle')]);
	t.is(exitCode, 1);
	t.regex(stdout, /^evidence-gap: nothing is wrong, and not everything could be bound; the run passed\n/);
	t.regex(stdout, /\n {2}bound {9}source\.commit\n/);
	t.regex(stdout, /\n {2}evidence gap {2}pull_request\.head: no provider was asked/);
	t.is((await inspect(flags, '--bundle', 'a', '--mirror', 'b')).exitCode, 2);
});

test('a bundle of another history does not bind the source', async t => {
	const {ground, directory, flags} = groundOf(t);
	const other = path.join(directory, 'other');
	cpSync(ground.checkout, other, {recursive: true});
	const git = (...args: string[]): Buffer => execFileSync('git', ['-C', other, '-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args]);
	git('checkout', '-q', '--orphan', 'fresh');
	git('commit', '-q', '-m', 'other');
	git('bundle', 'create', '-q', path.join(directory, 'other.bundle'), 'fresh');
	t.deepEqual(gapsOf(await inspect(flags, '--bundle', path.join(directory, 'other.bundle')))[0], 'source.commit');
});
