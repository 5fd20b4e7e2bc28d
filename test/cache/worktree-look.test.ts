import {chmodSync, existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {initRoot, issuePaths, readRegistrations} from '../../cache/index.ts';
import {lookAtWorktree} from '../../cache/worktree-look.ts';
import type {WorktreeWord} from '../../cache/worktree-report.ts';
import type {ErrorCode} from '../../core/errors.ts';
import {type WorktreeGround, workedGround, worktreeGround} from '../helpers/worktree-ground.ts';

async function look(ground: Pick<WorktreeGround, 'git' | 'paths'>): Promise<{word: WorktreeWord; codes: ErrorCode[]}> {
	const {word, problems} = lookAtWorktree(ground.paths, await readRegistrations(ground.git, ground.paths));
	return {word, codes: [...new Set(problems.map(({code}) => code))]};
}

type Undo = () => void;

/** Damages one thing and says how to put it back. */
type Damage = readonly [title: string, damage: (ground: WorktreeGround) => Undo, word: WorktreeWord, codes: readonly ErrorCode[]];

function adminOf({paths}: WorktreeGround): string {
	return `${paths.mirror}/worktrees/checkout`;
}

function moved(file: string): Undo {
	renameSync(file, `${file}.away`);
	return () => {
		rmSync(file, {recursive: true, force: true});
		renameSync(`${file}.away`, file);
	};
}

function rewritten(file: string, content: string): Undo {
	const before = readFileSync(file);
	writeFileSync(file, content);
	return () => {
		writeFileSync(file, before);
	};
}

function added(file: string): Undo {
	writeFileSync(file, '', {mode: 0o600});
	return () => {
		unlinkSync(file);
	};
}

const damages: readonly Damage[] = [
	['no state file', ({paths}) => away(paths.state, paths.root), 'partial', ['CACHE_WORKTREE_PARTIAL']],
	['no checkout', ({paths}) => away(paths.checkout, paths.root), 'mismatch', ['CACHE_WORKTREE_MISMATCH']],
	['no registration', ground => away(adminOf(ground), ground.root), 'mismatch', ['CACHE_WORKTREE_MISMATCH']],
	['not locked', ground => away(path.join(adminOf(ground), 'locked'), ground.root), 'mismatch', ['CACHE_WORKTREE_UNLOCKED']],
	['.git leads elsewhere', ({paths}) => rewritten(`${paths.checkout}/.git`, 'gitdir: /tmp/elsewhere\n'), 'mismatch', ['CACHE_WORKTREE_MISMATCH']],
	[
		'.git is a directory',
		({paths}) => {
			const undo = moved(`${paths.checkout}/.git`);
			mkdirSync(`${paths.checkout}/.git`);
			return () => {
				rmdirSync(`${paths.checkout}/.git`);
				undo();
			};
		},
		'mismatch',
		['CACHE_WORKTREE_MISMATCH'],
	],
	[
		'.git is a link',
		({paths}) => {
			const undo = moved(`${paths.checkout}/.git`);
			symlinkSync(`${paths.checkout}/.git.away`, `${paths.checkout}/.git`);
			return undo;
		},
		'mismatch',
		['CACHE_WORKTREE_MISMATCH'],
	],
	[
		'commondir leads elsewhere (foreign common directory)',
		ground => rewritten(path.join(adminOf(ground), 'commondir'), '/tmp\n'),
		'mismatch',
		['CACHE_WORKTREE_MISMATCH'],
	],
	[
		'gitdir has another form',
		ground => rewritten(path.join(adminOf(ground), 'gitdir'), `${ground.paths.checkout}/.git`),
		'mismatch',
		['CACHE_WORKTREE_MISMATCH'],
	],
	['a config of its own', ground => added(path.join(adminOf(ground), 'config.worktree')), 'mismatch', ['CACHE_FORBIDDEN_FILE']],
	['the checkout is writable by others', ({paths}) => mode(paths.checkout, 0o777, 0o700), 'mismatch', ['CACHE_PATH_UNTRUSTED']],
	['the issue directory has another mode', ({paths}) => mode(paths.issue, 0o755, 0o700), 'mismatch', ['CACHE_PATH_UNTRUSTED']],
	['others may read the state', ({paths}) => mode(paths.state, 0o640, 0o600), 'mismatch', ['CACHE_PATH_UNTRUSTED']],
	['the state is damaged', ({paths}) => rewritten(paths.state, '{'), 'mismatch', ['CACHE_STATE_INVALID']],
	['something foreign beside it', ({paths}) => added(`${paths.issue}/notes.txt`), 'mismatch', ['CACHE_WORKTREE_MISMATCH']],
	['half of a state beside it', ({paths}) => added(`${paths.issue}/.state.${'0'.repeat(16)}.new`), 'mismatch', ['CACHE_WORKTREE_MISMATCH']],
	[
		'a second name of .git',
		({paths}) => {
			linkSync(`${paths.checkout}/.git`, `${paths.checkout}/second`);
			return () => {
				unlinkSync(`${paths.checkout}/second`);
			};
		},
		'mismatch',
		['CACHE_WORKTREE_MISMATCH'],
	],
	[
		'two directories of the mirror name it',
		ground => {
			const twin = `${ground.paths.mirror}/worktrees/twin`;
			mkdirSync(twin);
			for (const name of ['gitdir', 'commondir', 'HEAD']) {
				writeFileSync(`${twin}/${name}`, readFileSync(path.join(adminOf(ground), name)));
			}

			return () => {
				rmSync(twin, {recursive: true});
			};
		},
		'mismatch',
		['CACHE_WORKTREE_MISMATCH', 'CACHE_WORKTREE_UNLOCKED'],
	],
];

function away(file: string, root: string): Undo {
	const place = path.join(root, 'away');
	renameSync(file, place);
	return () => {
		renameSync(place, file);
	};
}

function mode(file: string, wrong: number, right: number): Undo {
	chmodSync(file, wrong);
	return () => {
		chmodSync(file, right);
	};
}

test('C-FC, C-ADM-3, C-REUSE-1, C-WT-5: checkout, state and registration are one thing or none', async t => {
	const ground = await workedGround(t);
	t.deepEqual(await look(ground), {word: 'ready', codes: []});
	for (const [title, damage, word, codes] of damages) {
		const undo = damage(ground);
		t.deepEqual(await look(ground), {word, codes: [...codes]}, title);
		undo();
		t.deepEqual(await look(ground), {word: 'ready', codes: []}, `${title}, put back`);
	}
});

test('C-ADM-3: evidence and runtime of an issue are no worktree; anything else is a mismatch', async t => {
	const ground = await worktreeGround(t);
	t.deepEqual(await look(ground), {word: 'absent', codes: []});
	mkdirSync(ground.paths.verification, {recursive: true, mode: 0o700});
	mkdirSync(ground.paths.runtime, {mode: 0o700});
	t.deepEqual(await look(ground), {word: 'absent', codes: []});
	writeFileSync(`${ground.paths.issue}/state.${'a'.repeat(64)}.json`, '{}', {mode: 0o600});
	t.deepEqual(await look(ground), {word: 'mismatch', codes: ['CACHE_WORKTREE_MISMATCH']});
});

test('C-HARD-11: a moved root leaves a worktree that is named as relocated, with the command that a person may run', async t => {
	const ground = await workedGround(t);
	const root = `${ground.root}-moved`;
	renameSync(ground.root, root);
	initRoot(root);
	const paths = issuePaths(root, ground.target);
	const {word, problems} = lookAtWorktree(paths, await readRegistrations(ground.git, paths));
	t.is(word, 'relocated');
	t.is(problems[0]?.code, 'CACHE_WORKTREE_RELOCATED');
	t.is(problems[0]?.remedy, `git --git-dir=${paths.mirror} worktree repair ${paths.checkout}`);
	t.true(existsSync(paths.checkout));
});

test('C-FC: half of a state that a killed writer left is shown with the command that removes it, whatever else is not', async t => {
	const ground = await workedGround(t);
	const {paths} = ground;
	const half = `${paths.issue}/.state.${'0'.repeat(16)}.new`;
	writeFileSync(half, '');
	const remedies = async (): Promise<Array<string | null>> =>
		lookAtWorktree(paths, await readRegistrations(ground.git, paths)).problems.map(({remedy}) => remedy);
	t.deepEqual(await remedies(), [`rm -- ${half}`]);
	writeFileSync(`${paths.issue}/notes.txt`, 'work');
	t.deepEqual(await remedies(), [null]);
});
