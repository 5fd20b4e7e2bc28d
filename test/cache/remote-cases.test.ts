import {execFileSync} from 'node:child_process';
import {chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {type Authority, bootstrapMirror, type MirrorRequest, mirrorStatus, openGit, syncMirror} from '../../cache/index.ts';
import type {ErrorCode} from '../../core/errors.ts';
import {type MirrorGround, mirroredGround, mirrorGround, refusedSync} from '../helpers/mirror-ground.ts';

// What remotes do: they move, are renamed, are empty, shallow, of another kind, or send what nobody should take.

const push = (ground: MirrorGround, ...refs: string[]): string => ground.source.git('push', '-q', '--force', ground.gitDir, ...refs);
const bare = (ground: MirrorGround, ...args: string[]): string => ground.source.git('--git-dir', ground.gitDir, ...args);

/** The request with some answers of the authority changed. */
function through(ground: MirrorGround, change: Partial<Authority>): MirrorRequest {
	return {...ground.request, openAuthority: async () => ({profile: ground.profile, authority: {...ground.authority, ...change}})};
}

function editRepositoryRecord(ground: MirrorGround, from: string | RegExp, to: string): void {
	const file = path.join(ground.directory, 'acme/widget/repository.json');
	const text = readFileSync(file, 'utf8');
	writeFileSync(file, text.replace(from, to));
}

test('a branch becomes a directory of branches and back (case 11)', async t => {
	const ground = await mirroredGround(t);
	for (const [gone, next] of [
		['refs/heads/other', 'refs/heads/a'],
		['refs/heads/a', 'refs/heads/a/b'],
		['refs/heads/a/b', 'refs/heads/a'],
	] as const) {
		push(ground, `:${gone}`, `HEAD:refs/heads/spare`);
		push(ground, `HEAD:${next}`);
		const report = await syncMirror(ground.request);
		t.is(report.status, 'ok', JSON.stringify(report.error));
	}
});

test('hidden refs, refs that differ only in case and hostile names are mirrored as they are (cases 13 and 14)', async t => {
	const ground = await mirroredGround(t);
	const names = [
		'refs/pull/1/head',
		'refs/heads/Readme',
		'refs/heads/readme',
		`refs/heads/${'a'.repeat(40)}`,
		'refs/heads/HEAD',
		'refs/tags/main',
		'refs/heads/a;b$(c)',
		'refs/heads/ü',
	];
	push(ground, ...names.map(name => `HEAD:${name}`));
	const report = await syncMirror(ground.request);
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.is(report.cache.refs, names.length + 1);
	t.is(report.default_branch.local_sha, ground.source.sha);
});

test('another repository took the name (case 15)', async t => {
	const ground = await mirroredGround(t);
	editRepositoryRecord(ground, /"id": *\d+/, '"id": 4711');
	await refusedSync(t, ground, 'CACHE_REPOSITORY_REPLACED');
	const status = await mirrorStatus(ground.request);
	t.true(status.problems.some(({code}) => code === 'CACHE_REPOSITORY_REPLACED'));
});

for (const [fullName, code] of [
	['acme/gadget', 'CACHE_REPOSITORY_MOVED'],
	['Acme/Widget', 'CACHE_IDENTITY_CASE'],
] as const satisfies ReadonlyArray<readonly [string, ErrorCode]>) {
	test(`an authority that answers for ${fullName} is refused (cases 15 and 37)`, async t => {
		const ground = await mirrorGround(t);
		const request = through(ground, {repository: async ref => ({...(await ground.authority.repository(ref)), fullName})});
		const report = await bootstrapMirror(request);
		t.is(report.error?.code, code);
		t.false(existsSync(ground.paths.repositories), 'nothing was made');
	});
}

test('the default branch is renamed (case 16)', async t => {
	const ground = await mirroredGround(t);
	push(ground, 'HEAD:refs/heads/trunk');
	bare(ground, 'update-ref', '-d', 'refs/heads/main');
	editRepositoryRecord(ground, '"main"', '"trunk"');
	const report = await syncMirror(ground.request);
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.like(report.default_branch, {name: 'trunk', local_sha: ground.source.sha, equal: true});
});

test('the default branch is rewritten (case 17)', async t => {
	const ground = await mirroredGround(t);
	ground.source.git('commit', '-q', '--amend', '--allow-empty', '-m', 'other history');
	push(ground, 'HEAD:refs/heads/main');
	const report = await syncMirror(ground.request);
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.is(report.default_branch.local_sha, ground.source.git('rev-parse', 'HEAD').trim());
});

/** An authority whose branch moves right after each of the first `times` fetches: it is asked for its repository then. */
function moving(ground: MirrorGround, times: number): MirrorRequest {
	let asked = 0;
	return through(ground, {
		repository: async ref => {
			asked++;
			if (asked > 1 && asked <= times + 1) {
				ground.commit(`moved ${asked}`);
			}

			return ground.authority.repository(ref);
		},
	});
}

test('a branch that moves once between fetch and readback costs a second attempt (case 18)', async t => {
	const ground = await mirroredGround(t);
	const report = await syncMirror(moving(ground, 1));
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.is(report.default_branch.attempts, 2);
});

test('a branch that never stands still ends after three attempts as partial, and the next sync mends it (case 18)', async t => {
	const ground = await mirroredGround(t);
	const report = await syncMirror(moving(ground, 100));
	t.is(report.error?.code, 'CACHE_REF_MOVING');
	t.is(report.status, 'partial');
	t.is(report.default_branch.attempts, 3);
	const status = await mirrorStatus({...ground.request});
	t.is(status.cache.state, 'unusable');
	t.true(
		status.problems.some(({code}) => code === 'CACHE_SYNC_UNFINISHED'),
		JSON.stringify(status.problems),
	);
	const again = await syncMirror(ground.request);
	t.is(again.status, 'ok', JSON.stringify(again.error));
});

test('a bootstrap also fetches again, and at last removes its staging', async t => {
	const ground = await mirrorGround(t);
	const refused = await bootstrapMirror(moving(ground, 100));
	t.is(refused.error?.code, 'CACHE_REF_MOVING');
	t.is(refused.status, 'refused');
	t.deepEqual(readdirSync(ground.paths.owner), []);
	const made = await bootstrapMirror(moving(ground, 1));
	t.is(made.status, 'ok', JSON.stringify(made.error));
	t.is(made.default_branch.attempts, 2);
});

test('a repository without a commit on its default branch (case 19)', async t => {
	const ground = await mirrorGround(t);
	bare(ground, 'update-ref', '-d', 'refs/heads/main');
	const report = await bootstrapMirror(ground.request);
	t.is(report.error?.code, 'CACHE_REPOSITORY_EMPTY');
	t.false(existsSync(ground.paths.repository));
});

test('a sha256 repository, also where the authority does not know it (case 20)', async t => {
	const ground = await mirrorGround(t);
	const request = through(ground, {
		repository: async ref => ({...(await ground.authority.repository(ref)), objectFormat: 'unknown'}),
		gitAccess: repository => ({...ground.authority.gitAccess(repository), url: `file://${path.join(ground.base, 'sha256')}`}),
		advertisedRefs: async () => [],
	});
	ground.source.git('init', '-q', '--object-format=sha256', path.join(ground.base, 'sha256'));
	ground.source.git('-C', path.join(ground.base, 'sha256'), 'commit', '-q', '--allow-empty', '-m', 'first');
	const report = await bootstrapMirror(request);
	t.is(report.error?.code, 'CACHE_OBJECT_FORMAT', JSON.stringify(report.error));
	t.deepEqual(readdirSync(ground.paths.owner), []);
});

test('a shallow source is refused before it is cloned, with the mend (case 32)', async t => {
	const ground = await mirrorGround(t);
	ground.commit('second');
	writeFileSync(path.join(ground.gitDir, 'shallow'), `${ground.source.git('rev-parse', 'HEAD').trim()}\n`);
	const report = await bootstrapMirror(ground.request);
	t.is(report.error?.code, 'CACHE_SHALLOW');
	t.regex(report.error?.message ?? '', /git fetch --unshallow/);
	t.deepEqual(readdirSync(ground.paths.owner), []);
});

test('a remote with replace refs or a stash is refused before anything is fetched', async t => {
	const ground = await mirroredGround(t);
	bare(ground, 'update-ref', `refs/replace/${ground.source.sha}`, ground.source.sha);
	await refusedSync(t, ground, 'CACHE_REPLACE_REF');
	bare(ground, 'update-ref', '-d', `refs/replace/${ground.source.sha}`);
	bare(ground, 'update-ref', 'refs/stash', ground.source.sha);
	await refusedSync(t, ground, 'CACHE_REPLACE_REF');
	bare(ground, 'update-ref', '-d', 'refs/stash');
	t.is((await syncMirror(ground.request)).status, 'ok');
});

test('a second reader that sees another commit', async t => {
	const ground = await mirroredGround(t);
	ground.commit('second');
	const report = await syncMirror(through(ground, {witnessRef: async () => ground.source.sha}));
	t.is(report.error?.code, 'CACHE_WITNESS_MISMATCH');
	t.is(report.status, 'partial');
	t.is((await syncMirror(ground.request)).status, 'ok');
});

test('malformed objects of the remote are not taken over', async t => {
	const ground = await mirroredGround(t);
	const body = `tree ${ground.source.git('rev-parse', 'HEAD^{tree}').trim()}\nauthor broken\ncommitter broken\n\nx\n`;
	const sha = execFileSync('git', ['--git-dir', ground.gitDir, 'hash-object', '-t', 'commit', '-w', '--literally', '--stdin'], {
		input: body,
		encoding: 'utf8',
	}).trim();
	bare(ground, 'update-ref', 'refs/heads/broken', sha);
	const report = await refusedSync(t, ground, 'CACHE_OBJECTS_REJECTED');
	t.is(report.cache.state, 'usable');
	t.is((await mirrorStatus({...ground.request})).cache.refs, 1);
});

for (const [text, code] of [
	['fatal: write error: No space left on device', 'CACHE_DISK_FULL'],
	["error: cannot lock ref 'refs/heads/a/b': 'refs/heads/a' exists; cannot create 'refs/heads/a/b'", 'CACHE_REF_CONFLICT'],
	['fatal: something else', 'CACHE_GIT_FAILED'],
] as const satisfies ReadonlyArray<readonly [string, ErrorCode]>) {
	test(`a clone that ends with "${text}" is ${code}, and its staging is removed (cases 5 and 7)`, async t => {
		const ground = await mirrorGround(t);
		const directory = path.join(ground.base, 'bin');
		ground.source.git('init', '-q', directory);
		writeFileSync(
			path.join(directory, 'git'),
			`#!/bin/sh\ncase " $* " in *" clone "*) mkdir -p "$(eval echo \\"\\\${$#}\\")"; echo ${JSON.stringify(text)} >&2; exit 128;; esac\nexec /usr/bin/git "$@"\n`,
		);
		chmodSync(path.join(directory, 'git'), 0o755);
		const report = await bootstrapMirror({...ground.request, git: await openGit({searchPath: directory})});
		t.is(report.error?.code, code, JSON.stringify(report.error));
		t.is(report.status, 'refused');
		t.deepEqual(readdirSync(ground.paths.owner), []);
	});
}

test('a git that cannot be started any more is refused, and every lock is free (case 38)', async t => {
	const ground = await mirroredGround(t);
	const directory = path.join(ground.base, 'bin');
	ground.source.git('init', '-q', directory);
	writeFileSync(path.join(directory, 'git'), '#!/bin/sh\nexec /usr/bin/git "$@"\n', {mode: 0o755});
	const git = await openGit({searchPath: directory});
	rmSync(path.join(directory, 'git'));
	const report = await syncMirror({...ground.request, git});
	t.is(report.error?.code, 'CACHE_GIT_MISSING');
	t.is(report.status, 'refused');
	t.is((await syncMirror(ground.request)).status, 'ok');
});
