import {readFileSync} from 'node:fs';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {bootstrapMirror, type CacheReport, initRoot, type MirrorRequest, type RepositoryPaths, repositoryPaths, syncMirror} from '../../cache/index.ts';
import type {ErrorCode} from '../../core/errors.ts';
import {type LocalGround, localGround} from './local-authority.ts';

/** A local authority, a root, and the request that every command on its mirror begins with. */
export type MirrorGround = LocalGround & {
	readonly root: string;
	readonly paths: RepositoryPaths;
	readonly request: MirrorRequest;
	/** A new commit on the default branch of the authority; its id. */
	readonly commit: (text: string) => string;
};

/** Lays out a root and a local authority with acme/widget; no mirror yet. */
export async function mirrorGround(t: ExecutionContext): Promise<MirrorGround> {
	const ground = await localGround(t);
	const root = path.join(ground.base, 'root');
	const {paths: places} = initRoot(root);
	const {profile, authority, git, source, gitDir} = ground;
	const name = {owner: ground.target.owner, repository: ground.target.repository};
	const commit = (text: string): string => {
		source.git('commit', '-q', '--allow-empty', '-m', text);
		source.git('push', '-q', gitDir, 'HEAD:refs/heads/main');
		return source.git('rev-parse', 'HEAD').trim();
	};
	return {
		...ground,
		root,
		paths: repositoryPaths(root, name),
		request: {contractPath: places.contract, name, git, openAuthority: async () => ({profile, authority})},
		commit,
	};
}

/** The same with a mirror. */
export async function mirroredGround(t: ExecutionContext): Promise<MirrorGround> {
	const ground = await mirrorGround(t);
	const report = await bootstrapMirror(ground.request);
	t.is(report.status, 'ok', JSON.stringify(report.error));
	return ground;
}

/** Syncs and asserts the refusal; returns the report. */
export async function refusedSync(t: ExecutionContext, ground: MirrorGround, code: ErrorCode): Promise<CacheReport> {
	const before = readFileSync(ground.paths.refsRecord, 'latin1');
	const report = await syncMirror(ground.request);
	t.is(report.error?.code, code, JSON.stringify(report.error));
	t.is(report.status, 'refused');
	t.is(report.complete, false);
	t.is(readFileSync(ground.paths.refsRecord, 'latin1'), before, 'the record was changed');
	return report;
}
