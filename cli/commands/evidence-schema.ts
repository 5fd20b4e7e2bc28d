import {ledgerLineJsonSchema, manifestJsonSchema} from '../../evidence/json-schema.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';

/** `bailiff evidence schema`: the JSON Schema of a manifest, or of a line of the ledger (E-V3-1). */
export async function evidenceSchema(call: CommandCall): Promise<Reply> {
	const schema = call.options.text('document') === 'ledger-line' ? ledgerLineJsonSchema() : manifestJsonSchema();
	return {exitCode: exitCodes.yes, json: schema, text: JSON.stringify(schema, null, '\t')};
}
