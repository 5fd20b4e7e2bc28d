import {createHash} from 'node:crypto';
import {BailiffError} from '../core/errors.ts';

/** The one directory at the top of a serialised bag. */
export const bagBase = 'bailiff-evidence';

/** Where the payload lies in a bag. */
export const bagPaths = {
	plan: 'data/run/plan.json',
	manifest: 'data/run/manifest.json',
	run: 'data/run/',
	ledger: 'data/ledger.jsonl',
	pack: 'data/source.pack',
	tagManifest: 'tagmanifest-sha256.txt',
} as const;

/** One file of a bag. */
export type BagFile = {readonly path: string; readonly bytes: number; readonly sha256: string; readonly sha512: string};

const payloadForm = /^data\/(?:ledger\.jsonl|source\.pack|run\/(?:plan\.json|manifest\.json|output\/\d{3}\.(?:log|err|trace\.jsonl)))$/;
const algorithms = ['sha256', 'sha512'] as const;

/** True for the path of a payload file that an export can hold. */
export function isPayloadPath(path: string): boolean {
	return payloadForm.test(path);
}

/** The file with its size and both digests. */
export function bagFile(path: string, bytes: Uint8Array): BagFile {
	const digest = (algorithm: string): string => createHash(algorithm).update(bytes).digest('hex');
	return {path, bytes: bytes.length, sha256: digest('sha256'), sha512: digest('sha512')};
}

/**
 * The tag files of a bag, by path: the same payload always gives the same bytes (no date, no host).
 *
 * Source: RFC 8493, E-EXP-1.
 */
export function tagFiles(payload: readonly BagFile[], identifier: string): ReadonlyMap<string, Buffer> {
	const octets = payload.reduce((sum, {bytes}) => sum + bytes, 0);
	const info = [
		`External-Identifier: ${identifier}`,
		'External-Description: evidence of one verification run, with the git objects that bind its source',
		`Payload-Oxum: ${octets}.${payload.length}`,
		'Bag-Software-Agent: bailiff',
	];
	const texts = new Map<string, string>([
		['bag-info.txt', info.map(line => `${line}\n`).join('')],
		['bagit.txt', 'BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n'],
		...algorithms.map(algorithm => [`manifest-${algorithm}.txt`, manifestText(payload, algorithm)] as const),
	]);
	const tags = Array.from(texts, ([path, text]) => bagFile(path, Buffer.from(text)));
	for (const algorithm of algorithms) {
		texts.set(`tagmanifest-${algorithm}.txt`, manifestText(tags, algorithm));
	}

	return new Map(Array.from(texts, ([path, text]) => [path, Buffer.from(text)]));
}

/**
 * Holds the files of a bag against what an export with this payload would be, to the byte of every tag file.
 *
 * Refuses: EVIDENCE_BUNDLE_INVALID, for a payload file that no manifest lists as well as for one that is listed and not there. Source: RFC 8493, E-EXP-2.
 */
export function checkBag(files: ReadonlyMap<string, BagFile>, identifier: string): void {
	const payload = [...files.values()].filter(({path}) => isPayloadPath(path));
	const tags = tagFiles(payload, identifier);
	for (const path of files.keys()) {
		if (!isPayloadPath(path) && !tags.has(path)) {
			throw invalid(path, 'has no place in an export');
		}
	}

	for (const [path, bytes] of tags) {
		const found = files.get(path);
		if (found === undefined) {
			throw invalid(path, 'is missing');
		}

		if (found.sha256 !== bagFile(path, bytes).sha256) {
			throw invalid(path, 'is not what follows from the files of the bundle');
		}
	}

	for (const path of [bagPaths.plan, bagPaths.manifest, bagPaths.ledger, bagPaths.pack]) {
		if (!files.has(path)) {
			throw invalid(path, 'is missing');
		}
	}
}

function manifestText(files: readonly BagFile[], algorithm: (typeof algorithms)[number]): string {
	return files
		.toSorted((left, right) => (left.path < right.path ? -1 : 1))
		.map(file => `${file[algorithm]}  ${file.path}\n`)
		.join('');
}

function invalid(path: string, what: string): BailiffError {
	return new BailiffError('EVIDENCE_BUNDLE_INVALID', `the bundle is not whole: ${JSON.stringify(path)} ${what}`, {details: {path}});
}
