import * as z from 'zod';
import {type ArchiveFormat, type ArchiveRequest, validateArchive} from './archive-reader.ts';
import {commandV1Schema, type ManifestV1, manifestV1Schema} from './archive-schema.ts';
import type {ValidateAnswer} from './validate.ts';

const format: ArchiveFormat<ManifestV1> = {
	word: 'evidence-manifest/v1',
	verdict: 'legacy-v1-digest-only',
	schema: manifestV1Schema,
	frame: manifestV1Schema.extend({commands: z.array(z.unknown()).min(1).max(256)}),
	items: [['commands', commandV1Schema]],
	// A v1 manifest states no result, and none is inferred from its exit codes.
	result: () => null,
	source: ({source_sha: sha}) => ({sha, shaPointer: '/source_sha'}),
	plan: () => null,
	outputs: ({commands}) =>
		commands.map(({output, output_sha256: sha256}, index) => ({
			path: output,
			sha256,
			bytes: null,
			pathPointer: `/commands/${index}/output`,
			shaPointer: `/commands/${index}/output_sha256`,
		})),
	identity: ({owner, repository, issue}, {target}) => [
		['/owner', owner === target.owner],
		['/repository', repository === target.repository],
		['/issue', issue === target.issue],
	],
	record: () => [],
};

/**
 * Checks one archived run of evidence-manifest/v1, read only: place, current HEAD and the digests of its outputs; there is nothing else in it.
 *
 * `legacy-v1-digest-only` is no new run and no proof for a fresh publication; v2 and v3 are EVIDENCE_VERSION here. Total: any bytes and any
 * directory give an answer. Source: E-READ-3, E-READ-4, E-READ-6.
 */
export async function validateLegacy(request: ArchiveRequest): Promise<ValidateAnswer> {
	return validateArchive(request, format);
}
