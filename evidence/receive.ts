import {lstatSync} from 'node:fs';
import path from 'node:path';
import {canonicalFile} from '../core/canonical-json.ts';
import {type Clock, systemClock, toRfc3339Ms} from '../core/clock.ts';
import {BailiffError} from '../core/errors.ts';
import {createPrivateDirectory, createPrivateFile, ensurePrivateDirectory} from '../core/files.ts';
import {closing, SafeDirectory} from '../core/safe-file.ts';
import {bagPaths} from './bagit.ts';
import {BundleWriter} from './bundle-writer.ts';
import {planLedgerMerge} from './ledger-merge.ts';
import type {PackOpener, StorePrimitives} from './ports.ts';
import {ProblemList} from './problem-list.ts';
import type {ReceiveReceipt} from './receipt.ts';
import {readRun} from './run-reader.ts';
import {RunStage} from './store.ts';
import {receiptBody, unsoundBundle, type VerifiedBundle} from './verified-bundle.ts';
import {failingAs} from './write-failure.ts';

/** Where a verified bundle goes. The caller holds the issue lock and has checked the directories. */
export type ImportRequest = {
	/** `verification` of the issue; it exists. */
	readonly verificationDir: string;
	/** `runtime` of the issue; made where it is missing. */
	readonly runtimeDir: string;
	readonly primitives: StorePrimitives;
	readonly openPack: PackOpener;
	readonly clock?: Clock;
};

/** What an import left. */
export type Imported = {readonly receipt: ReceiveReceipt; readonly runDirectory: string; readonly receivedDirectory: string};

/** Below `runtime`, the directory of what came with a received run: receipt.json and source.pack. */
export function receivedName(runId: string): string {
	return `received-${runId}`;
}

/**
 * Publishes the run of a verified bundle at its canonical place, with its ledger and its source beside it, never replacing anything.
 *
 * The bundle is read once more, each file against the digest of the first reading; the staged run goes through the whole reader, and the commit in the
 * pack must have the tree of the manifest, before a byte of it is published.
 * Refuses: EVIDENCE_RUN_EXISTS, EVIDENCE_OUTPUT_EXISTS, EVIDENCE_LEDGER_FORKED, EVIDENCE_BUNDLE_INVALID, EVIDENCE_BUNDLE_DIGEST, EVIDENCE_WRITE_FAILED.
 * Source: E-EXP-2, E-PUB-2.
 */
export async function importBundle(verified: VerifiedBundle, request: ImportRequest): Promise<Imported> {
	const {verificationDir, runtimeDir, primitives} = request;
	const {run_id: runId} = verified.manifest;
	const receivedDirectory = path.join(runtimeDir, receivedName(runId));
	const isPublished = isHalfReceived(verified, {verificationDir, receivedDirectory});
	const ledger = planLedgerMerge(verificationDir, verified.ledgerBytes);
	const stage = RunStage.open(verificationDir, runId, primitives);
	const received = new BundleWriter(receivedDirectory, primitives);
	try {
		const pack = stageFiles(verified, stage);
		checkStage(verificationDir, stage);
		await checkSource(verified, pack, request.openPack);
		const at = toRfc3339Ms((request.clock ?? systemClock).wallMs());
		const receipt: ReceiveReceipt = {schema: 'bailiff-receive-receipt/v1', ...receiptBody(verified), received_at: at};
		ensurePrivateDirectory(runtimeDir, path.dirname(runtimeDir));
		failingAs('write', received.staged, () => {
			createPrivateDirectory(received.staged);
			createPrivateFile(path.join(received.staged, 'source.pack'), pack);
			createPrivateFile(path.join(received.staged, 'receipt.json'), canonicalFile(receipt));
			primitives.syncFilesystem(received.staged);
		});
		ledger.write();
		if (!isPublished) {
			stage.publish();
		}

		received.publish();
		return {receipt, runDirectory: stage.runDirectory, receivedDirectory};
	} finally {
		discardBoth(stage, received);
	}
}

/** True where an import was killed after it published this very run and before its receipt. Refuses: EVIDENCE_RUN_EXISTS for anything else that stands there. */
function isHalfReceived(verified: VerifiedBundle, places: {readonly verificationDir: string; readonly receivedDirectory: string}): boolean {
	const {verificationDir, receivedDirectory} = places;
	const {run_id: runId} = verified.manifest;
	const runDirectory = path.join(verificationDir, runId);
	if (!isThere(runDirectory) && !isThere(receivedDirectory)) {
		return false;
	}

	if (isThere(runDirectory) && !isThere(receivedDirectory)) {
		const problems = new ProblemList();
		const reading = readPublished(verificationDir, runId, problems);
		if (problems.isSound && reading === verified.manifestSha256) {
			return true;
		}
	}

	throw new BailiffError('EVIDENCE_RUN_EXISTS', `${JSON.stringify(runDirectory)} exists already: a run is received once`, {details: {path: runDirectory}});
}

function isThere(place: string): boolean {
	return lstatSync(place, {throwIfNoEntry: false}) !== undefined;
}

/** Writes the files of the run; returns the pack. */
function stageFiles({bundle, sha256, files}: VerifiedBundle, stage: RunStage): Buffer {
	let pack: Buffer = Buffer.alloc(0);
	bundle.visit(sha256, (name, content) => {
		if (name === bagPaths.pack) {
			pack = content;
		}

		if (name.startsWith(bagPaths.run)) {
			const {sha256: written} = stage.write(name.slice(bagPaths.run.length), content);
			requireSame(name, written, files.get(name)?.sha256);
		}
	});
	return pack;
}

function requireSame(name: string, found: string, expected: string | undefined): void {
	if (found !== expected) {
		throw new BailiffError('CORE_FILE_CHANGED', `${JSON.stringify(name)} changed between two readings of the bundle`, {details: {path: name}});
	}
}

function checkStage(verificationDir: string, stage: RunStage): void {
	const problems = new ProblemList();
	readPublished(verificationDir, stage.stageName, problems);
	if (!problems.isSound) {
		throw unsoundBundle('run', problems.all());
	}
}

/** The digest of the manifest of a whole run directory; what is wrong goes to `problems`. */
function readPublished(verificationDir: string, name: string, problems: ProblemList): string | null {
	return closing(SafeDirectory.open(verificationDir), directory => {
		const uid = Number(directory.status().uid);
		return readRun(directory, {uid, problems, runId: name, scan: null}).manifestSha256;
	});
}

async function checkSource({manifest}: VerifiedBundle, pack: Buffer, openPack: PackOpener): Promise<void> {
	const {sha, tree} = manifest.source;
	let found: string;
	try {
		found = await openPack(pack, async objects => (await objects.readCommit(sha)).tree);
	} catch (error) {
		if (!(error instanceof BailiffError)) {
			throw error;
		}

		throw new BailiffError('EVIDENCE_BUNDLE_INVALID', `the bundle does not hold the source of its run: ${error.message}`, {cause: error, details: {sha}});
	}

	if (found !== tree) {
		throw new BailiffError('EVIDENCE_BUNDLE_INVALID', `the commit ${sha} has the tree ${found}, the manifest names ${tree}`, {details: {sha, found, tree}});
	}
}

/** The first failure is the one to report. */
function discardBoth(stage: RunStage, received: BundleWriter): void {
	try {
		received.discard();
		stage.discard();
	} catch {}
}
