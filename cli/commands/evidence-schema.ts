import {BailiffError} from '../../core/errors.ts';
import {ledgerLineJsonSchema, manifestJsonSchema, manifestV1JsonSchema, manifestV2JsonSchema, reportJsonSchema} from '../../evidence/json-schema.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';
import type {OptionValues} from '../option-values.ts';

/** `bailiff evidence schema`: the JSON Schema of a manifest of any version, of a line of the ledger or of a report (E-V3-1, E-READ-4). */
export async function evidenceSchema(call: CommandCall): Promise<Reply> {
	const schema = schemaOf(call.options);
	return {exitCode: exitCodes.yes, json: schema, text: JSON.stringify(schema, null, '\t')};
}

function schemaOf(options: OptionValues): Reply['json'] {
	const version = options.text('version') ?? 'v3';
	const document = options.text('document') ?? 'manifest';
	if (document !== 'manifest' && version !== 'v3') {
		throw new BailiffError('CLI_USAGE', `there is no ${document} of ${version}: leave --version out, or ask for the manifest`);
	}

	if (document === 'ledger-line') {
		return ledgerLineJsonSchema();
	}

	return document === 'report' ? reportJsonSchema() : manifestSchemaOf(version);
}

function manifestSchemaOf(version: string): Reply['json'] {
	if (version === 'v1') {
		return manifestV1JsonSchema();
	}

	return version === 'v2' ? manifestV2JsonSchema() : manifestJsonSchema();
}
