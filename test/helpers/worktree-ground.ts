import {execFileSync} from 'node:child_process';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {createWorktree, type IssuePaths, issuePaths, type WorktreeReport, type WorktreeRequest} from '../../cache/index.ts';
import type {ErrorCode} from '../../core/errors.ts';
import {type MirrorGround, mirroredGround} from './mirror-ground.ts';

/** A mirror of acme/widget with the approved issue 7, and the request that every command on its worktree begins with. */
export type WorktreeGround = Omit<MirrorGround, 'paths' | 'request'> & {
	readonly mirror: MirrorGround;
	readonly paths: IssuePaths;
	readonly request: WorktreeRequest;
	/** Runs an ordinary git in the checkout, as a worker would. */
	readonly work: (...args: string[]) => string;
};

/** No worktree yet. */
export async function worktreeGround(t: ExecutionContext): Promise<WorktreeGround> {
	const mirror = await mirroredGround(t);
	const {git, profile, authority, root, target} = mirror;
	const paths = issuePaths(root, target);
	const {contractPath} = mirror.request;
	return {
		...mirror,
		mirror,
		paths,
		request: {contractPath, target, git, openAuthority: async () => ({profile, authority})},
		work: (...args) => gitAsWorker(paths.checkout, args),
	};
}

/** The same with the worktree. */
export async function workedGround(t: ExecutionContext): Promise<WorktreeGround> {
	const ground = await worktreeGround(t);
	const report = await createWorktree(ground.request);
	t.is(report.status, 'ok', JSON.stringify(report.error));
	return ground;
}

/** Asserts a refusal that changed nothing. */
export function isRefused(t: ExecutionContext, report: WorktreeReport, code: ErrorCode): void {
	t.is(report.error?.code, code, JSON.stringify(report.error));
	t.is(report.status, 'refused');
	t.false(report.complete);
	t.true(report.problems.some(problem => problem.code === code));
}

/** Runs git in `cwd` with an identity and no settings of this machine. */
export function gitAsWorker(cwd: string, args: readonly string[]): string {
	const env = {
		PATH: process.env['PATH'],
		HOME: path.dirname(cwd),
		GIT_CONFIG_GLOBAL: '/dev/null',
		GIT_CONFIG_SYSTEM: '/dev/null',
		GIT_AUTHOR_NAME: 'Worker',
		GIT_AUTHOR_EMAIL: 'worker@example.invalid',
		GIT_COMMITTER_NAME: 'Worker',
		GIT_COMMITTER_EMAIL: 'worker@example.invalid',
	};
	return execFileSync('git', args, {cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']});
}
