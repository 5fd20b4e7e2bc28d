import path from 'node:path';
import {type Git, openGit} from '../cache/git-command.ts';
import {issuePaths} from '../cache/layout.ts';
import {requireMirrorPlace} from '../cache/mirror-check.ts';
import {openSourceObjects, type UnpackedSource, unpackSourceBundle, unpackSourcePack} from '../cache/source-objects.ts';
import {checkPrivateDirectory, statusIfThere} from '../cache/trust.ts';
import {BailiffError} from '../core/errors.ts';
import type {Target} from '../core/ids.ts';
import {closing, SafeDirectory} from '../core/safe-file.ts';
import {bagPaths} from '../evidence/bagit.ts';
import {bundleLimits, openBundle} from '../evidence/bundle.ts';
import type {SourceObjects} from '../evidence/ports.ts';
import {receivedName} from '../evidence/receive.ts';

/** Where the git objects of a run may be taken from. */
export type SourceChoice = {
	readonly root: string;
	readonly target: Target;
	readonly runId: string;
	/** A bare repository; absolute, without links. */
	readonly mirror: string | null;
	/** A git bundle, or an export of bailiff; absolute, without links. */
	readonly bundle: string | null;
};

/**
 * Lends the git objects that a reviewer names, or those of the root: its mirror, else the source that came with a received run.
 *
 * Never rejects for what stands there: objects that cannot be had refuse when they are asked for. Refuses: CACHE_GIT_MISSING, CACHE_GIT_VERSION.
 * Source: E-READ-5.
 */
export async function withSourceObjects<T>(choice: SourceChoice, use: (objects: SourceObjects) => Promise<T>): Promise<T> {
	const git = await openGit();
	const {objects, close} = await openOrRefuse(git, choice);
	try {
		return await use(objects);
	} finally {
		close();
	}
}

async function openOrRefuse(git: Git, choice: SourceChoice): Promise<UnpackedSource> {
	try {
		return await openSource(git, choice);
	} catch (error) {
		if (!(error instanceof BailiffError)) {
			throw error;
		}

		const refuse = async (): Promise<never> => {
			throw error;
		};
		return {objects: {readCommit: refuse, readBlobs: refuse}, close: () => {}};
	}
}

async function openSource(git: Git, {bundle, mirror, root, target, runId}: SourceChoice): Promise<UnpackedSource> {
	if (bundle !== null) {
		const {kind, bytes} = readSource(bundle);
		return kind === 'bundle' ? unpackSourceBundle(git, bytes) : unpackSourcePack(git, bytes);
	}

	if (mirror !== null) {
		SafeDirectory.open(mirror).close();
		return {objects: openSourceObjects(git, mirror), close: () => {}};
	}

	const paths = issuePaths(root, target);
	const received = path.join(paths.runtime, receivedName(runId));
	if (statusIfThere(paths.mirror) === null && statusIfThere(received) !== null) {
		checkPrivateDirectory(received);
		return unpackSourcePack(git, readSource(path.join(received, 'source.pack')).bytes);
	}

	requireMirrorPlace(paths);
	return {objects: openSourceObjects(git, paths.mirror), close: () => {}};
}

/** The bytes of a git bundle, a git pack, or of the pack in an export, told apart by how they begin. */
function readSource(place: string): {readonly kind: 'bundle' | 'pack'; readonly bytes: Buffer} {
	const kind = closing(SafeDirectory.open(path.dirname(place)), directory =>
		closing(directory.file(path.basename(place)), file => {
			if (file.status.isDirectory() || !file.status.isFile()) {
				return null;
			}

			let head = '';
			file.scan(bundleLimits.maxBytes, chunk => {
				head = head === '' ? chunk.toString('latin1', 0, 16) : head;
			});
			return head.startsWith('# v') ? 'bundle' : head.startsWith('PACK') ? 'pack' : null;
		}),
	);
	if (kind === null) {
		return {kind: 'pack', bytes: packOfExport(place)};
	}

	const bytes = closing(
		SafeDirectory.open(path.dirname(place)),
		directory => directory.readFile(path.basename(place), {maxBytes: bundleLimits.maxEntryBytes}).bytes,
	);
	return {kind, bytes};
}

function packOfExport(place: string): Buffer {
	return closing(openBundle(place), bundle => {
		let pack: Buffer | null = null;
		bundle.visit(bundle.digest(), (name, content) => {
			pack = name === bagPaths.pack ? content : pack;
		});
		if (pack === null) {
			throw new BailiffError('EVIDENCE_BUNDLE_INVALID', `${JSON.stringify(place)} holds no ${bagPaths.pack}`, {details: {path: place}});
		}

		return pack;
	});
}
