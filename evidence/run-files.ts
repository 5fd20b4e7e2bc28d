import {BailiffError} from '../core/errors.ts';
import {type FileFault, faultSentence, fileFaultOf} from '../core/file-fault.ts';
import {closing, type FileContent, type SafeDirectory, type SafeFile} from '../core/safe-file.ts';
import type {ProblemList} from './problem-list.ts';
import type {ProblemCode} from './problems.ts';

/** Modes of everything that belongs to evidence. Source: E-PUB-1. */
export const evidenceModes = {directory: 0o700, file: 0o600} as const;

const codes: Readonly<Record<FileFault, ProblemCode>> = {
	missing: 'EVIDENCE_FILE_MISSING',
	link: 'EVIDENCE_FILE_LINK',
	type: 'EVIDENCE_FILE_TYPE',
	nlink: 'EVIDENCE_FILE_NLINK',
	owner: 'EVIDENCE_FILE_OWNER',
	mode: 'EVIDENCE_FILE_MODE',
	size: 'EVIDENCE_FILE_SIZE',
	'too-large': 'EVIDENCE_FILE_SIZE',
	changed: 'EVIDENCE_FILE_CHANGED',
	unreadable: 'EVIDENCE_FILE_UNREADABLE',
};

/** After one of these there is nothing that could be read. */
const fatalFaults: ReadonlySet<FileFault> = new Set(['missing', 'link', 'type', 'size', 'too-large', 'changed', 'unreadable']);

/** Where files are read, who must own them, and where problems go. */
export type FileReading = {readonly uid: number; readonly problems: ProblemList};

/** One file to read: its name in the directory, its path in problems, and its bounds. */
export type FileRequest = {
	readonly name: string;
	readonly path: string;
	readonly maxBytes: number;
	/** Exact size. */
	readonly bytes?: number;
	/** What to call it when it is not there. */
	readonly missingCode?: ProblemCode;
	/** Space that may be used again for every file. */
	readonly into?: Buffer;
};

/**
 * The bytes of one evidence file and their digest, or null; every fault is reported at once, and a wrong mode, owner or second name does not
 * keep the content from being checked too.
 *
 * Source: E-READ-6.
 */
export function readEvidenceFile(directory: SafeDirectory, request: FileRequest, reading: FileReading): FileContent | null {
	return withEvidenceFile(directory, {...request, reading}, file => file.read(request.maxBytes, request.into));
}

/** The digest of one evidence file with flat memory, or null; faults are reported as by `readEvidenceFile`. Source: E-READ-6. */
export function digestEvidenceFile(directory: SafeDirectory, request: FileRequest, reading: FileReading): string | null {
	return withEvidenceFile(directory, {...request, reading}, file => file.digest(request.maxBytes).sha256);
}

function withEvidenceFile<T>(directory: SafeDirectory, request: FileRequest & {readonly reading: FileReading}, use: (file: SafeFile) => T): T | null {
	const {reading} = request;
	const report = (fault: FileFault): void => {
		const code = fault === 'missing' ? (request.missingCode ?? codes.missing) : codes[fault];
		reading.problems.add({code, path: request.path, pointer: '', message: sentenceOf(fault, request)});
	};

	return reporting(report, () =>
		closing(directory.file(request.name), file => {
			const {maxBytes, bytes} = request;
			const faults = file.faults({maxBytes, mode: evidenceModes.file, uid: reading.uid, ...(bytes === undefined ? {} : {bytes})});
			for (const fault of faults) {
				report(fault);
			}

			return faults.some(fault => fatalFaults.has(fault)) ? null : use(file);
		}),
	);
}

/** Opens a directory of evidence below `parent`, or null; a wrong mode or owner is reported and does not keep it from being read. */
export function enterEvidenceDirectory(parent: SafeDirectory, name: string, reading: FileReading & {readonly path: string | null}): SafeDirectory | null {
	const report = (fault: FileFault): void => {
		const code = fault === 'missing' ? 'EVIDENCE_DIRECTORY_MISSING' : codes[fault];
		reading.problems.add({code, path: reading.path, pointer: '', message: `the directory ${JSON.stringify(name)} ${faultSentence(fault)}`});
	};

	return reporting(report, () => {
		const directory = parent.enter(name);
		for (const fault of directory.faults({mode: evidenceModes.directory, uid: reading.uid})) {
			report(fault);
		}

		return directory;
	});
}

/** The entries of a directory as printable text: bytes that are no printable ASCII are written `\xNN`. Null when they cannot be listed. */
export function listEvidenceDirectory(directory: SafeDirectory, maxEntries: number, reading: FileReading & {readonly path: string | null}): string[] | null {
	const report = (fault: FileFault): void => {
		reading.problems.add({
			code: codes[fault],
			path: reading.path,
			pointer: '',
			message: `the entries of the directory ${faultSentence(fault)} (limit ${maxEntries})`,
		});
	};

	return reporting(report, () => directory.entries(maxEntries).map(name => printableName(name)));
}

/** A file name as text that no terminal acts on; equal to the name itself where that is printable ASCII without a backslash. */
export function printableName(name: Uint8Array): string {
	return Array.from(name, byte => (byte > 0x20 && byte < 0x7f && byte !== 0x5c ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`)).join(
		'',
	);
}

/** Reports every directory entry that is not listed, and nothing else: what is listed and missing shows when it is opened. */
export function reportUnlisted(found: readonly string[], listed: ReadonlySet<string>, where: {readonly prefix: string; readonly problems: ProblemList}): void {
	for (const name of found) {
		if (!listed.has(name)) {
			where.problems.add({code: 'EVIDENCE_DIRECTORY_UNLISTED', path: `${where.prefix}${name}`, pointer: '', message: 'the manifest does not list this entry'});
		}
	}
}

function reporting<T>(report: (fault: FileFault) => void, read: () => T): T | null {
	try {
		return read();
	} catch (error) {
		const fault = fileFaultOf(error);
		if (!(error instanceof BailiffError) || fault === null) {
			throw error;
		}

		report(fault);
		return null;
	}
}

function sentenceOf(fault: FileFault, request: FileRequest): string {
	switch (fault) {
		case 'size':
			return `the file does not have the size that the manifest names (${request.bytes} bytes)`;
		case 'too-large':
			return `the file is larger than ${request.maxBytes} bytes`;
		case 'mode':
			return 'the mode must be exactly 0600';
		case 'missing':
		case 'link':
		case 'type':
		case 'nlink':
		case 'owner':
		case 'changed':
		case 'unreadable':
			return `the file ${faultSentence(fault)}`;
		default:
			return fault satisfies never;
	}
}
