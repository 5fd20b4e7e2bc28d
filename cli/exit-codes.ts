import {type BailiffError, type ErrorCode, errorCodes} from '../core/errors.ts';

/** What a caller of the command line can tell apart (design.md, "Command line"). */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 70 | 129 | 130 | 143;

/** The exit codes by meaning. */
export const exitCodes = {
	/** Yes, or done. */
	yes: 0,
	/** The answer is no: a run failed, evidence is invalid, a plan is no plan. */
	no: 1,
	/** The command line itself was wrong. */
	usage: 2,
	/** Refused, nothing was done. */
	refused: 3,
	/** Partial or uncertain: something outside may have happened. */
	uncertain: 4,
	/** A bug of ours; the stack stands on stderr. */
	bug: 70,
} as const satisfies Readonly<Record<string, ExitCode>>;

/** The exit codes by signal (R-END-7). */
export const signalExitCodes = {SIGHUP: 129, SIGINT: 130, SIGTERM: 143} as const satisfies Readonly<Record<string, ExitCode>>;

const {usage, refused, uncertain} = exitCodes;

/** The exit code of every error code. The compiler refuses a code without one. */
export const exitCodeByErrorCode: Readonly<Record<ErrorCode, ExitCode>> = {
	CORE_FILE_CHANGED: refused,
	CORE_FILE_NOT_REGULAR: refused,
	CORE_FILE_TOO_LARGE: refused,
	CORE_FILE_UNREADABLE: refused,
	CORE_FILE_UNTRUSTED: refused,
	CORE_FILE_UNWRITABLE: uncertain,
	CORE_ID_COMMIT: usage,
	CORE_ID_ISSUE: usage,
	CORE_ID_OWNER: usage,
	CORE_ID_REPOSITORY: usage,
	CORE_ID_RUN: usage,
	CORE_JSON_BOM: refused,
	CORE_JSON_CONTROL_CHARACTER: refused,
	CORE_JSON_DEPTH: refused,
	CORE_JSON_DUPLICATE_KEY: refused,
	CORE_JSON_EMPTY: refused,
	CORE_JSON_LONE_SURROGATE: refused,
	CORE_JSON_NUMBER_FORM: refused,
	CORE_JSON_NUMBER_RANGE: refused,
	CORE_JSON_PROTO_KEY: refused,
	CORE_JSON_SYNTAX: refused,
	CORE_JSON_TOO_LARGE: refused,
	CORE_JSON_TRAILING_BYTES: refused,
	CORE_JSON_UTF8: refused,
	CORE_JSON_VALUE: refused,
	EVIDENCE_BUNDLE_DIGEST: refused,
	EVIDENCE_BUNDLE_INVALID: refused,
	EVIDENCE_EXPORT_UNSOUND: refused,
	EVIDENCE_KEY_INVALID: refused,
	EVIDENCE_LEDGER_FORKED: refused,
	EVIDENCE_LEDGER_INVALID: refused,
	EVIDENCE_OUTPUT_EXISTS: refused,
	EVIDENCE_PLAN_INVALID: refused,
	EVIDENCE_RECEIPT_INVALID: refused,
	EVIDENCE_RUN_EXISTS: refused,
	EVIDENCE_RUN_NOT_FOUND: refused,
	EVIDENCE_UNSOUND: refused,
	EVIDENCE_WRITE_FAILED: uncertain,
	RUN_CHECKOUT_DIRTY: refused,
	RUN_EXECUTABLE_MISSING: refused,
	RUN_HOME_FAILED: refused,
	RUN_NATIVE_MISSING: refused,
	RUN_SANDBOX_ALIAS: refused,
	RUN_SANDBOX_FILTER: refused,
	RUN_SANDBOX_LIMIT: refused,
	RUN_SANDBOX_PATH: refused,
	RUN_SANDBOX_UNAVAILABLE: refused,
	RUN_SANDBOX_UNMET: refused,
	RUN_SECRET_IN_PLAN: refused,
	RUN_SENSITIVE_FILE: refused,
	RUN_SOURCE_MISMATCH: refused,
	RUN_SUPERVISOR_FAILED: uncertain,
	CACHE_ABSENT: refused,
	CACHE_ACCOUNT_MISMATCH: refused,
	CACHE_APPROVAL_AMBIGUOUS: refused,
	CACHE_AUTHORITY_FORBIDDEN: refused,
	CACHE_AUTHORITY_MALFORMED: refused,
	CACHE_AUTHORITY_NOT_FOUND: refused,
	CACHE_AUTHORITY_UNAUTHENTICATED: refused,
	CACHE_AUTHORITY_UNREADABLE: refused,
	CACHE_AUTHORITY_UNTRUSTED: refused,
	CACHE_BASE_AMBIGUOUS: refused,
	CACHE_BASE_WITHOUT_AUTHORITY: refused,
	CACHE_BROKER_DENIED: refused,
	CACHE_BROKER_PROTOCOL: refused,
	CACHE_BROKER_STALE: refused,
	CACHE_CASE_INSENSITIVE: refused,
	CACHE_CHECKOUT_INVALID: refused,
	CACHE_CHECKOUT_UNSUPPORTED: refused,
	CACHE_CONFIG_CHANGED: refused,
	CACHE_CREDENTIAL_INVALID: refused,
	CACHE_DEFAULT_BRANCH_MISMATCH: refused,
	CACHE_DISK_FULL: refused,
	CACHE_FORBIDDEN_FILE: refused,
	CACHE_FOREIGN_CONFIG: refused,
	CACHE_FOREIGN_MIRROR: refused,
	CACHE_FOREIGN_REF: refused,
	CACHE_GIT_FAILED: refused,
	CACHE_GIT_MISSING: refused,
	CACHE_GIT_OUTPUT: refused,
	CACHE_GIT_TIMEOUT: refused,
	CACHE_GIT_VERSION: refused,
	CACHE_HISTORY_REWRITTEN: refused,
	CACHE_IDENTITY_CASE: refused,
	CACHE_ISSUE_CHANGED: refused,
	CACHE_ISSUE_CLOSED: refused,
	CACHE_ISSUE_DRIFT: refused,
	CACHE_LEASE_EXPIRED: refused,
	CACHE_LOCK_BUSY: refused,
	CACHE_LOCK_FAILED: refused,
	CACHE_LOCK_ORDER: refused,
	CACHE_LOCK_REPLACED: refused,
	CACHE_LOCK_UNSUPPORTED: refused,
	CACHE_MIRROR_CORRUPT: refused,
	CACHE_MIRROR_PARTIAL: refused,
	CACHE_MODE_NOT_CANONICAL: refused,
	CACHE_NOT_APPROVED: refused,
	CACHE_NOT_BARE: refused,
	CACHE_OBJECTS_REJECTED: refused,
	CACHE_OBJECT_FORMAT: refused,
	CACHE_OBJECT_INVALID: refused,
	CACHE_ORIGIN_MISMATCH: refused,
	CACHE_PATH_MISSING: refused,
	CACHE_PATH_UNTRUSTED: refused,
	CACHE_PROFILE_EXISTS: refused,
	CACHE_PROFILE_INVALID: refused,
	CACHE_RECORD_EXISTS: refused,
	CACHE_RECORD_INVALID: refused,
	CACHE_REF_CONFLICT: uncertain,
	CACHE_REF_MOVING: uncertain,
	CACHE_REPLACE_REF: refused,
	CACHE_REPOSITORY_EMPTY: refused,
	CACHE_REPOSITORY_MOVED: refused,
	CACHE_REPOSITORY_REPLACED: refused,
	CACHE_ROLE_MISMATCH: refused,
	CACHE_ROOT_INVALID: refused,
	CACHE_RUNTIME_EXISTS: refused,
	CACHE_SHALLOW: refused,
	CACHE_SSH_KEYGEN_MISSING: refused,
	CACHE_SSH_SIGN_FAILED: refused,
	CACHE_STAGING_LEFT: uncertain,
	CACHE_STALE_GIT_LOCK: refused,
	CACHE_STATE_CHANGED: refused,
	CACHE_STATE_INVALID: refused,
	CACHE_SYNC_UNFINISHED: refused,
	CACHE_TARGET_OCCUPIED: refused,
	CACHE_WITNESS_MISMATCH: refused,
	CACHE_WORKTREE_ABSENT: refused,
	CACHE_WORKTREE_ATTACHED: refused,
	CACHE_WORKTREE_DIRTY: refused,
	CACHE_WORKTREE_EXISTS: refused,
	CACHE_WORKTREE_HIDDEN: refused,
	CACHE_WORKTREE_IGNORED: refused,
	CACHE_WORKTREE_MISMATCH: refused,
	CACHE_WORKTREE_PARTIAL: uncertain,
	CACHE_WORKTREE_RELOCATED: refused,
	CACHE_WORKTREE_UNDELIVERED: refused,
	CACHE_WORKTREE_UNFINISHED: refused,
	CACHE_WORKTREE_UNLOCKED: refused,
	CACHE_WRITE_FAILED: refused,
	PUBLISH_LOCAL_EXISTS: refused,
	CLI_FILE_NOT_WRITTEN: refused,
	CLI_INTERRUPTED: 130,
	CLI_MACHINE_LIMIT: uncertain,
	CLI_NOTHING_FOUND: refused,
	CLI_OUTPUT_FAILED: uncertain,
	CLI_USAGE: usage,
};

/**
 * The exit code of an error: by its code, and for an interruption by the signal that its details name.
 */
export function exitCodeOf(error: BailiffError): ExitCode {
	const {signal} = error.details;
	if (error.code === 'CLI_INTERRUPTED' && (signal === 'SIGINT' || signal === 'SIGTERM' || signal === 'SIGHUP')) {
		return signalExitCodes[signal];
	}

	return exitCodeByErrorCode[error.code];
}

/**
 * True for an error of ours, judged by name and code: the bundled start of the command line and the modules that it loads each hold a copy of the class.
 */
export function isBailiffError(error: unknown): error is BailiffError {
	return error instanceof Error && error.name === 'BailiffError' && 'code' in error && errorCodes.some(code => code === error.code);
}
