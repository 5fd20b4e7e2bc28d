import {execFileSync} from 'node:child_process';
import {accessSync, chmodSync, chownSync, constants, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import type {SandboxFacts} from '../../../runner/sandbox/profile.ts';

/** A root, a checkout with a linked .git, a home and a private pair, all below one directory that is removed at the end. */
export type World = {readonly base: string; readonly facts: SandboxFacts; readonly userId: number; readonly remove: () => void};

/** The users under which the tests run: our own, and an ordinary one where we are root. */
export const userIds: readonly number[] = process.getuid?.() === 0 ? [0, 65_534] : [process.getuid?.() ?? 0];

/** Makes a world that belongs to `userId`; `name` is the last part of the checkout's path. */
export function createWorld(userId: number, name = 'checkout', parent = tmpdir()): World {
	const base = realpathSync(mkdtempSync(path.join(parent, 'bailiff-world-')));
	const root = path.join(base, 'root');
	const checkout = path.join(root, 'owner/repository/worktrees/issue-1', name);
	const mirror = path.join(root, 'owner/repository/repository.git');
	const facts: SandboxFacts = {
		checkout,
		git: {dotGit: path.join(checkout, '.git'), commonDir: mirror, alternates: []},
		root,
		evidence: path.join(root, 'owner/repository/worktrees/issue-1/verification'),
		install: path.join(base, 'install'),
		home: path.join(base, 'user'),
		environmentHome: path.join(base, 'environment-home'),
		privateHome: path.join(base, 'run/home'),
		privateTmp: path.join(base, 'run/tmp'),
		emptyDirectory: path.join(base, 'run/empty'),
		secrets: [path.join(base, 'profile')],
		userId,
	};
	for (const directory of [
		facts.evidence,
		facts.install,
		path.join(facts.home, '.ssh'),
		facts.privateHome,
		facts.privateTmp,
		facts.emptyDirectory,
		path.join(base, 'profile'),
	]) {
		mkdirSync(directory, {recursive: true});
	}

	writeFileSync(path.join(facts.home, '.ssh/id'), 'secret key');
	writeFileSync(path.join(base, 'profile/.env'), 'TOKEN=secret');
	makeRepository(mirror, checkout);
	chmodSync(base, 0o755);
	if (process.getuid?.() === 0) {
		execFileSync('chown', ['-R', `${userId}:${userId}`, base]);
		chownSync(base, userId, userId);
	}

	return {base, facts, userId, remove: () => rmSync(base, {recursive: true, force: true})};
}

/** A directory that stays visible inside, unlike /tmp; without the rights to use it, /tmp all the same. */
export function visibleParent(): string {
	return ['/srv', '/opt'].find(isWritable) ?? tmpdir();
}

function isWritable(directory: string): boolean {
	try {
		accessSync(directory, constants.W_OK);
		return true;
	} catch {
		return false;
	}
}

const gitEnvironment = {
	PATH: '/usr/local/bin:/usr/bin:/bin',
	GIT_CONFIG_GLOBAL: '/dev/null',
	GIT_CONFIG_SYSTEM: '/dev/null',
	GIT_AUTHOR_NAME: 'a',
	GIT_AUTHOR_EMAIL: 'a@example.test',
	GIT_COMMITTER_NAME: 'a',
	GIT_COMMITTER_EMAIL: 'a@example.test',
};

function makeRepository(mirror: string, checkout: string): void {
	const git = (...args: string[]): string => execFileSync('git', ['-C', mirror, ...args], {env: gitEnvironment, encoding: 'utf8'}).trim();
	mkdirSync(mirror, {recursive: true});
	mkdirSync(path.dirname(checkout), {recursive: true});
	git('init', '-q', '--bare');
	const tree = git('mktree', '--missing');
	const commit = git('commit-tree', '-m', 'first', tree);
	git('worktree', 'add', '-q', '--detach', '--', checkout, commit);
	writeFileSync(path.join(checkout, 'file'), 'content\n');
}
