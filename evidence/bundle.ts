import path from 'node:path';
import {sha256Hex} from '../core/digest.ts';
import {BailiffError} from '../core/errors.ts';
import {fileRefusal} from '../core/file-fault.ts';
import {closing, SafeDirectory, type SafeFile} from '../core/safe-file.ts';
import {bagBase, bagPaths} from './bagit.ts';
import {UstarReader} from './ustar.ts';

/** Bounds of a bundle. 256 commands with three files each, the rest, and room to name what should not be there. */
export const bundleLimits = {maxBytes: 2 * 1024 ** 3, maxEntries: 1024, maxEntryBytes: 256 * 1_048_576} as const;

/** What is called the digest of a bundle: of the tar file itself, or of the file that lists every other one. */
export const bundleDigestOf = {tar: 'the tar file', directory: bagPaths.tagManifest} as const;

/** An open bundle. Nothing of it is trusted. */
export type Bundle = {
	readonly form: 'tar' | 'directory';
	/** Its digest, worked out now. */
	readonly digest: () => string;
	/** Hands over every file, by its path in the bag, whole; refuses where the digest is not `expectedSha256` at the end. */
	readonly visit: (expectedSha256: string, use: (path: string, content: Buffer) => void) => void;
	readonly close: () => void;
};

/**
 * Opens a bundle by an absolute path without links. Nothing is waited for: a FIFO, a device or a link is refused before it is opened.
 *
 * Refuses: CORE_FILE_ codes, EVIDENCE_BUNDLE_INVALID. The caller closes it. Source: E-EXP-2, E-READ-6.
 */
export function openBundle(place: string): Bundle {
	const parent = SafeDirectory.open(path.dirname(place));
	try {
		const file = parent.file(path.basename(place));
		if (!file.status.isDirectory()) {
			return tarBundle(file);
		}

		file.close();
		return directoryBundle(parent.enter(path.basename(place)));
	} finally {
		parent.close();
	}
}

function tarBundle(file: SafeFile): Bundle {
	const {maxBytes} = bundleLimits;
	const [fault] = file.faults({maxBytes});
	if (fault !== undefined) {
		const {size} = file.status;
		file.close();
		throw fault === 'too-large' ? tooLarge(file.path, size) : fileRefusal(fault, file.path);
	}

	return {
		form: 'tar',
		digest: () => file.digest(maxBytes).sha256,
		visit: (expectedSha256, use) => {
			const reader = new UstarReader(bundleLimits, (entry, content) => use(inBag(entry.path), content));
			const {sha256} = file.scan(maxBytes, chunk => reader.push(chunk));
			reader.end();
			requireDigest(sha256, expectedSha256);
		},
		close: () => file.close(),
	};
}

function tooLarge(place: string, bytes: bigint): BailiffError {
	return new BailiffError('CORE_FILE_TOO_LARGE', `${JSON.stringify(place)} has ${bytes} bytes, the limit of a bundle is ${bundleLimits.maxBytes}`, {
		details: {path: place, fault: 'too-large', limit: bundleLimits.maxBytes},
	});
}

function inBag(entry: string): string {
	if (!entry.startsWith(`${bagBase}/`)) {
		throw new BailiffError('EVIDENCE_BUNDLE_INVALID', `the bundle holds ${JSON.stringify(entry)}, everything must lie in ${bagBase}/`, {
			details: {path: entry},
		});
	}

	return entry.slice(bagBase.length + 1);
}

/** The directories of a bag; any other one is refused. */
const directories: ReadonlySet<string> = new Set(['data', 'data/run', 'data/run/output']);

function directoryBundle(directory: SafeDirectory): Bundle {
	const digest = (): string => sha256Hex(directory.readFile(bagPaths.tagManifest, {maxBytes: 1_048_576}).bytes);
	return {
		form: 'directory',
		digest,
		visit: (expectedSha256, use) => {
			const left = {entries: bundleLimits.maxEntries};
			visitBelow(directory, '', {use, left});
			requireDigest(digest(), expectedSha256);
		},
		close: () => directory.close(),
	};
}

type Visit = {readonly use: (path: string, content: Buffer) => void; readonly left: {entries: number}};

function visitBelow(directory: SafeDirectory, prefix: string, visit: Visit): void {
	const names = directory.entries(Math.max(0, visit.left.entries)).map(name => name.toString('latin1'));
	visit.left.entries -= names.length;
	for (const name of names.toSorted()) {
		const place = `${prefix}${name}`;
		if (directories.has(place)) {
			closing(directory.enter(name), below => visitBelow(below, `${place}/`, visit));
		} else {
			visit.use(place, directory.readFile(name, {maxBytes: bundleLimits.maxEntryBytes}).bytes);
		}
	}
}

/** Refuses: EVIDENCE_BUNDLE_DIGEST. */
export function requireDigest(found: string, expected: string): void {
	if (found !== expected) {
		throw new BailiffError('EVIDENCE_BUNDLE_DIGEST', `the bundle has the digest ${found}, expected was ${expected}: nothing of it is taken`, {
			details: {found, expected},
		});
	}
}
