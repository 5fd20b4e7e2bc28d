import {execFileSync} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';

/** A real checkout with one commit. */
export type TestRepository = {readonly path: string; readonly sha: string; readonly git: (...args: string[]) => string};

/** Makes a git repository at `directory` with these files (one that begins with `#!` is executable) in one commit. */
export function makeRepository(directory: string, files: Readonly<Record<string, string>>): TestRepository {
	mkdirSync(directory, {recursive: true});
	const git = (...args: string[]) => gitIn(directory, args);
	git('init', '-q', '-b', 'main');
	for (const [name, content] of Object.entries(files)) {
		const file = path.join(directory, name);
		mkdirSync(path.dirname(file), {recursive: true});
		writeFileSync(file, content, {mode: content.startsWith('#!') ? 0o755 : 0o644});
	}

	git('add', '-A');
	git('commit', '-q', '--allow-empty', '-m', 'first');
	return {path: directory, sha: git('rev-parse', 'HEAD').trim(), git};
}

function gitIn(cwd: string, args: readonly string[]): string {
	const env = {
		PATH: process.env['PATH'],
		HOME: cwd,
		GIT_CONFIG_GLOBAL: '/dev/null',
		GIT_CONFIG_SYSTEM: '/dev/null',
		GIT_ALLOW_PROTOCOL: 'file',
		GIT_AUTHOR_NAME: 'Test',
		GIT_AUTHOR_EMAIL: 'test@example.invalid',
		GIT_COMMITTER_NAME: 'Test',
		GIT_COMMITTER_EMAIL: 'test@example.invalid',
	};
	return execFileSync('git', args, {cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']});
}
