import {mkdtempSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {BailiffError} from '../core/errors.ts';
import type {SourceObjects, SourcePacker} from '../evidence/ports.ts';
import type {Git, GitRequest} from './git-command.ts';
import {readCommitEntries, readObjects} from './git-objects.ts';
import {checkSourcePack, sourcePackLimits} from './source-pack.ts';

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

/** Objects in a bare repository of their own, which `close` removes. */
export type UnpackedSource = {readonly objects: SourceObjects; readonly close: () => void};

/**
 * The objects of a git pack.
 *
 * Refuses: CACHE_OBJECT_INVALID for a pack that no export would hold or that unpacks to too much, CACHE_GIT_FAILED. Source: E-READ-5, E-EXP-2.
 */
export async function unpackSourcePack(git: Git, pack: Buffer): Promise<UnpackedSource> {
	checkSourcePack(pack);
	const command = ['index-pack', '--stdin', '--threads=1', `--max-input-size=${sourcePackLimits.maxBytes}`];
	return unpack(git, async gitDir => git.run({command, gitDir, input: pack, maxOutputBytes: 4096}));
}

/** The objects of a git bundle, as `git bundle create` writes it. Refuses: CACHE_GIT_FAILED, CACHE_GIT_TIMEOUT. Source: E-READ-5. */
export async function unpackSourceBundle(git: Git, bundle: Buffer): Promise<UnpackedSource> {
	// Only what is asked for is taken, and by its bytes: what else is wrong with an old history does not matter here.
	const config: GitRequest['config'] = [['transfer.fsckObjects', 'false']];
	return unpack(git, async gitDir => {
		const file = path.join(gitDir, 'source.bundle');
		writeFileSync(file, bundle, {mode: 0o600, flag: 'wx'});
		return git.run({command: ['bundle', 'unbundle', file], gitDir, config});
	});
}

/** Lends the objects of a git pack. Refuses as unpackSourcePack. Source: E-EXP-2. */
export async function withSourcePack<T>(git: Git, pack: Buffer, use: (objects: SourceObjects) => Promise<T>): Promise<T> {
	const source = await unpackSourcePack(git, pack);
	try {
		return await use(source.objects);
	} finally {
		source.close();
	}
}

async function unpack(git: Git, fill: (gitDir: string) => Promise<unknown>): Promise<UnpackedSource> {
	const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'bailiff-source-')));
	const close = (): void => {
		rmSync(directory, {recursive: true, force: true});
	};

	try {
		const gitDir = path.join(directory, 'source.git');
		await git.run({command: ['init', '--bare', '--quiet', '--template=', gitDir], gitDir: null});
		await fill(gitDir);
		return {objects: openSourceObjects(git, gitDir), close};
	} catch (error) {
		close();
		throw error;
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

/** Written afresh, without deltas: the same objects give the same bytes. What a receiver would refuse is refused here. */
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
		maxOutputBytes: sourcePackLimits.maxBytes,
	});
	checkSourcePack(packed.stdout);
	return packed.stdout;
}
