import {BailiffError, type ErrorCode, errnoOf} from './errors.ts';

/** What can be wrong with one file or directory; callers map it to a code of their own. */
export type FileFault = 'missing' | 'link' | 'type' | 'nlink' | 'owner' | 'mode' | 'size' | 'too-large' | 'changed' | 'unreadable';

const faultCodes: Readonly<Record<FileFault, ErrorCode>> = {
	missing: 'CORE_FILE_UNREADABLE',
	link: 'CORE_FILE_UNTRUSTED',
	type: 'CORE_FILE_NOT_REGULAR',
	nlink: 'CORE_FILE_UNTRUSTED',
	owner: 'CORE_FILE_UNTRUSTED',
	mode: 'CORE_FILE_UNTRUSTED',
	size: 'CORE_FILE_CHANGED',
	'too-large': 'CORE_FILE_TOO_LARGE',
	changed: 'CORE_FILE_CHANGED',
	unreadable: 'CORE_FILE_UNREADABLE',
};

const sentences: Readonly<Record<FileFault, string>> = {
	missing: 'is not there',
	link: 'is a symbolic link, which is never followed',
	type: 'is not of the expected kind (a regular file or a directory)',
	nlink: 'has more than one name (hard link)',
	owner: 'belongs to another user',
	mode: 'does not have the exact mode that is asked for',
	size: 'does not have the expected size',
	'too-large': 'is larger than allowed',
	changed: 'changed while it was read',
	unreadable: 'cannot be read',
};

/** The sentence of a fault, to follow the name of the file. */
export function faultSentence(fault: FileFault): string {
	return sentences[fault];
}

/** The fault that made an opening or reading of core/safe-file.ts refuse, or null for any other error. */
export function fileFaultOf(error: unknown): FileFault | null {
	if (!(error instanceof BailiffError) || typeof error.details['fault'] !== 'string') {
		return null;
	}

	const fault = error.details['fault'];
	return isFault(fault) ? fault : null;
}

/** The refusal that a fault becomes: a code, `details.fault`, `details.path`, and the errno where there is one. */
export function fileRefusal(fault: FileFault, path: string, options: {readonly cause?: unknown} = {}): BailiffError {
	const errno = errnoOf(options.cause);
	const suffix = errno === null ? '' : ` (${errno})`;
	return new BailiffError(faultCodes[fault], `${JSON.stringify(path)} ${sentences[fault]}${suffix}`, {
		...options,
		details: {path, fault, ...(errno === null ? {} : {errno})},
	});
}

function isFault(text: string): text is FileFault {
	return Object.hasOwn(faultCodes, text);
}
