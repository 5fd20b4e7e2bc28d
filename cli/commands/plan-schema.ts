import {planJsonSchema} from '../../evidence/json-schema.ts';
import type {Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';

/** `bailiff plan schema`: the JSON Schema of a plan (E-V3-1). */
export async function planSchema(): Promise<Reply> {
	const schema = planJsonSchema();
	return {exitCode: exitCodes.yes, json: schema, text: JSON.stringify(schema, null, '\t')};
}
