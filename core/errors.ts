/**
 * Every code a BailiffError can carry, prefixed by the folder that owns it. The command line maps each to an exit code (cli/exit-codes.ts,
 * checked by the compiler) and docs/errors.md explains each (checked by a test). Keep each group sorted.
 */
export const errorCodes = [
	'CORE_FILE_CHANGED',
	'CORE_FILE_NOT_REGULAR',
	'CORE_FILE_TOO_LARGE',
	'CORE_FILE_UNREADABLE',
	'CORE_FILE_UNTRUSTED',
	'CORE_FILE_UNWRITABLE',
	'CORE_ID_COMMIT',
	'CORE_ID_ISSUE',
	'CORE_ID_OWNER',
	'CORE_ID_REPOSITORY',
	'CORE_ID_RUN',
	'CORE_JSON_BOM',
	'CORE_JSON_CONTROL_CHARACTER',
	'CORE_JSON_DEPTH',
	'CORE_JSON_DUPLICATE_KEY',
	'CORE_JSON_EMPTY',
	'CORE_JSON_LONE_SURROGATE',
	'CORE_JSON_NUMBER_FORM',
	'CORE_JSON_NUMBER_RANGE',
	'CORE_JSON_PROTO_KEY',
	'CORE_JSON_SYNTAX',
	'CORE_JSON_TOO_LARGE',
	'CORE_JSON_TRAILING_BYTES',
	'CORE_JSON_UTF8',
	'CORE_JSON_VALUE',
	'EVIDENCE_BUNDLE_DIGEST',
	'EVIDENCE_BUNDLE_INVALID',
	'EVIDENCE_EXPORT_UNSOUND',
	'EVIDENCE_KEY_INVALID',
	'EVIDENCE_LEDGER_FORKED',
	'EVIDENCE_LEDGER_INVALID',
	'EVIDENCE_OUTPUT_EXISTS',
	'EVIDENCE_PLAN_INVALID',
	'EVIDENCE_RECEIPT_INVALID',
	'EVIDENCE_RUN_EXISTS',
	'EVIDENCE_RUN_NOT_FOUND',
	'EVIDENCE_UNSOUND',
	'EVIDENCE_WRITE_FAILED',
	'RUN_CHECKOUT_DIRTY',
	'RUN_EXECUTABLE_MISSING',
	'RUN_HOME_FAILED',
	'RUN_NATIVE_MISSING',
	'RUN_SANDBOX_ALIAS',
	'RUN_SANDBOX_FILTER',
	'RUN_SANDBOX_LIMIT',
	'RUN_SANDBOX_PATH',
	'RUN_SANDBOX_UNAVAILABLE',
	'RUN_SANDBOX_UNMET',
	'RUN_SECRET_IN_PLAN',
	'RUN_SENSITIVE_FILE',
	'RUN_SOURCE_MISMATCH',
	'RUN_SUPERVISOR_FAILED',
	'CACHE_ABSENT',
	'CACHE_ACCOUNT_MISMATCH',
	'CACHE_APPROVAL_AMBIGUOUS',
	'CACHE_AUTHORITY_FORBIDDEN',
	'CACHE_AUTHORITY_MALFORMED',
	'CACHE_AUTHORITY_NOT_FOUND',
	'CACHE_AUTHORITY_UNAUTHENTICATED',
	'CACHE_AUTHORITY_UNREADABLE',
	'CACHE_AUTHORITY_UNTRUSTED',
	'CACHE_BASE_AMBIGUOUS',
	'CACHE_BASE_WITHOUT_AUTHORITY',
	'CACHE_BROKER_DENIED',
	'CACHE_BROKER_PROTOCOL',
	'CACHE_BROKER_STALE',
	'CACHE_CASE_INSENSITIVE',
	'CACHE_CHECKOUT_INVALID',
	'CACHE_CHECKOUT_UNSUPPORTED',
	'CACHE_CONFIG_CHANGED',
	'CACHE_CREDENTIAL_INVALID',
	'CACHE_DEFAULT_BRANCH_MISMATCH',
	'CACHE_DISK_FULL',
	'CACHE_FORBIDDEN_FILE',
	'CACHE_FOREIGN_CONFIG',
	'CACHE_FOREIGN_MIRROR',
	'CACHE_FOREIGN_REF',
	'CACHE_GIT_FAILED',
	'CACHE_GIT_MISSING',
	'CACHE_GIT_OUTPUT',
	'CACHE_GIT_TIMEOUT',
	'CACHE_GIT_VERSION',
	'CACHE_HISTORY_REWRITTEN',
	'CACHE_IDENTITY_CASE',
	'CACHE_ISSUE_CHANGED',
	'CACHE_ISSUE_CLOSED',
	'CACHE_ISSUE_DRIFT',
	'CACHE_LEASE_EXPIRED',
	'CACHE_LOCK_BUSY',
	'CACHE_LOCK_FAILED',
	'CACHE_LOCK_ORDER',
	'CACHE_LOCK_REPLACED',
	'CACHE_LOCK_UNSUPPORTED',
	'CACHE_MIRROR_CORRUPT',
	'CACHE_MIRROR_PARTIAL',
	'CACHE_MODE_NOT_CANONICAL',
	'CACHE_NOT_APPROVED',
	'CACHE_NOT_BARE',
	'CACHE_OBJECTS_REJECTED',
	'CACHE_OBJECT_FORMAT',
	'CACHE_OBJECT_INVALID',
	'CACHE_ORIGIN_MISMATCH',
	'CACHE_PATH_MISSING',
	'CACHE_PATH_UNTRUSTED',
	'CACHE_PROFILE_EXISTS',
	'CACHE_PROFILE_INVALID',
	'CACHE_RECORD_EXISTS',
	'CACHE_RECORD_INVALID',
	'CACHE_REF_CONFLICT',
	'CACHE_REF_MOVING',
	'CACHE_REPLACE_REF',
	'CACHE_REPOSITORY_EMPTY',
	'CACHE_REPOSITORY_MOVED',
	'CACHE_REPOSITORY_REPLACED',
	'CACHE_ROLE_MISMATCH',
	'CACHE_ROOT_INVALID',
	'CACHE_RUNTIME_EXISTS',
	'CACHE_SHALLOW',
	'CACHE_SSH_KEYGEN_MISSING',
	'CACHE_SSH_SIGN_FAILED',
	'CACHE_STAGING_LEFT',
	'CACHE_STALE_GIT_LOCK',
	'CACHE_STATE_CHANGED',
	'CACHE_STATE_INVALID',
	'CACHE_SYNC_UNFINISHED',
	'CACHE_TARGET_OCCUPIED',
	'CACHE_WITNESS_MISMATCH',
	'CACHE_WORKTREE_ABSENT',
	'CACHE_WORKTREE_ATTACHED',
	'CACHE_WORKTREE_DIRTY',
	'CACHE_WORKTREE_EXISTS',
	'CACHE_WORKTREE_HIDDEN',
	'CACHE_WORKTREE_IGNORED',
	'CACHE_WORKTREE_MISMATCH',
	'CACHE_WORKTREE_PARTIAL',
	'CACHE_WORKTREE_RELOCATED',
	'CACHE_WORKTREE_UNDELIVERED',
	'CACHE_WORKTREE_UNFINISHED',
	'CACHE_WORKTREE_UNLOCKED',
	'CACHE_WRITE_FAILED',
	'PUBLISH_LOCAL_EXISTS',
	'CLI_FILE_NOT_WRITTEN',
	'CLI_INTERRUPTED',
	'CLI_MACHINE_LIMIT',
	'CLI_NOTHING_FOUND',
	'CLI_OUTPUT_FAILED',
	'CLI_USAGE',
] as const;

