import {BailiffError} from '../core/errors.ts';
import {fileFaultOf} from '../core/file-fault.ts';
import {runIdProblem, type Target} from '../core/ids.ts';
import {closing, SafeDirectory} from '../core/safe-file.ts';
import {ledgerLimits, type ParsedLedger, parseLedger} from './ledger-lines.ts';
import type {ProblemList} from './problem-list.ts';
import {enterEvidenceDirectory, evidenceModes, type FileReading, listEvidenceDirectory, readEvidenceFile} from './run-files.ts';

/** Runs and leftovers of one issue that a reader lists at most. */
const maxEntries = 200_000;
const ledgerName = 'ledger.jsonl';

/** The place of an issue's evidence below a root, one component each. Source: E-PUB-1. */
export function verificationPlace({owner, repository, issue}: Target): readonly string[] {
	return ['repositories', owner, repository, 'worktrees', `issue-${issue}`, 'verification'];
}

/** Where the evidence of an issue is looked for. */
export type VerificationPlace = {
	/** Absolute path of the `verification` directory. */
	readonly verificationDir: string;
	/** Absolute path of the root: then the place must be the canonical one, and every directory from there on is checked. */
	readonly root?: string;
	readonly target: Target;
	/** Numeric owner of everything; without it the owner of the verification directory. */
	readonly uid?: number;
};

/** An open `verification` directory and who must own what is in it. The caller closes the directory. */
export type OpenVerification = {readonly directory: SafeDirectory; readonly uid: number};

/**
 * Opens a `verification` directory component by component, or reports why not and returns null.
 *
 * With `root`: `repositories` must not be world-writable or carry special bits, every directory below is 0700; all belong to `uid`.
 * Source: E-READ-1, E-READ-6, C-TRUST-1, C-TRUST-3, C-TRUST-5.
 */
export function openVerification(place: VerificationPlace, problems: ProblemList): OpenVerification | null {
	try {
		const directory = place.root === undefined ? SafeDirectory.open(place.verificationDir) : openBelowRoot(place, place.root, problems);
		if (directory === null) {
			return null;
		}

		const uid = place.uid ?? Number(directory.status().uid);
		for (const fault of directory.faults({mode: evidenceModes.directory, uid})) {
			const code = fault === 'mode' ? 'EVIDENCE_FILE_MODE' : 'EVIDENCE_FILE_OWNER';
			problems.add({code, path: null, pointer: '', message: `the directory verification must have mode 0700 and its owner be the expected one (${fault})`});
		}

		return {directory, uid};
	} catch (error) {
		if (!(error instanceof BailiffError)) {
			throw error;
		}

		const code = fileFaultOf(error) === 'link' ? 'EVIDENCE_FILE_LINK' : 'EVIDENCE_DIRECTORY_MISSING';
		problems.add({code, path: null, pointer: '', message: `the verification directory cannot be opened: ${error.message}`});
		return null;
	}
}

function openBelowRoot(place: VerificationPlace, root: string, problems: ProblemList): SafeDirectory | null {
	const components = verificationPlace(place.target);
	if (place.verificationDir !== [root.replace(/\/+$/, ''), ...components].join('/')) {
		problems.add({code: 'EVIDENCE_TARGET_MISMATCH', path: null, pointer: '', message: 'this is not the place of that target below the root'});
		return null;
	}

	let here = SafeDirectory.open(root);
	const uid = place.uid ?? Number(here.status().uid);
	for (const [depth, component] of components.entries()) {
		const next = closing(here, parent =>
			depth === 0 ? enterRepositories(parent, {uid, problems}) : enterEvidenceDirectory(parent, component, {uid, problems, path: null}),
		);
		if (next === null) {
			return null;
		}

		here = next;
	}

	return here;
}

function enterRepositories(root: SafeDirectory, {uid, problems}: FileReading): SafeDirectory {
	const directory = root.enter('repositories');
	const {mode} = directory.status();
	if ((mode & 0o7002n) !== 0n || directory.faults({uid}).length > 0) {
		const message = 'the directory repositories must belong to the expected user, not be world-writable and carry no special bits (C-TRUST-1)';
		problems.add({code: 'EVIDENCE_FILE_MODE', path: null, pointer: '', message});
	}

	return directory;
}

/** What lies in a `verification` directory: names of runs, names of leftovers (they begin with a dot), and everything else. */
export type VerificationNames = {readonly runs: ReadonlySet<string>; readonly leftovers: readonly string[]; readonly others: readonly string[]};

/** Sorts the entries of a `verification` directory by their names alone. Source: E-PUB-3, E-PUB-4. */
export function listVerification(directory: SafeDirectory, reading: FileReading): VerificationNames {
	const names = listEvidenceDirectory(directory, maxEntries, {...reading, path: null}) ?? [];
	const runs = names.filter(name => runIdProblem(name) === null);
	return {
		runs: new Set(runs),
		leftovers: names.filter(name => name.startsWith('.')),
		others: names.filter(name => !name.startsWith('.') && name !== ledgerName && runIdProblem(name) !== null),
	};
}

/** Reads the ledger beside the runs, or reports why not and returns null. What is wrong in its lines is in the answer. Source: E-LED-3. */
export function readLedger(directory: SafeDirectory, reading: FileReading): ParsedLedger | null {
	const request = {name: ledgerName, path: ledgerName, maxBytes: ledgerLimits.maxBytes, missingCode: 'EVIDENCE_LEDGER_MISSING'} as const;
	const file = readEvidenceFile(directory, request, reading);
	return file === null ? null : parseLedger(file.bytes);
}
