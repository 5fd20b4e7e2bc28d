import {execFileSync} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {openCheckout} from '../../cache/checkout-check.ts';
import {type Git, openGit} from '../../cache/git-command.ts';
import {BailiffError, type ErrorCode} from '../../core/errors.ts';
import {makeRepository, type TestRepository} from './repository.ts';
import {temporaryDirectory} from './temporary-directory.ts';

/** What `verify` said: the code, and where paths were named, each as `state path`. */
export type Verdict = {readonly code: ErrorCode | null; readonly paths: readonly string[]; readonly count: number; readonly message: string};

let git: Promise<Git> | undefined;

/** The git of this machine, opened once for a test file. */
export function sharedGit(): Promise<Git> {
	git ??= openGit();
	return git;
}

/** Runs `verify` on a checkout and gives its refusal as data. */
export async function verdictOf(checkout: string, sha: string): Promise<Verdict> {
	try {
		await openCheckout({git: await sharedGit(), path: checkout, isCanonical: false}).verify(sha);
		return {code: null, paths: [], count: 0, message: ''};
	} catch (error) {
		if (!(error instanceof BailiffError)) {
			throw error;
		}

		const named = (error.details['paths'] ?? []) as ReadonlyArray<{path: string; state?: string; attribute?: string}>;
		return {
			code: error.code,
			paths: named.map(({path: shown, state, attribute}) => `${state ?? attribute ?? ''} ${JSON.parse(shown) as string}`),
			count: Number(error.details['count'] ?? 0),
			message: error.message,
		};
	}
}

/** Runs git with standard input. */
export function gitWithInput(repository: TestRepository, args: readonly string[], input: Buffer | string): string {
	const env = {
		PATH: process.env['PATH'],
		HOME: repository.path,
		GIT_CONFIG_GLOBAL: '/dev/null',
		GIT_CONFIG_SYSTEM: '/dev/null',
		GIT_AUTHOR_NAME: 'Test',
		GIT_AUTHOR_EMAIL: 'test@example.invalid',
		GIT_COMMITTER_NAME: 'Test',
		GIT_COMMITTER_EMAIL: 'test@example.invalid',
	};
	return execFileSync('git', args, {cwd: repository.path, env, input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe']}).trim();
}

/** What `makeCheckout` commits. */
export const checkoutFiles = {
	'.gitignore': '*.log\n/build/\n',
	'a.txt': 'one\n',
	'src/b.txt': 'two\n',
	'src/deep/c.txt': 'three\n',
	'run.sh': '#!/bin/sh\n',
};

/** A checkout with a handful of files in one commit, and `more`. */
export function makeCheckout(t: ExecutionContext, more: Readonly<Record<string, string>> = {}): TestRepository {
	return makeRepository(path.join(temporaryDirectory(t), 'checkout'), {...checkoutFiles, ...more});
}

/** Writes a file of a checkout; directories are made. */
export function write(repository: TestRepository, name: string, content: string | Buffer): void {
	const file = path.join(repository.path, name);
	mkdirSync(path.dirname(file), {recursive: true});
	writeFileSync(file, content);
}

/** The path of a file of a checkout. */
export function at(repository: TestRepository, name: string): string {
	return path.join(repository.path, name);
}

/** Does something that may fail. */
export function tryTo(action: () => void): void {
	try {
		action();
	} catch {
		// What counts is what it left.
	}
}
