import * as z from 'zod';
import {commitIdForm, countForm, issueForm, noNulForm, ownerForm, relPathForm, repositoryForm, runIdForm, sha256Form} from './forms.ts';

/** Older evidence had no limit of its own; these keep its readers small. Depth and bytes as of a manifest. */
export const archiveLimits = {maxBytes: 16 * 1_048_576, maxDepth: 24, maxPlanBytes: 1_048_576, maxOutputBytes: 64 * 1_048_576} as const;

const wholeNumber = z.int();
const argvForm = z.array(noNulForm).min(1).max(4096);
const labelForm = noNulForm.min(1).max(128);
const pointer = z.string();

/** One command of evidence-manifest/v2. */
export const commandV2Schema = z.strictObject({
	id: labelForm,
	argv: argvForm,
	cwd: noNulForm.min(1),
	expected_exit_code: wholeNumber,
	exit_code: wholeNumber.nullable(),
	output: z.strictObject({path: relPathForm, sha256: sha256Form, bytes: countForm}),
});

/** Six JSON Pointers into a v2 manifest. */
export const claimV2Schema = z.strictObject({
	id: labelForm,
	argv: pointer,
	cwd: pointer,
	expected_exit_code: pointer,
	exit_code: pointer,
	output_path: pointer,
	output_sha256: pointer,
});

/** evidence-manifest/v2, read only (E-READ-4). */
export const manifestV2Schema = z.strictObject({
	schema: z.literal('evidence-manifest/v2'),
	run_id: runIdForm,
	target: z.strictObject({owner: ownerForm, repository: repositoryForm, issue: issueForm}),
	source: z.strictObject({sha: commitIdForm, head: commitIdForm, clean: z.boolean()}),
	plan: z.strictObject({path: relPathForm, sha256: sha256Form}),
	commands: z.array(commandV2Schema).min(1).max(256),
	claims: z.array(claimV2Schema).max(256),
	result: z.enum(['passed', 'failed']),
});
/** evidence-manifest/v2. */
export type ManifestV2 = z.infer<typeof manifestV2Schema>;

/** One command of evidence-manifest/v1. */
export const commandV1Schema = z.strictObject({argv: argvForm, exit_code: wholeNumber.nullable(), output: relPathForm, output_sha256: sha256Form});

/** evidence-manifest/v1, read only (E-READ-4). */
export const manifestV1Schema = z.strictObject({
	schema: z.literal('evidence-manifest/v1'),
	owner: ownerForm,
	repository: repositoryForm,
	issue: issueForm,
	source_sha: commitIdForm,
	commands: z.array(commandV1Schema).min(1).max(256),
});
/** evidence-manifest/v1. */
export type ManifestV1 = z.infer<typeof manifestV1Schema>;

/**
 * What an archived plan must hold at least; every other key is let be.
 *
 * Source: shapes.ts: ManifestV2.
 */
export const archivedPlanSchema = z.looseObject({
	commands: z
		.array(z.looseObject({id: labelForm, argv: argvForm, cwd: noNulForm.min(1), expected_exit_code: wholeNumber}))
		.min(1)
		.max(4096),
});
/** The part of an archived plan that is read. */
export type ArchivedPlan = z.infer<typeof archivedPlanSchema>;
