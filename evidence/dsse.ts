import {createHash, createPublicKey, type KeyObject, sign, verify} from 'node:crypto';
import * as z from 'zod';
import {canonicalFile} from '../core/canonical-json.ts';
import {BailiffError} from '../core/errors.ts';
import {parseStrictJson} from '../core/strict-json.ts';
import {manifestLimits} from './manifest.ts';
import type {ProblemCode} from './problems.ts';
import {statementPayloadType} from './statement.ts';

const signatureBytes = 64;
const envelopeLimits = {maxBytes: 2 * manifestLimits.maxBytes, maxDepth: 8} as const;
const envelopeSchema = z.strictObject({
	payload: z.string(),
	payloadType: z.string(),
	signatures: z.tuple([z.strictObject({keyid: z.string().max(256).exactOptional(), sig: z.string()})]),
});

/** What a verified envelope holds, or why it is none. */
export type OpenedEnvelope =
	| {readonly isGood: true; readonly payload: Buffer; readonly keyId: string}
	| {readonly isGood: false; readonly code: ProblemCode; readonly message: string};

/** The bytes that a DSSE signature is over: type and payload with their lengths in bytes. Source: DSSE 1.0.2, PAE. */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Buffer {
	const type = Buffer.from(payloadType, 'utf8');
	return Buffer.concat([Buffer.from(`DSSEv1 ${type.length} `), type, Buffer.from(` ${payload.length} `), payload]);
}

/** A DSSE envelope with one Ed25519 signature, as canonical JSON plus one LF. Source: E-EXP-3, DSSE 1.0.2. */
export function sealEnvelope(payload: Uint8Array, privateKey: KeyObject): Buffer {
	const signature = sign(null, preAuthEncoding(statementPayloadType, payload), privateKey);
	return canonicalFile({
		payload: Buffer.from(payload).toString('base64'),
		payloadType: statementPayloadType,
		signatures: [{keyid: keyIdOf(createPublicKey(privateKey)), sig: signature.toString('base64')}],
	});
}

/**
 * Verifies an envelope with exactly one signature against the keys that the reviewer trusts, and gives the payload only then.
 *
 * Shape: closed keys; base64 in its one canonical form (stricter than DSSE, which asks readers to take both alphabets: one envelope must not have two spellings).
 * The keyid is a hint that nobody signed and is not looked at. Total. Source: E-EXP-3, DSSE 1.0.2.
 */
export function openEnvelope(bytes: Uint8Array, trustedKeys: readonly KeyObject[]): OpenedEnvelope {
	const envelope = parseEnvelope(bytes);
	if ('message' in envelope) {
		return {isGood: false, code: 'EVIDENCE_ATTESTATION_FORM', message: envelope.message};
	}

	const payload = canonicalBase64(envelope.payload);
	const signature = canonicalBase64(envelope.signatures[0].sig);
	if (payload === null || signature === null) {
		return {isGood: false, code: 'EVIDENCE_ATTESTATION_BASE64', message: 'payload or signature is not base64 in its one canonical form'};
	}

	if (envelope.payloadType !== statementPayloadType) {
		return {isGood: false, code: 'EVIDENCE_ATTESTATION_PAYLOAD_TYPE', message: `the payload type must be exactly ${statementPayloadType}`};
	}

	const signed = preAuthEncoding(envelope.payloadType, payload);
	const key = signature.length === signatureBytes ? trustedKeys.find(trusted => verify(null, signed, trusted, signature)) : undefined;
	return key === undefined
		? {isGood: false, code: 'EVIDENCE_ATTESTATION_SIGNER', message: 'no trusted key made this signature over these bytes'}
		: {isGood: true, payload, keyId: keyIdOf(key)};
}

/** Names a public key: SHA-256 of its SPKI DER form, lower-case hex. */
export function keyIdOf(key: KeyObject): string {
	return createHash('sha256')
		.update(key.export({type: 'spki', format: 'der'}))
		.digest('hex');
}

function parseEnvelope(bytes: Uint8Array): z.infer<typeof envelopeSchema> | {readonly message: string} {
	try {
		const parsed = envelopeSchema.safeParse(parseStrictJson(bytes, envelopeLimits));
		return parsed.success ? parsed.data : {message: 'a DSSE envelope has payload, payloadType and exactly one signature, and nothing else'};
	} catch (error) {
		if (error instanceof BailiffError) {
			return {message: `this is no DSSE envelope: ${error.message}`};
		}

		throw error;
	}
}

/** The bytes of base64 text that is spelled as an encoder spells it, else null. */
export function canonicalBase64(text: string): Buffer | null {
	const bytes = Buffer.from(text, 'base64');
	return bytes.toString('base64') === text ? bytes : null;
}
