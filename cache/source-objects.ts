import {mkdtempSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {BailiffError} from '../core/errors.ts';
import type {SourceObjects, SourcePacker} from '../evidence/ports.ts';
import type {Git, GitRequest} from './git-command.ts';
import {readCommitEntries, readObjects} from './git-objects.ts';

const maxPackBytes = 256 * 1024 * 1024;

/**
 * The objects of one git directory, read by plumbing alone; each is proven by its own bytes, and nothing that the directory configures is started.
 *
 * Refuses, when used: CACHE_OBJECT_INVALID, CACHE_GIT_ codes. Source: E-READ-5, C-HARD-1.
 */
export function openSourceObjects(git: Git, gitDir: string): SourcePacker {
	return {
		readCommit: async sha => readCommitEntries(git, gitDir, sha),
		readBlobs: async ids => readBlobs(git, gitDir, ids),
		pack: async (sha, blobIds) => packObjects(git, gitDir, {sha, blobIds}),
	};
}

/**
 * Lends the objects of a git pack, unpacked into a bare repository of its own that is removed afterwards.
 *
 * Refuses: CACHE_GIT_FAILED for a pack that is none, CACHE_WRITE_FAILED. Source: E-READ-5, E-EXP-2.
 */
export async function withSourcePack<T>(git: Git, pack: Buffer, use: (objects: SourceObjects) => Promise<T>): Promise<T> {
	const limit = `--max-input-size=${maxPackBytes}`;
	return withScratchRepository(git, async scratch => {
		await git.run({command: ['index-pack', '--stdin', '--threads=1', limit], gitDir: scratch, input: pack, maxOutputBytes: 4096});
		return use(openSourceObjects(git, scratch));
	});
}

/** The same for a git bundle, as `git bundle create` writes it. Refuses as withSourcePack. Source: E-READ-5. */
export async function withSourceBundle<T>(git: Git, bundle: Buffer, use: (objects: SourceObjects) => Promise<T>): Promise<T> {
	return withScratchRepository(git, async scratch => {
		const file = path.join(scratch, 'source.bundle');
		writeFileSync(file, bundle, {mode: 0o600, flag: 'wx'});
		// Only what is asked for is taken, and by its bytes: what else is wrong with an old history does not matter here.
		const config: GitRequest['config'] = [['transfer.fsckObjects', 'false']];
		await git.run({command: ['bundle', 'unbundle', file], gitDir: scratch, config});
		return use(openSourceObjects(git, scratch));
	});
}

async function withScratchRepository<T>(git: Git, use: (gitDir: string) => Promise<T>): Promise<T> {
	const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'bailiff-source-')));
	try {
		const gitDir = path.join(directory, 'source.git');
		await git.run({command: ['init', '--bare', '--quiet', '--template=', gitDir], gitDir: null});
		return await use(gitDir);
	} finally {
		rmSync(directory, {recursive: true, force: true});
	}
}

async function readBlobs(git: Git, gitDir: string, ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
	const objects = await readObjects(git, gitDir, [...new Set(ids)]);
	return new Map(
		Array.from(objects, ([id, {type, body}]) => {
			if (type !== 'blob') {
				throw new BailiffError('CACHE_OBJECT_INVALID', `git object ${id} is no blob but a ${type}`, {details: {id}});
			}

			return [id, body];
		}),
	);
}

/** Written afresh, without deltas: the same objects give the same bytes. */
async function packObjects(git: Git, gitDir: string, wanted: {readonly sha: string; readonly blobIds: readonly string[]}): Promise<Buffer> {
	const {sha, blobIds} = wanted;
	const {tree} = await readCommitEntries(git, gitDir, sha);
	const {stdout} = await git.run({command: ['ls-tree', '-r', '-t', '-d', '-z', '--full-tree', sha], gitDir});
	const trees = Array.from(stdout.toString('latin1').matchAll(/(?:^|\0)040000 tree ([0-9a-f]{40})\t/g), ([, id = '']) => id);
	const ids = [...new Set([sha, tree, ...trees, ...blobIds])];
	const packed = await git.run({
		command: ['pack-objects', '--stdout', '-q', '--threads=1', '--window=0', '--no-reuse-delta', '--no-reuse-object'],
		gitDir,
		input: Buffer.from(`${ids.join('\n')}\n`),
		maxOutputBytes: maxPackBytes,
	});
	return packed.stdout;
}
