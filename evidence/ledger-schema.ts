import * as z from 'zod';
import {commitIdForm, countForm, rfc3339Form, runIdForm, sha256Form} from './forms.ts';

const line = {n: z.int().min(1), prev_sha256: sha256Form.nullable(), at: rfc3339Form};

/** One line of ledger.jsonl (E-LED). */
export const ledgerLineSchema = z.discriminatedUnion('event', [
	z.strictObject({...line, event: z.literal('started'), run_id: runIdForm, plan_sha256: sha256Form, source_sha: commitIdForm}),
	z.strictObject({...line, event: z.literal('published'), run_id: runIdForm, manifest_sha256: sha256Form, result: z.enum(['passed', 'failed'])}),
	z.strictObject({...line, event: z.literal('abandoned'), run_id: runIdForm}),
	z.strictObject({...line, event: z.literal('torn'), bytes: countForm, sha256: sha256Form}),
]);
/** One line of ledger.jsonl. */
export type LedgerLine = z.infer<typeof ledgerLineSchema>;
