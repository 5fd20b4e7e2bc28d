import {chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {mirrorStatus, syncMirror, verifyMirror} from '../../cache/index.ts';
import type {ErrorCode} from '../../core/errors.ts';
import {type MirrorGround, mirroredGround, refusedSync} from '../helpers/mirror-ground.ts';

// The failure cases of real mirrors that have a place in the mirror itself. Each is planted into a sound mirror, refused by name, left alone, and taken away.

type Case = {
	readonly title: string;
	readonly code: ErrorCode;
	/** Relative to repository.git; written with this text. */
	readonly file?: string;
	readonly text?: string;
	readonly plant?: (ground: MirrorGround) => void;
	readonly undo?: (ground: MirrorGround) => void;
};

const inMirror = (ground: MirrorGround, name: string): string => path.join(ground.paths.mirror, name);
const git = (ground: MirrorGround, ...args: string[]): string => ground.source.git('--git-dir', ground.paths.mirror, ...args);
const setting = (text: string): Pick<Case, 'plant' | 'undo'> => {
	let own = '';
	return {
		plant: ground => {
			own = readFileSync(inMirror(ground, 'config'), 'utf8');
			writeFileSync(inMirror(ground, 'config'), own + text);
		},
		undo: ground => {
			writeFileSync(inMirror(ground, 'config'), own);
		},
	};
};
const replacing = (from: string, to: string): Pick<Case, 'plant' | 'undo'> => {
	let own = '';
	return {
		plant: ground => {
			own = readFileSync(inMirror(ground, 'config'), 'utf8');
			writeFileSync(inMirror(ground, 'config'), own.replace(from, to));
		},
		undo: ground => {
			writeFileSync(inMirror(ground, 'config'), own);
		},
	};
};

const cases: readonly Case[] = [
	{title: 'a stale packed-refs.lock (case 1)', code: 'CACHE_STALE_GIT_LOCK', file: 'packed-refs.lock'},
	{title: 'a stale config.lock (case 3)', code: 'CACHE_STALE_GIT_LOCK', file: 'config.lock'},
	{title: 'a stale HEAD.lock (case 3)', code: 'CACHE_STALE_GIT_LOCK', file: 'HEAD.lock'},
	{title: 'a stale shallow.lock (case 3)', code: 'CACHE_STALE_GIT_LOCK', file: 'shallow.lock'},
	{title: 'a stale lock of a ref (case 3)', code: 'CACHE_STALE_GIT_LOCK', file: 'refs/heads/main.lock'},
	{title: 'a stale lock of maintenance (case 3)', code: 'CACHE_STALE_GIT_LOCK', file: 'objects/maintenance.lock'},
	{title: 'alternates (case 31)', code: 'CACHE_FORBIDDEN_FILE', file: 'objects/info/alternates', text: '/nowhere\n'},
	{title: 'alternates over http (case 31)', code: 'CACHE_FORBIDDEN_FILE', file: 'objects/info/http-alternates', text: '/nowhere\n'},
	{title: 'a shallow file (case 32)', code: 'CACHE_SHALLOW', file: 'shallow', text: `${'0'.repeat(40)}\n`},
	{title: 'grafts', code: 'CACHE_FORBIDDEN_FILE', file: 'info/grafts', text: '\n'},
	{title: 'attributes for every worktree', code: 'CACHE_FORBIDDEN_FILE', file: 'info/attributes', text: '* filter=x\n'},
	{title: 'a commondir file', code: 'CACHE_FORBIDDEN_FILE', file: 'commondir', text: '/nowhere\n'},
	{title: 'a second config', code: 'CACHE_FORBIDDEN_FILE', file: 'config.worktree', text: '[core]\n\tbare = false\n'},
	{title: 'core.bare switched off by a leaked GIT_DIR (case 29)', code: 'CACHE_FOREIGN_CONFIG', ...replacing('bare = true', 'bare = false')},
	{title: 'an identity that a worker set (case 40)', code: 'CACHE_FOREIGN_CONFIG', ...setting('[user]\n\temail = a@b\n')},
	{title: 'a setting that is missing', code: 'CACHE_FOREIGN_CONFIG', ...replacing('\tdefault = nothing\n', '')},
	{title: 'a setting that stands twice', code: 'CACHE_FOREIGN_CONFIG', ...setting('[gc]\n\tauto = 0\n')},
	{title: 'a mirror remote, whose push deletes branches', code: 'CACHE_FOREIGN_CONFIG', ...replacing('mirror = false', 'mirror = true')},
	{title: 'two origins', code: 'CACHE_FOREIGN_CONFIG', ...setting('[remote "origin"]\n\turl = file:///elsewhere\n')},
	{title: 'an origin at another place (case 15)', code: 'CACHE_ORIGIN_MISMATCH', ...replacing('/acme/widget/', '/acme/gadget/')},
	{title: 'a credential in the origin (case 35)', code: 'CACHE_ORIGIN_MISMATCH', ...replacing('file:///', 'file://user:secret@localhost/')},
	{
		title: 'a symbolic link',
		code: 'CACHE_PATH_UNTRUSTED',
		plant: ground => {
			symlinkSync('/etc/passwd', inMirror(ground, 'description'));
		},
		undo: ground => {
			rmSync(inMirror(ground, 'description'));
		},
	},
	{
		title: 'a file that others may write',
		code: 'CACHE_PATH_UNTRUSTED',
		plant: ground => {
			writeFileSync(inMirror(ground, 'description'), '');
			chmodSync(inMirror(ground, 'description'), 0o666);
		},
		undo: ground => {
			rmSync(inMirror(ground, 'description'));
		},
	},
	{
		title: 'a tag that a worker made (case 3 of prune)',
		code: 'CACHE_FOREIGN_REF',
		plant: ground => {
			git(ground, 'tag', 'mine', ground.source.sha);
		},
		undo: ground => {
			git(ground, 'tag', '-d', 'mine');
		},
	},
	{
		title: 'a branch that a worker moved',
		code: 'CACHE_FOREIGN_REF',
		plant: ground => {
			git(ground, 'update-ref', 'refs/heads/main', git(ground, 'commit-tree', '-p', 'refs/heads/main', '-m', 'mine', 'refs/heads/main^{tree}').trim());
		},
		undo: ground => {
			git(ground, 'update-ref', 'refs/heads/main', ground.source.sha);
		},
	},
	{
		title: 'a symbolic ref, through which a fetch would write',
		code: 'CACHE_FOREIGN_REF',
		plant: ground => {
			git(ground, 'symbolic-ref', 'refs/heads/alias', 'refs/heads/main');
		},
		undo: ground => {
			git(ground, 'symbolic-ref', '-d', 'refs/heads/alias');
		},
	},
	{
		title: 'a stash (case 28)',
		code: 'CACHE_FOREIGN_REF',
		plant: ground => {
			git(ground, 'update-ref', 'refs/stash', ground.source.sha);
		},
		undo: ground => {
			git(ground, 'update-ref', '-d', 'refs/stash');
		},
	},
	{
		title: 'a replace ref',
		code: 'CACHE_REPLACE_REF',
		plant: ground => {
			git(ground, 'update-ref', `refs/replace/${ground.source.sha}`, ground.source.sha);
		},
		undo: ground => {
			git(ground, 'update-ref', '-d', `refs/replace/${ground.source.sha}`);
		},
	},
	{
		title: 'an attached worktree (case 25)',
		code: 'CACHE_WORKTREE_ATTACHED',
		plant: ground => {
			mkdirSync(path.join(ground.paths.worktrees, 'issue-7'), {recursive: true, mode: 0o700});
			git(ground, 'worktree', 'add', '-q', path.join(ground.paths.worktrees, 'issue-7/checkout'), 'main');
		},
		undo: ground => {
			git(ground, 'worktree', 'remove', '--force', path.join(ground.paths.worktrees, 'issue-7/checkout'));
		},
	},
	{
		title: 'a record that is missing',
		code: 'CACHE_FOREIGN_MIRROR',
		plant: ground => {
			renameSync(ground.paths.refsRecord, `${ground.base}/kept`);
		},
		undo: ground => {
			renameSync(`${ground.base}/kept`, ground.paths.refsRecord);
		},
	},
];

test('each failure case of a mirror is refused by its name, changes nothing, and is over when it is taken away', async t => {
	const ground = await mirroredGround(t);
	for (const planted of cases) {
		plant(ground, planted);
		const record = readIfThere(ground.paths.refsRecord);
		const report = await syncMirror(ground.request);
		t.is(report.error?.code, planted.code, `${planted.title}: ${JSON.stringify(report.error)}`);
		t.is(report.status, 'refused', planted.title);
		t.is(readIfThere(ground.paths.refsRecord), record, `${planted.title}: the record was changed`);
		if (planted.file !== undefined) {
			t.true(existsSync(inMirror(ground, planted.file)), `${planted.title}: it was removed`);
		}

		const status = await mirrorStatus(ground.request);
		t.is(status.cache.state, 'unusable', planted.title);
		t.true(
			status.problems.some(({code}) => code === planted.code),
			`${planted.title}: status names it`,
		);
		if (planted.code === 'CACHE_FOREIGN_CONFIG') {
			t.is(status.default_branch.equal, null, `${planted.title}: refs that nobody read are neither equal nor behind`);
			t.false(status.problems.some(({code}) => code === 'CACHE_DEFAULT_BRANCH_MISMATCH'));
		}

		unplant(ground, planted);
	}

	const report = await syncMirror(ground.request);
	t.is(report.status, 'ok', JSON.stringify(report.error));
});

test('a lock file says its path, size and time, and how a person removes it (cases 1 to 3)', async t => {
	const ground = await mirroredGround(t);
	writeFileSync(inMirror(ground, 'packed-refs.lock'), 'half');
	const [problem] = (await refusedSync(t, ground, 'CACHE_STALE_GIT_LOCK')).problems;
	t.like(problem, {path: 'repository.git/packed-refs.lock', remedy: `rm -- ${inMirror(ground, 'packed-refs.lock')}`});
	t.like(problem?.details, {bytes: 4});
	t.regex(JSON.stringify(problem?.details['mtime']), /^"\d{4}-.*Z"$/);
});

test("a lock file of a registered worktree is its own workflow's (case 2)", async t => {
	const ground = await mirroredGround(t);
	addWorktree(ground, 7);
	writeFileSync(inMirror(ground, 'worktrees/checkout/index.lock'), '');
	const report = await syncMirror(ground.request);
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.deepEqual(report.worktrees, [{issue: 7, registered: true, state_file: false}]);
});

test('temporary packs are counted, not cleaned (case 6)', async t => {
	const ground = await mirroredGround(t);
	writeFileSync(inMirror(ground, 'objects/pack/tmp_pack_a'), 'x'.repeat(1000));
	const report = await syncMirror(ground.request);
	t.deepEqual(report.cache.temporary_packs, {count: 1, bytes: 1000});
	t.true(existsSync(inMirror(ground, 'objects/pack/tmp_pack_a')));
});

test('a damaged pack, an empty loose object and a missing one are found by verify (cases 8 and 9)', async t => {
	const ground = await mirroredGround(t);
	const [pack = ''] = readdirSync(inMirror(ground, 'objects/pack')).filter(name => name.endsWith('.pack'));
	const file = inMirror(ground, `objects/pack/${pack}`);
	const bytes = readFileSync(file);
	chmodSync(file, 0o600);
	truncateSync(file, bytes.length - 30);
	const damaged = await verifyMirror(ground.request, {isFull: true});
	t.is(damaged.status, 'no');
	t.true(
		damaged.problems.some(({code}) => code === 'CACHE_MIRROR_CORRUPT'),
		JSON.stringify(damaged.problems),
	);
	writeFileSync(file, bytes);
	chmodSync(file, 0o400);
	t.is((await verifyMirror(ground.request, {isFull: false})).status, 'ok');

	// As a small fetch would have left them: every object in a file of its own.
	renameSync(file, path.join(ground.base, pack));
	const input = readFileSync(path.join(ground.base, pack));
	await ground.git.run({command: ['unpack-objects', '-q'], gitDir: ground.paths.mirror, input, isPrivate: true});
	t.is((await verifyMirror(ground.request, {isFull: true})).status, 'ok');
	const loose = inMirror(ground, `objects/${ground.source.sha.slice(0, 2)}/${ground.source.sha.slice(2)}`);
	chmodSync(loose, 0o600);
	truncateSync(loose, 0);
	t.is((await verifyMirror(ground.request, {isFull: false})).error?.code, 'CACHE_MIRROR_CORRUPT');
	rmSync(loose);
	t.is((await verifyMirror(ground.request, {isFull: false})).error?.code, 'CACHE_MIRROR_CORRUPT');
});

test('a file of another user is refused, whoever git would trust (case 23)', async t => {
	const ground = await mirroredGround(t);
	if (process.geteuid?.() !== 0) {
		t.pass('only root can give a file away');
		return;
	}

	chownSync(inMirror(ground, 'HEAD'), 12_345, 0);
	const report = await refusedSync(t, ground, 'CACHE_PATH_UNTRUSTED');
	t.regex(report.error?.message ?? '', /belongs to uid 12345/);
});

test('a worktree that is registered elsewhere is named and the mirror stays usable; nothing is pruned (cases 24 and 26)', async t => {
	const ground = await mirroredGround(t);
	addWorktree(ground, 7);
	const elsewhere = path.join(ground.base, 'elsewhere');
	git(ground, 'worktree', 'add', '-q', '--detach', '--lock', elsewhere, 'main');
	rmSync(elsewhere, {recursive: true});
	rmSync(path.join(ground.paths.worktrees, 'issue-7/checkout'), {recursive: true});
	const report = await syncMirror(ground.request);
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.deepEqual(
		report.problems.map(({code, details}) => [code, details['checkout']]),
		[['CACHE_WORKTREE_RELOCATED', elsewhere]],
	);
	t.is(report.worktrees.length, 2);
	t.is(readdirSync(inMirror(ground, 'worktrees')).length, 2);
});

function addWorktree(ground: MirrorGround, issue: number): void {
	const place = path.join(ground.paths.worktrees, `issue-${issue}`);
	mkdirSync(place, {recursive: true, mode: 0o700});
	git(ground, 'worktree', 'add', '-q', '--detach', '--lock', path.join(place, 'checkout'), 'main');
}

function plant(ground: MirrorGround, {file, text = '', plant: act}: Case): void {
	if (file !== undefined) {
		mkdirSync(path.dirname(inMirror(ground, file)), {recursive: true, mode: 0o700});
		writeFileSync(inMirror(ground, file), text);
	}

	act?.(ground);
}

function unplant(ground: MirrorGround, {file, undo}: Case): void {
	if (file !== undefined) {
		rmSync(inMirror(ground, file));
	}

	undo?.(ground);
}

function readIfThere(file: string): string | null {
	return existsSync(file) ? readFileSync(file, 'latin1') : null;
}
