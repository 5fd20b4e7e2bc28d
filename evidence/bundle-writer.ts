import {randomBytes} from 'node:crypto';
import {chmodSync, closeSync, fchmodSync, lstatSync, mkdirSync, openSync, readdirSync, rmSync} from 'node:fs';
import path from 'node:path';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {createPrivateFile, flushDirectory, flushFile, writeFully} from '../core/files.ts';
import {bagBase} from './bagit.ts';
import type {StorePrimitives} from './ports.ts';
import {evidenceModes} from './run-files.ts';
import {ustarEnd, ustarHeader, ustarPadding} from './ustar.ts';
import {failingAs} from './write-failure.ts';

/** A bundle is for others to read and for nobody to change. */
const readOnly = {file: 0o444, directory: 0o755} as const;

/** One file of a bundle that is written: its content is asked for when its turn comes. */
export type BundleFile = {readonly path: string; readonly bytes: number; readonly content: () => Uint8Array};

/** The sibling under which a bundle is built; `publish` gives it its name, never replacing anything. */
export class BundleWriter {
	/** Where the bundle stands until it is published. */
	readonly staged: string;
	readonly #output: string;
	readonly #primitives: StorePrimitives;

	constructor(output: string, primitives: StorePrimitives) {
		this.#output = output;
		this.#primitives = primitives;
		this.staged = path.join(path.dirname(output), `.staging-${randomBytes(8).toString('hex')}`);
	}

	/** A plain, sorted tar; inside of it the files have the mode that evidence has, `mtime` is in seconds. Refuses: EVIDENCE_WRITE_FAILED. */
	writeTar(files: readonly BundleFile[], mtime: number): void {
		failingAs('write', this.staged, () => {
			const descriptor = openSync(this.staged, 'wx', evidenceModes.file);
			try {
				let at = 0;
				for (const {path: name, bytes, content} of files.toSorted(byPath)) {
					at = writeFully(descriptor, ustarHeader({path: `${bagBase}/${name}`, bytes, mode: evidenceModes.file, mtime}), at);
					at = writeFully(descriptor, content(), at);
					at = writeFully(descriptor, ustarPadding(bytes), at);
				}

				writeFully(descriptor, ustarEnd, at);
				fchmodSync(descriptor, readOnly.file);
				flushFile(descriptor);
			} finally {
				closeSync(descriptor);
			}
		});
	}

	/** A directory of the same files. Refuses: EVIDENCE_WRITE_FAILED. */
	writeDirectory(files: readonly BundleFile[]): void {
		failingAs('write', this.staged, () => {
			// One by one: where a file system answers ENOENT to every mkdir, as /proc does, Node's recursive form never ends.
			for (const directory of new Set(['.', ...files.flatMap(({path: name}) => parentsOf(name))])) {
				mkdirSync(path.join(this.staged, directory), {mode: evidenceModes.directory});
			}

			for (const {path: name, content} of files) {
				const file = path.join(this.staged, name);
				createPrivateFile(file, content());
				chmodSync(file, readOnly.file);
			}

			openDirectories(this.staged);
			this.#primitives.syncFilesystem(this.staged);
		});
	}

	/** Refuses: EVIDENCE_OUTPUT_EXISTS, EVIDENCE_WRITE_FAILED. */
	publish(): void {
		publishNew(this.staged, this.#output, this.#primitives);
	}

	/** Removes what was not published. */
	discard(): void {
		rmSync(this.staged, {recursive: true, force: true});
	}
}

/**
 * Writes a small file of its own (0444), flushed with its directory.
 *
 * Refuses: EVIDENCE_OUTPUT_EXISTS, EVIDENCE_WRITE_FAILED.
 */
export function writeReceipt(output: string, bytes: Uint8Array, primitives: StorePrimitives): void {
	const writer = new BundleWriter(output, primitives);
	try {
		failingAs('write', output, () => {
			createPrivateFile(writer.staged, bytes);
			chmodSync(writer.staged, readOnly.file);
			primitives.syncFilesystem(path.dirname(writer.staged));
		});
		writer.publish();
	} finally {
		writer.discard();
	}
}

/** Gives what is built its name, never replacing anything. Refuses: EVIDENCE_OUTPUT_EXISTS, EVIDENCE_WRITE_FAILED. */
export function publishNew(staged: string, output: string, {renameNoReplace}: StorePrimitives): void {
	failingAs('publish', output, () => {
		try {
			renameNoReplace(staged, output);
		} catch (error) {
			throw errnoOf(error) === 'EEXIST' ? exists(output, error) : error;
		}

		flushDirectory(path.dirname(output));
	});
}

/** Refuses, before anything is built: EVIDENCE_OUTPUT_EXISTS where something stands at `output`. */
export function requireNew(output: string): void {
	if (lstatSync(output, {throwIfNoEntry: false}) !== undefined) {
		throw exists(output);
	}
}

function exists(output: string, cause?: unknown): BailiffError {
	return new BailiffError('EVIDENCE_OUTPUT_EXISTS', `${JSON.stringify(output)} is there already and is never overwritten: name a new one`, {
		cause,
		details: {path: output},
	});
}

function openDirectories(directory: string): void {
	chmodSync(directory, readOnly.directory);
	for (const entry of readdirSync(directory, {withFileTypes: true})) {
		if (entry.isDirectory()) {
			openDirectories(path.join(directory, entry.name));
		}
	}
}

/** The directories above a file, the outermost first. */
function parentsOf(name: string): string[] {
	const components = name.split('/').slice(0, -1);
	return components.map((_, index) => components.slice(0, index + 1).join('/'));
}

function byPath(left: BundleFile, right: BundleFile): number {
	return left.path < right.path ? -1 : 1;
}
