import * as z from 'zod';
import {BailiffError, type ErrorCode, errorCodes, type JsonValue} from '../core/errors.ts';
import {parseDocument} from './trusted-file.ts';

/** Limits of the protocol and of a lease. Source: authority.md section 5. */
export const brokerLimits = {lineBytes: 65_536, minTtlSeconds: 5, maxTtlSeconds: 3600, defaultTtlSeconds: 900, maxWaitSeconds: 3600} as const;

/** The locks that a broker, or anybody without one, can be asked about. */
export const probedResources = ['issue', 'repository', 'bootstrap'] as const;

/** A lock that can be asked about. */
export type ProbedResource = (typeof probedResources)[number];

const envelope = {v: z.literal(1), id: z.int().min(0), token: z.string().min(1).max(256)};
const requestSchema = z.discriminatedUnion('op', [
	z.strictObject({...envelope, op: z.literal('acquire'), hold: z.boolean()}),
	z.strictObject({...envelope, op: z.literal('renew'), ttl_seconds: z.int().min(brokerLimits.minTtlSeconds).max(brokerLimits.maxTtlSeconds)}),
	z.strictObject({
		...envelope,
		op: z.literal('acquire_repository'),
		wait_seconds: z.int().min(0).max(brokerLimits.maxWaitSeconds),
		pass_descriptor: z.boolean(),
	}),
	z.strictObject({...envelope, op: z.literal('release_repository')}),
	z.strictObject({...envelope, op: z.literal('probe'), resource: z.enum(probedResources)}),
	z.strictObject({...envelope, op: z.literal('release')}),
]);

/** One request to a broker; every key is always there. Source: BR-3. */
export type BrokerRequest = z.infer<typeof requestSchema>;

type WithoutEnvelope<Request> = Request extends unknown ? Omit<Request, keyof typeof envelope> : never;

/** What a client asks; number and token are added where it is sent. */
export type BrokerQuestion = WithoutEnvelope<BrokerRequest>;

const leaseSchema = z.strictObject({issue: z.enum(['held', 'free']), repository: z.enum(['held', 'free']), expires_in_seconds: z.int().min(0)});
const details: z.ZodType<{readonly [key: string]: JsonValue}> = z.record(z.string(), z.json());
const answerSchema = z.discriminatedUnion('ok', [
	z.strictObject({v: z.literal(1), id: z.int().min(0), ok: z.literal(true), lease: leaseSchema, free: z.boolean().nullable()}),
	z.strictObject({
		v: z.literal(1),
		id: z.int().min(0).nullable(),
		ok: z.literal(false),
		error: z.strictObject({code: z.enum(errorCodes), message: z.string(), details}),
	}),
]);

/** How a lease stands. */
export type LeaseStanding = z.infer<typeof leaseSchema>;

/** The answer to one request. `id` is null where the request had none that could be read. */
export type BrokerAnswer = z.infer<typeof answerSchema>;

/** A request that was granted. */
export type GrantedAnswer = Extract<BrokerAnswer, {ok: true}>;

/** One line of the protocol, with its line feed. */
export function lineOf(value: BrokerRequest | BrokerAnswer): Buffer {
	return Buffer.from(`${JSON.stringify(value)}\n`);
}

/** Reads a request. Refuses: CACHE_BROKER_PROTOCOL; no value is quoted, the token least of all. Source: BR-3. */
export function parseRequest(line: Uint8Array): BrokerRequest {
	return parseLine('the request', line, requestSchema);
}

/** Reads an answer. Refuses: CACHE_BROKER_PROTOCOL. */
export function parseAnswer(line: Uint8Array): BrokerAnswer {
	return parseLine('the answer of the broker', line, answerSchema);
}

/** The answer that says no. */
export function refusalOf(id: number | null, error: BailiffError): BrokerAnswer {
	return {v: 1, id, ok: false, error: {code: error.code, message: error.message, details: error.details}};
}

/** A line that breaks the protocol. */
export function protocolFault(message: string): BailiffError {
	return new BailiffError('CACHE_BROKER_PROTOCOL', message);
}

/**
 * Puts the bytes of one connection together to lines.
 *
 * Refuses: CACHE_BROKER_PROTOCOL for a line of more than 64 KiB, and for anything that follows a line before it was answered. Source: authority.md section 5.
 */
export class LineReader {
	#bytes: Buffer = Buffer.alloc(0);

	/** The line that these bytes complete, without its line feed, or null. */
	push(bytes: Uint8Array): Buffer | null {
		const all = Buffer.concat([this.#bytes, bytes]);
		const end = all.indexOf(0x0a);
		if ((end === -1 ? all.length : end + 1) > brokerLimits.lineBytes) {
			throw protocolFault(`a line has more than ${brokerLimits.lineBytes} bytes`);
		}

		if (end === -1) {
			this.#bytes = all;
			return null;
		}

		if (end !== all.length - 1) {
			throw protocolFault('something follows a line before it was answered: one request at a time');
		}

		this.#bytes = Buffer.alloc(0);
		return all.subarray(0, end);
	}
}

function parseLine<Schema extends z.ZodType>(file: string, bytes: Uint8Array, schema: Schema): z.infer<Schema> {
	const code: ErrorCode = 'CACHE_BROKER_PROTOCOL';
	return parseDocument({file, bytes}, schema, {
		maxBytes: brokerLimits.lineBytes,
		refusals: {missing: code, untrusted: code, unreadable: code, malformed: code},
	});
}
