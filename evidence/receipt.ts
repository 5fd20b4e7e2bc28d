import * as z from 'zod';
import {BailiffError} from '../core/errors.ts';
import {parseStrictJson} from '../core/strict-json.ts';
import {commitIdForm, countForm, issueForm, ownerForm, repositoryForm, rfc3339Form, runIdForm, sha256Form} from './forms.ts';

const shared = {
	bundle: z.strictObject({form: z.enum(['tar', 'directory']), sha256: sha256Form, digest_of: z.enum(['the tar file', 'tagmanifest-sha256.txt'])}),
	target: z.strictObject({owner: ownerForm, repository: repositoryForm, issue: issueForm}),
	run_id: runIdForm,
	result: z.enum(['passed', 'failed']),
	source: z.strictObject({sha: commitIdForm, tree: commitIdForm}),
	manifest_sha256: sha256Form,
	/** The last line of the ledger in the bundle: a tail that is cut off later shows against it (E-LED-3). */
	ledger: z.strictObject({n: z.int().min(1), sha256: sha256Form}),
	/** Every file of the bundle, by its path in the bag. */
	entries: z.array(z.strictObject({path: z.string(), bytes: countForm, sha256: sha256Form})),
	/** The digests were worked out from the written bundle, read again. */
	readback: z.literal(true),
};

/** What an export leaves beside its bundle. Source: E-EXP-1. */
export const exportReceiptSchema = z.strictObject({schema: z.literal('bailiff-export-receipt/v1'), ...shared, exported_at: rfc3339Form});
/** What an export leaves beside its bundle. */
export type ExportReceipt = z.infer<typeof exportReceiptSchema>;

/** What an import leaves under the runtime directory of the issue. Source: E-EXP-2. */
export const receiveReceiptSchema = z.strictObject({schema: z.literal('bailiff-receive-receipt/v1'), ...shared, received_at: rfc3339Form});
/** What an import leaves under the runtime directory of the issue. */
export type ReceiveReceipt = z.infer<typeof receiveReceiptSchema>;

/** A receipt names at most as many files as a bundle holds. */
export const maxReceiptBytes = 1_048_576;

/** What a receipt of either kind says. Refuses: CORE_JSON_ codes, EVIDENCE_RECEIPT_INVALID. Source: E-LED-3. */
export function parseReceipt(bytes: Uint8Array): ExportReceipt | ReceiveReceipt {
	const value = parseStrictJson(bytes, {maxBytes: maxReceiptBytes, maxDepth: 8});
	const parsed = z.union([exportReceiptSchema, receiveReceiptSchema]).safeParse(value);
	if (!parsed.success) {
		throw new BailiffError('EVIDENCE_RECEIPT_INVALID', 'this is no receipt of evidence export or evidence receive');
	}

	return parsed.data;
}

/** What both receipts say alike. */
export type ReceiptBody = Omit<ExportReceipt, 'schema' | 'exported_at'>;
