import {chmodSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {type Git, openGit, scrubGitText} from '../../cache/git-command.ts';
import type {BailiffError, ErrorCode} from '../../core/errors.ts';
import {makeRepository} from '../helpers/repository.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

test('openGit() finds git by an absolute path and tells its version', async t => {
	const git = await openGit();
	t.true(path.isAbsolute(git.path));
	t.regex(git.version, /^\d+\.\d+\.\d+$/);
});

/** A stand-in that answers `--version` and shows what it was called with. */
function fakeGit(t: ExecutionContext, script: string): string {
	const directory = temporaryDirectory(t);
	writeFileSync(path.join(directory, 'git'), `#!/bin/sh\n${script}\n`, {mode: 0o755});
	return directory;
}

test('openGit() looks neither in the working directory nor in relative entries of the search path', async t => {
	const error = await t.throwsAsync<BailiffError>(openGit({searchPath: ':.:bin:/nonexistent'}));
	t.is(error?.code, 'CACHE_GIT_MISSING');
});

test('openGit() passes over a directory and a file that nobody may execute', async t => {
	const first = temporaryDirectory(t);
	mkdirSync(path.join(first, 'git'));
	const second = fakeGit(t, 'exit 1');
	chmodSync(path.join(second, 'git'), 0o644);
	const third = fakeGit(t, 'echo git version 2.44.0');
	t.is((await openGit({searchPath: `${first}:${second}:${third}`})).path, path.join(third, 'git'));
});

const versions: ReadonlyArray<readonly [answer: string, isAccepted: boolean]> = [
	['git version 2.39.4', true],
	['git version 2.39.10', true],
	['git version 2.50.1 (Apple Git-155)', true],
	['git version 3.0.0', true],
	['git version 2.39.3', false],
	['git version 2.9.99', false],
	['git version 1.99.99', false],
	['something else', false],
];
for (const [answer, isAccepted] of versions) {
	test(`openGit() ${isAccepted ? 'accepts' : 'refuses'} ${answer}`, async t => {
		const opened = openGit({searchPath: fakeGit(t, `echo '${answer}'`)});
		if (isAccepted) {
			await t.notThrowsAsync(opened);
		} else {
			const error = await t.throwsAsync<BailiffError>(opened);
			t.is(error?.code, 'CACHE_GIT_VERSION');
		}
	});
}

const faults: ReadonlyArray<readonly [title: string, script: string, code: ErrorCode]> = [
	['an error of git', 'echo "fatal: no" >&2; exit 128', 'CACHE_GIT_FAILED'],
	['a death by signal', 'kill -9 $$', 'CACHE_GIT_FAILED'],
	['a flood', 'exec yes', 'CACHE_GIT_OUTPUT'],
	['a flood of errors', 'exec yes >&2', 'CACHE_GIT_OUTPUT'],
	['a git that hangs', 'exec sleep 1000', 'CACHE_GIT_TIMEOUT'],
];
for (const [title, script, code] of faults) {
	test(`run() refuses ${title} with ${code}`, async t => {
		const git = await openGit({searchPath: fakeGit(t, `case "$*" in *--version) echo git version 2.44.0; exit;; esac; ${script}`)});
		const error = await t.throwsAsync<BailiffError>(
			git.run({command: ['status'], gitDir: '/x', maxOutputBytes: 1000, timeoutMs: code === 'CACHE_GIT_TIMEOUT' ? 400 : 60_000}),
		);
		t.is(error?.code, code);
		t.is(error?.details['command'], 'git status');
	});
}

test('run() shows what git said without secrets', async t => {
	const git = await openGit({
		searchPath: fakeGit(
			t,
			'case "$*" in *--version) echo git version 2.44.0; exit;; esac; echo "fatal: https://me:hunter2hunter2@host/x tok3n-tok3n" >&2; exit 1',
		),
	});
	const error = await t.throwsAsync<BailiffError>(git.run({command: ['fetch'], gitDir: '/x', secrets: ['tok3n-tok3n']}));
	t.is(error?.message, 'git fetch ended with 1: fatal: https://[REDACTED]@host/x [REDACTED]');
	t.notRegex(JSON.stringify(error), /hunter2|tok3n/);
});

test('run() gives git an environment of its own, whatever this process has', async t => {
	process.env['GIT_DIR'] = '/nonexistent/planted';
	process.env['GIT_EXTERNAL_DIFF'] = '/bin/false';
	t.teardown(() => {
		delete process.env['GIT_DIR'];
		delete process.env['GIT_EXTERNAL_DIFF'];
	});
	const git = await openGit({searchPath: fakeGit(t, 'case "$*" in *--version) echo git version 2.44.0; exit;; esac; exec /usr/bin/env')});
	const {stdout} = await git.run({command: ['status'], gitDir: '/x', protocol: 'file'});
	const env = Object.fromEntries(
		stdout
			.toString()
			.trim()
			.split('\n')
			.map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
	);
	t.is(env['GIT_DIR'], undefined);
	t.is(env['GIT_EXTERNAL_DIFF'], undefined);
	t.is(env['GIT_CONFIG_GLOBAL'], '/dev/null');
	t.is(env['GIT_CONFIG_SYSTEM'], '/dev/null');
	t.is(env['GIT_NO_REPLACE_OBJECTS'], '1');
	t.is(env['GIT_OPTIONAL_LOCKS'], '0');
	t.is(env['GIT_TERMINAL_PROMPT'], '0');
	t.is(env['GIT_ALLOW_PROTOCOL'], 'file');
	t.is(env['HOME'], '/nonexistent');
	t.is(env['LC_ALL'], 'C');
});

test('run() hands the descriptor of a lock to git', async t => {
	const git = await openGit({searchPath: fakeGit(t, 'case "$*" in *--version) echo git version 2.44.0; exit;; esac; echo held >&3')});
	const file = path.join(temporaryDirectory(t), 'lock');
	const descriptor = openSync(file, 'w+', 0o600);
	await git.run({command: ['fetch'], gitDir: '/x', descriptors: [descriptor]});
	closeSync(descriptor);
	t.is(readFileSync(file, 'utf8'), 'held\n');
});

test('run() accepts the exit codes that are answers', async t => {
	const {path: checkout} = makeRepository(temporaryDirectory(t), {a: 'a\n'});
	const git = await openGit();
	const answer = await git.run({
		command: ['check-ignore', '--no-index', '-z', '--stdin'],
		gitDir: path.join(checkout, '.git'),
		workTree: checkout,
		input: Buffer.from('a\0'),
		acceptedExitCodes: [0, 1],
	});
	t.is(answer.exitCode, 1);
});

/** Programs that a repository can name, each of which leaves a canary when it is started. */
function plantPrograms(directory: string, canary: string): void {
	const evil = path.join(directory, '.git', 'evil');
	writeFileSync(evil, `#!/bin/sh\ntouch '${canary}'\nexit 0\n`, {mode: 0o755});
	const hooks = path.join(directory, '.git', 'hooks');
	mkdirSync(hooks, {recursive: true});
	for (const hook of ['post-index-change', 'post-checkout', 'reference-transaction', 'pre-push', 'fsmonitor-watchman', 'post-rewrite', 'pre-auto-gc']) {
		writeFileSync(path.join(hooks, hook), `#!/bin/sh\ntouch '${canary}'\n`, {mode: 0o755});
	}

	writeFileSync(path.join(directory, '.git', 'included'), `[core]\n\tfsmonitor = ${evil}\n[filter "evil"]\n\tclean = ${evil}\n`);
	writeFileSync(
		path.join(directory, '.git', 'config'),
		`[core]
	repositoryformatversion = 0
	fsmonitor = ${evil}
	hooksPath = ${hooks}
	pager = ${evil}
	editor = ${evil}
	sshCommand = ${evil}
	askPass = ${evil}
	gitProxy = ${evil}
	alternateRefsCommand = ${evil}
	attributesFile = ${path.join(directory, '.git', 'attributes')}
	useReplaceRefs = true
[include]
	path = included
[alias]
	ls-files = !${evil}
	cat-file = !${evil}
	status = !${evil}
[pager]
	ls-files = ${evil}
	cat-file = ${evil}
	config = ${evil}
[diff]
	external = ${evil}
[diff "evil"]
	textconv = ${evil}
	command = ${evil}
[filter "evil"]
	clean = ${evil}
	smudge = ${evil}
	process = ${evil}
	required = true
[credential]
	helper = !${evil}
[hook "evil"]
	event = post-index-change
	command = ${evil}
[trace2]
	eventTarget = ${canary}
[gpg]
	program = ${evil}
[interactive]
	diffFilter = ${evil}
[remote "origin"]
	url = ext::${evil}
	promisor = true
	partialclonefilter = blob:none
`,
	);
	writeFileSync(path.join(directory, '.git', 'attributes'), '* filter=evil diff=evil\n');
	mkdirSync(path.join(directory, '.git', 'info'), {recursive: true});
	writeFileSync(path.join(directory, '.git', 'info', 'attributes'), '* filter=evil diff=evil\n');
}

async function runReaders(git: Git, checkout: string): Promise<void> {
	const place = {gitDir: path.join(checkout, '.git'), workTree: checkout};
	const acceptedExitCodes = [0, 1, 128];
	await git.run({...place, command: ['ls-files', '--stage', '-z'], acceptedExitCodes});
	await git.run({...place, command: ['ls-tree', '-r', '-t', '-z', 'HEAD'], acceptedExitCodes});
	await git.run({...place, command: ['cat-file', '--batch'], input: Buffer.from(`HEAD\n${'1'.repeat(40)}\n`), acceptedExitCodes});
	await git.run({...place, command: ['check-attr', '--cached', '-z', '--stdin', 'filter'], input: Buffer.from('a\0'), acceptedExitCodes});
	await git.run({...place, command: ['check-ignore', '--no-index', '-v', '-z', '--stdin'], input: Buffer.from('./a\0'), acceptedExitCodes});
	await git.run({command: ['config', '--file', `${place.gitDir}/config`, '--no-includes', '-z', '--list'], gitDir: '/nonexistent/git', acceptedExitCodes});
	await git.run({...place, command: ['ls-remote', 'origin'], acceptedExitCodes});
}

test('run() starts nothing that a repository plants', async t => {
	const {path: checkout, git: plainGit} = makeRepository(temporaryDirectory(t), {a: 'a\n'});
	const canary = path.join(temporaryDirectory(t), 'canary');
	plantPrograms(checkout, canary);
	writeFileSync(path.join(checkout, 'a'), 'b\n');
	await runReaders(await openGit(), checkout);
	t.false(existsSync(canary));
	// The traps are live: git as people use it walks into them.
	t.true(isSprung(() => plainGit('-C', checkout, 'diff', '--stat'), canary));
});

function isSprung(action: () => void, canary: string): boolean {
	try {
		action();
	} catch {
		// It may fail as well; what counts is the canary.
	}

	return existsSync(canary);
}

const scrubbed: ReadonlyArray<readonly [text: string, secrets: readonly string[], expected: string]> = [
	['fatal: x\n\n  y\n', [], 'fatal: x; y'],
	['remote: \u001b[31mred\u0007 \u202eend', [], 'remote: [31mred end'],
	['https://user:pa55@host/a and ssh://git@host:22/b', [], 'https://[REDACTED]@host/a and ssh://[REDACTED]@host:22/b'],
	['a b/c+d e', ['b/c+d'], 'a [REDACTED] e'],
	['a b%2Fc%2Bd e', ['b/c+d'], 'a [REDACTED] e'],
	[`x ${Buffer.from('login:s3cr3t').toString('base64')} y`, ['login:s3cr3t'], 'x [REDACTED] y'],
	['x'.repeat(3000), [], `${'x'.repeat(2000)}…`],
	['nothing', [''], 'nothing'],
];
for (const [text, secrets, expected] of scrubbed) {
	test(`scrubGitText() turns ${encodeURI(text.slice(0, 50))} into what may be shown`, t => {
		t.is(scrubGitText(text, secrets), expected);
	});
}
