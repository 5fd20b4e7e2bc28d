import {closeSync, constants, fstatSync, openSync} from 'node:fs';
import path from 'node:path';
import {BailiffError} from '../core/errors.ts';
import {createPrivateFile, flushDirectory, flushFile, writeFully} from '../core/files.ts';
import {closing, SafeDirectory} from '../core/safe-file.ts';
import {ledgerLimits} from './ledger-lines.ts';
import {evidenceModes} from './run-files.ts';
import {failingAs} from './write-failure.ts';

const name = 'ledger.jsonl';

/** What is to be done so that a ledger says everything that another one says. */
export type LedgerMerge = {readonly write: () => void};

/**
 * Looks how a ledger that was brought along joins the one in `verificationDir`: one must begin with the other, byte for byte.
 *
 * Nothing is written before `write`, which is called under the issue lock; it appends and flushes, or does nothing.
 * Refuses: EVIDENCE_LEDGER_FORKED, CORE_FILE_ codes; `write`: EVIDENCE_WRITE_FAILED. Source: E-LED-1, E-LED-3, E-EXP-2.
 */
export function planLedgerMerge(verificationDir: string, incoming: Buffer): LedgerMerge {
	const existing = readExisting(verificationDir);
	const shared = Math.min(existing?.length ?? 0, incoming.length);
	if (existing !== null && !existing.subarray(0, shared).equals(incoming.subarray(0, shared))) {
		throw new BailiffError(
			'EVIDENCE_LEDGER_FORKED',
			'the ledger in the bundle and the one that is here say different things about this issue: receive the bundle below another root',
			{details: {path: path.join(verificationDir, name)}},
		);
	}

	return {
		write: () => {
			failingAs('write', path.join(verificationDir, name), () => {
				if (existing === null) {
					createPrivateFile(path.join(verificationDir, name), incoming);
					flushDirectory(verificationDir);
				} else if (incoming.length > existing.length) {
					append(path.join(verificationDir, name), existing.length, incoming.subarray(existing.length));
				}
			});
		},
	};
}

function readExisting(verificationDir: string): Buffer | null {
	return closing(SafeDirectory.open(verificationDir), directory => {
		const names = directory.entries(200_000).map(entry => entry.toString('latin1'));
		const uid = Number(directory.status().uid);
		return names.includes(name) ? directory.readFile(name, {maxBytes: ledgerLimits.maxBytes, mode: evidenceModes.file, uid}).bytes : null;
	});
}

function append(file: string, at: number, bytes: Buffer): void {
	const descriptor = openSync(file, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
	try {
		if (fstatSync(descriptor).size !== at) {
			throw new BailiffError('CORE_FILE_CHANGED', `${JSON.stringify(file)} grew under the issue lock`, {details: {path: file}});
		}

		writeFully(descriptor, bytes, at);
		flushFile(descriptor);
	} finally {
		closeSync(descriptor);
	}
}
