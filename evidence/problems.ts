import type {ErrorCode} from '../core/errors.ts';

/** Codes of what a reader can find, beside the CORE_JSON_ codes of the strict parser. Keep sorted. */
export const problemCodes = [
	'EVIDENCE_ATTESTATION_BASE64',
	'EVIDENCE_ATTESTATION_FORM',
	'EVIDENCE_ATTESTATION_NAMESPACE',
	'EVIDENCE_ATTESTATION_PAYLOAD_TYPE',
	'EVIDENCE_ATTESTATION_SIGNATURE',
	'EVIDENCE_ATTESTATION_SIGNER',
	'EVIDENCE_ATTESTATION_STATEMENT',
	'EVIDENCE_CLAIM_COUNT',
	'EVIDENCE_CLAIM_POINTER',
	'EVIDENCE_CLAIM_VALUE',
	'EVIDENCE_DIGEST',
	'EVIDENCE_DIRECTORY_MISSING',
	'EVIDENCE_DIRECTORY_UNLISTED',
	'EVIDENCE_FILE_CHANGED',
	'EVIDENCE_FILE_LINK',
	'EVIDENCE_FILE_MISSING',
	'EVIDENCE_FILE_MODE',
	'EVIDENCE_FILE_NLINK',
	'EVIDENCE_FILE_OWNER',
	'EVIDENCE_FILE_SIZE',
	'EVIDENCE_FILE_TYPE',
	'EVIDENCE_FILE_UNREADABLE',
	'EVIDENCE_LEDGER_CHAIN',
	'EVIDENCE_LEDGER_FORM',
	'EVIDENCE_LEDGER_MISMATCH',
	'EVIDENCE_LEDGER_MISSING',
	'EVIDENCE_LEDGER_RUN_MISSING',
	'EVIDENCE_LEDGER_TORN',
	'EVIDENCE_LEDGER_UNRECORDED',
	'EVIDENCE_MISSING_KEY',
	'EVIDENCE_MORE_PROBLEMS',
	'EVIDENCE_NOT_CANONICAL',
	'EVIDENCE_NOT_PASSED',
	'EVIDENCE_PLAN_MISMATCH',
	'EVIDENCE_PREFIX',
	'EVIDENCE_REDACTION',
	'EVIDENCE_RESULT',
	'EVIDENCE_RUN_MISMATCH',
	'EVIDENCE_SCHEMA',
	'EVIDENCE_SECRET_FOUND',
	'EVIDENCE_SOURCE_BYTES',
	'EVIDENCE_SOURCE_HEAD',
	'EVIDENCE_SOURCE_TREE',
	'EVIDENCE_SOURCE_UNREADABLE',
	'EVIDENCE_STOP',
	'EVIDENCE_TARGET_MISMATCH',
	'EVIDENCE_TIME',
	'EVIDENCE_TRACE',
	'EVIDENCE_TRUTH_TABLE',
	'EVIDENCE_UNKNOWN_KEY',
	'EVIDENCE_VERSION',
] as const;

/** A stable code of one problem. */
export type ProblemCode = (typeof problemCodes)[number];

/** One thing that a reader found wrong (shapes.ts: ValidateAnswer.problems). */
export type Problem = {
	readonly code: ProblemCode | ErrorCode;
	/** Relative to the run directory; null when it is about no file. */
	readonly path: string | null;
	/** JSON Pointer, "" when it is about a whole file. */
	readonly pointer: string;
	/** Never quotes a value that could be a secret. */
	readonly message: string;
};
