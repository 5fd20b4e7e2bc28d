import {randomBytes} from 'node:crypto';
import {readdirSync, rmSync} from 'node:fs';
import path from 'node:path';
import {sha256Hex} from '../core/digest.ts';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {createPrivateDirectory, createPrivateFile, flushDirectory} from '../core/files.ts';
import {runIdProblem} from '../core/ids.ts';
import type {StorePrimitives} from './ports.ts';
import {failingAs, writeFailure} from './write-failure.ts';

/** A file as it stands in the stage; the digest is over the bytes handed in. */
export type StoredFile = {readonly path: string; readonly sha256: string; readonly bytes: number};

/**
 * A run while it is built: a sibling directory of the run's final place whose name begins with a dot and is used once.
 *
 * Order: `write` any number of files, then `publish` once; `discard` in every other case. Nothing appears under the run id before
 * everything is flushed, and what a crash leaves is never taken up again.
 * Source: E-PUB-1 to E-PUB-4.
 */
export class RunStage {
	/** The final place of the run. */
	readonly runDirectory: string;
	readonly #verificationDirectory: string;
	readonly #primitives: StorePrimitives;
	readonly #directory: string;
	#isOpen = true;

	private constructor(verificationDirectory: string, runId: string, primitives: StorePrimitives) {
		this.#verificationDirectory = verificationDirectory;
		this.#primitives = primitives;
		this.#directory = path.join(verificationDirectory, `.staging-${runId}-${randomBytes(8).toString('hex')}`);
		this.runDirectory = path.join(verificationDirectory, runId);
	}

	/** The name of the stage in the verification directory, for a reader that looks at it before it is published. */
	get stageName(): string {
		return path.basename(this.#directory);
	}

	/**
	 * Creates the stage of `runId` (0700) with its `output` directory in `verificationDirectory`, which exists and is private.
	 *
	 * Refuses: CORE_ID_RUN, EVIDENCE_WRITE_FAILED.
	 */
	static open(verificationDirectory: string, runId: string, primitives: StorePrimitives): RunStage {
		const problem = runIdProblem(runId);
		if (problem !== null) {
			throw new BailiffError('CORE_ID_RUN', `${JSON.stringify(runId)} is no run id: ${problem}`);
		}

		const stage = new RunStage(verificationDirectory, runId, primitives);
		stage.#guarded('create the staging directory', stage.#directory, () => {
			createPrivateDirectory(stage.#directory);
			createPrivateDirectory(path.join(stage.#directory, 'output'));
		});
		return stage;
	}

	/**
	 * Writes one file (0600) that does not exist yet; `relativePath` is `plan.json`, `manifest.json` or one of `outputPaths`.
	 *
	 * Refuses: EVIDENCE_WRITE_FAILED; the stage is then gone.
	 */
	write(relativePath: string, bytes: Uint8Array): StoredFile {
		const target = path.join(this.#directory, relativePath);
		this.#guarded('write', target, () => createPrivateFile(target, bytes));
		return {path: relativePath, sha256: sha256Hex(bytes), bytes: bytes.length};
	}

	/**
	 * Flushes everything by one flush and gives the directory its final name, never replacing anything.
	 *
	 * Durability: when it returns, the whole run survives a power loss. Refuses: EVIDENCE_WRITE_FAILED, also
	 * where something has that name; nothing of this run then stands under its id, and the stage is gone.
	 */
	publish(): void {
		this.#guarded('flush', this.#directory, () => this.#primitives.syncFilesystem(this.#directory));
		this.#guarded('publish', this.runDirectory, () => this.#rename());
		try {
			flushDirectory(this.#verificationDirectory);
		} catch (error) {
			this.#takeBack();
			throw writeFailure('flush', this.#verificationDirectory, error);
		}

		this.#isOpen = false;
	}

	/** Removes the stage with everything in it. Does nothing after `publish`. Refuses: EVIDENCE_WRITE_FAILED. */
	discard(): void {
		if (this.#isOpen) {
			this.#isOpen = false;
			failingAs('remove', this.#directory, () => rmSync(this.#directory, {recursive: true, force: true}));
		}
	}

	#rename(): void {
		try {
			this.#primitives.renameNoReplace(this.#directory, this.runDirectory);
		} catch (error) {
			if (errnoOf(error) === 'EEXIST') {
				throw new BailiffError(
					'EVIDENCE_WRITE_FAILED',
					`somebody else made ${JSON.stringify(this.runDirectory)} while the run was in custody: it is left as it is, and the run is not published; run again under a new id`,
					{cause: error, details: {step: 'publish', path: this.runDirectory, errno: 'EEXIST'}},
				);
			}

			throw error;
		}
	}

	/** A name that may not survive a power loss is no publication: the run goes back under its staging name and away. */
	#takeBack(): void {
		try {
			this.#primitives.renameNoReplace(this.runDirectory, this.#directory);
		} finally {
			this.#abandon();
		}
	}

	#guarded(step: string, where: string, action: () => void): void {
		try {
			failingAs(step, where, action);
		} catch (error) {
			this.#abandon();
			throw error;
		}
	}

	/** The first failure is the one to report; what cannot be removed now is shown by `listIncomplete`. */
	#abandon(): void {
		try {
			this.discard();
		} catch {}
	}
}

/** A stage that a crash left. */
export type IncompleteRun = {
	/** Name of the directory in the verification directory. */
	readonly name: string;
	/** Null when the name is not one that RunStage gives. */
	readonly runId: string | null;
};

/** What killed runs left in `verificationDirectory`, sorted by name; never a run, never completed later. Refuses: CORE_FILE_UNREADABLE. Source: E-PUB-3. */
export function listIncomplete(verificationDirectory: string): IncompleteRun[] {
	let names: string[];
	try {
		names = readdirSync(verificationDirectory);
	} catch (error) {
		if (errnoOf(error) === 'ENOENT') {
			return [];
		}

		throw new BailiffError('CORE_FILE_UNREADABLE', `${JSON.stringify(verificationDirectory)} cannot be listed (${errnoOf(error) ?? 'no errno'})`, {
			cause: error,
		});
	}

	return names
		.filter(name => name.startsWith('.staging-'))
		.toSorted()
		.map(name => ({name, runId: /^\.staging-(.+)-[0-9a-f]{16}$/.exec(name)?.[1] ?? null}));
}