/** A stable code: callers match on it, never on the message. */
export type ErrorCode = (typeof errorCodes)[number];

/** A value that survives JSON unchanged. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | {readonly [key: string]: JsonValue};

/** What an error carries besides its message: JSON-safe and free of secrets. */
export type ErrorDetails = {readonly [key: string]: JsonValue};

/**
 * The one error class of bailiff: a refusal or failure that a caller can act on.
 *
 * The message is a lower-case fragment without a full stop; it says what was wrong, where, the limit, and what a person can do.
 * Outcomes of commands are data and never errors. Anything thrown that is not a BailiffError is a bug of ours.
 */
export class BailiffError extends Error {
	override readonly name = 'BailiffError';
	readonly code: ErrorCode;
	readonly details: ErrorDetails;

	constructor(code: ErrorCode, message: string, options: {readonly cause?: unknown; readonly details?: ErrorDetails} = {}) {
		super(message, options.cause === undefined ? {} : {cause: options.cause});
		this.code = code;
		this.details = options.details ?? {};
	}

	/** The shape of an error in `--json` answers (shapes.ts: ErrorAnswer). */
	toJSON(): {code: ErrorCode; message: string; details: ErrorDetails} {
		return {code: this.code, message: this.message, details: this.details};
	}
}

/** The symbolic errno (`ENOENT`) of a failed system call, or null for any other value. */
export function errnoOf(error: unknown): string | null {
	if (typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' && /^E[A-Z0-9]+$/.test(error.code)) {
		return error.code;
	}

	return null;
}
