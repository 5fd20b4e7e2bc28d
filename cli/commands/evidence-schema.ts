import type {JsonValue} from '../../core/errors.ts';
import {ledgerLineJsonSchema, manifestJsonSchema, reportJsonSchema} from '../../evidence/json-schema.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';

/** `bailiff evidence schema`: the JSON Schema of a manifest, of a line of the ledger or of a report (E-V3-1). */
export async function evidenceSchema(call: CommandCall): Promise<Reply> {
	const schema = schemaOf(call.options.text('document'));
	return {exitCode: exitCodes.yes, json: schema, text: JSON.stringify(schema, null, '\t')};
}

function schemaOf(document: string | null): {readonly [key: string]: JsonValue} {
	if (document === 'ledger-line') {
		return ledgerLineJsonSchema();
	}

	return document === 'report' ? reportJsonSchema() : manifestJsonSchema();
}
