import {BailiffError, errnoOf} from '../core/errors.ts';

/** What a person can do, by errno. */
const mends: Readonly<Record<string, string>> = {
	EACCES: 'give the user who runs bailiff write access there',
	EDQUOT: 'the disk quota is used up: free space or raise it',
	EEXIST: 'somebody else put something there meanwhile: see that nobody else works below the root',
	EFBIG: 'the limit of the file size is reached: raise it (ulimit -f)',
	EIO: 'the device reports an error: look at the disk and the kernel log',
	ELOOP: 'somebody else put a link there meanwhile: see that nobody else works below the root',
	EMFILE: 'too many files are open: raise the limit of open files',
	ENAMETOOLONG: 'the path is too long: use a shorter root',
	ENFILE: 'too many files are open on this machine',
	ENOENT: 'something removed the directory meanwhile: see that nobody else works below the root',
	ENOSPC: 'no space is left on that filesystem: free space or use another root',
	EPERM: 'the filesystem does not allow it: look at its mount options and attributes',
	EROFS: 'the filesystem is read-only: mount it writable or use another root',
};

/** What helps against a failed write, to follow the errno in a message: a colon and a sentence, or nothing where the errno says no more. */
export function mendOf(errno: string | null): string {
	return errno !== null && Object.hasOwn(mends, errno) ? `: ${mends[errno]}` : '';
}

/**
 * Turns a failed system call into EVIDENCE_WRITE_FAILED, which says what could not be done, where, why and what helps; a BailiffError passes unchanged.
 *
 * Source: E-PUB-2, E-PUB-3.
 */
export function writeFailure(step: string, path: string, error: unknown): BailiffError {
	if (error instanceof BailiffError && error.code !== 'CORE_FILE_UNWRITABLE') {
		return error;
	}

	const errno = errnoOf(error);
	return new BailiffError('EVIDENCE_WRITE_FAILED', `could not ${step} ${JSON.stringify(path)} (${errno ?? 'no errno'})${mendOf(errno)}`, {
		cause: error,
		details: {step, path, errno},
	});
}

/** Runs `action` and turns what it throws into the refusal of `writeFailure`. */
export function failingAs<T>(step: string, path: string, action: () => T): T {
	try {
		return action();
	} catch (error) {
		throw writeFailure(step, path, error);
	}
}
