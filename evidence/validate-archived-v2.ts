import * as z from 'zod';
import {type ArchiveFormat, type ArchiveRequest, type ReadArchive, validateArchive} from './archive-reader.ts';
import {claimV2Schema, commandV2Schema, type ManifestV2, manifestV2Schema} from './archive-schema.ts';
import {claimPointers} from './claims.ts';
import {claimSideProblems, type DerivedValue} from './claims-check.ts';
import type {Problem, ProblemCode} from './problems.ts';
import type {ValidateAnswer} from './validate.ts';

const claimNames = ['argv', 'cwd', 'expected_exit_code', 'exit_code', 'output_path', 'output_sha256'] as const;

const format: ArchiveFormat<ManifestV2> = {
	word: 'evidence-manifest/v2',
	verdict: 'archived-v2-consistent',
	schema: manifestV2Schema,
	frame: manifestV2Schema.extend({commands: z.array(z.unknown()).min(1).max(256), claims: z.array(z.unknown()).max(256)}),
	items: [
		['commands', commandV2Schema],
		['claims', claimV2Schema],
	],
	result: ({result}) => result,
	source: ({source}) => ({sha: source.sha, shaPointer: '/source/sha'}),
	plan: ({plan}) => plan,
	outputs: ({commands}) =>
		commands.map(({output}, index) => ({
			...output,
			pathPointer: `/commands/${index}/output/path`,
			shaPointer: `/commands/${index}/output/sha256`,
		})),
	identity: ({run_id: named, target}, {target: place, runId}) => [
		['/run_id', named === runId],
		['/target/owner', target.owner === place.owner],
		['/target/repository', target.repository === place.repository],
		['/target/issue', target.issue === place.issue],
	],
	record: recordProblems,
};

/**
 * Checks one archived run of evidence-manifest/v2, read only: place, current HEAD, plan, claims and outputs.
 *
 * `archived-v2-consistent` says nothing of deadlines or of how commands ended, is no new run and no proof for a fresh publication; v1 and v3 are
 * EVIDENCE_VERSION here. Total: any bytes and any directory give an answer. Source: E-READ-2, E-READ-4, E-READ-6.
 */
export async function validateArchivedV2(request: ArchiveRequest): Promise<ValidateAnswer> {
	return validateArchive(request, format);
}

function recordProblems(archive: ReadArchive<ManifestV2>): Problem[] {
	const {document, path, value} = archive;
	return [
		...claimSideProblems({
			path,
			value,
			claims: document.claims,
			commandIds: document.commands.map(({id}) => id),
			names: claimNames,
			pointersOf: claimPointers,
			derive: (index, name) => derivedValue(archive, index, name),
		}),
		...planProblems(archive),
		...sourceRecordProblems(archive),
		...resultProblems(archive),
	];
}

function derivedValue({document, plan, digests}: ReadArchive<ManifestV2>, index: number, name: (typeof claimNames)[number]): DerivedValue | undefined {
	if (name === 'argv' || name === 'cwd' || name === 'expected_exit_code') {
		const planned = plan?.commands[index];
		return planned === undefined ? undefined : {value: planned[name], origin: 'the plan'};
	}

	const stored = digests.get(document.commands[index]?.output.path ?? '');
	return name === 'output_sha256' && stored !== undefined ? {value: stored, origin: 'the stored file'} : undefined;
}

/** Beside the claims, which hold the values: order, ids and that the executed commands begin the plan. */
function planProblems({document, plan, path}: ReadArchive<ManifestV2>): Problem[] {
	const at = problemIn(path);
	const seen = new Set<string>();
	return document.commands.flatMap(({id}, index) => {
		const twin = seen.has(id) ? [at('EVIDENCE_SCHEMA', `/commands/${index}/id`, 'another command has the same id')] : [];
		seen.add(id);
		const planned = plan?.commands[index];
		if (plan === null || planned?.id === id) {
			return twin;
		}

		return [
			...twin,
			planned === undefined
				? at('EVIDENCE_PREFIX', `/commands/${index}`, 'the plan has no command here')
				: at('EVIDENCE_PLAN_MISMATCH', `/commands/${index}/id`, 'the plan has another command here'),
		];
	});
}

function sourceRecordProblems({document: {source}, path}: ReadArchive<ManifestV2>): Problem[] {
	const at = problemIn(path);
	return [
		...(source.head === source.sha ? [] : [at('EVIDENCE_SOURCE_HEAD', '/source/head', 'the run was made on another commit than it says')]),
		...(source.clean ? [] : [at('EVIDENCE_SOURCE_BYTES', '/source/clean', 'the run was made on a checkout with changes: it binds to no commit')]),
	];
}

/** Only what contradicts itself: why a run failed is not inferred. */
function resultProblems({document, plan, path}: ReadArchive<ManifestV2>): Problem[] {
	const {commands, result} = document;
	const isWhole = plan === null || commands.length === plan.commands.length;
	if (result === 'failed' || (isWhole && commands.every(command => command.exit_code === command.expected_exit_code))) {
		return [];
	}

	return [problemIn(path)('EVIDENCE_RESULT', '/result', 'a run that passed has executed every command of its plan with the expected exit code')];
}

function problemIn(path: string): (code: ProblemCode, pointer: string, message: string) => Problem {
	return (code, pointer, message) => ({code, path, pointer, message});
}
