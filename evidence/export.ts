import {canonicalFile} from '../core/canonical-json.ts';
import {type Clock, systemClock, toRfc3339Ms} from '../core/clock.ts';
import {BailiffError} from '../core/errors.ts';
import {closing, type SafeDirectory} from '../core/safe-file.ts';
import {type BagFile, bagFile, bagPaths, tagFiles} from './bagit.ts';
import {openBundle} from './bundle.ts';
import {type BundleFile, BundleWriter, requireNew, writeReceipt} from './bundle-writer.ts';
import {ledgerMatchProblems} from './ledger-check.ts';
import type {Manifest} from './manifest-schema.ts';
import {outputPaths} from './output-paths.ts';
import type {SourcePacker, StorePrimitives} from './ports.ts';
import {isNotice, ProblemList} from './problem-list.ts';
import type {Problem} from './problems.ts';
import type {ExportReceipt, ReceiptBody} from './receipt.ts';
import {readRun} from './run-reader.ts';
import {findSecrets} from './secret-scan.ts';
import {namedFiles, sourceIndex} from './source-paths.ts';
import {type OpenVerification, openVerification, readLedger, type VerificationPlace} from './verification-directory.ts';
import {bagIdentifier, receiptBody, verifyBundle} from './verified-bundle.ts';

/** What is exported where. */
export type ExportRequest = {
	readonly place: VerificationPlace;
	readonly runId: string;
	/** Absolute; a name that ends in `.tar` makes a tar, any other one a directory. */
	readonly output: string;
	readonly source: SourcePacker;
	readonly primitives: StorePrimitives;
	readonly clock?: Clock;
};

const ledgerBytes = 64 * 1_048_576;

/** Where the receipt of a bundle stands. */
export function receiptPathOf(output: string): string {
	return `${output}.receipt.json`;
}

/**
 * Writes one run, its ledger and the git objects that bind its source as a BagIt bundle, reads the written bundle again and leaves a receipt beside it.
 *
 * The run itself is only read; its modes stay. What does not hold in itself, or holds what looks like a secret, is not handed on.
 * Refuses: EVIDENCE_RUN_NOT_FOUND, EVIDENCE_EXPORT_UNSOUND, EVIDENCE_OUTPUT_EXISTS, EVIDENCE_WRITE_FAILED, and what `source` refuses.
 * Source: E-EXP-1.
 */
export async function exportRun(request: ExportRequest): Promise<ExportReceipt> {
	const {output, runId, primitives} = request;
	const receiptPath = receiptPathOf(output);
	requireNew(output);
	requireNew(receiptPath);
	const problems = new ProblemList();
	const opened = openVerification(request.place, problems);
	if (opened === null) {
		throw notFound(runId, problems.all());
	}

	try {
		const {manifest, manifestSha256, ledger} = readSound(opened, runId, problems);
		const pack = await packSource(manifest, request.source);
		const writer = new BundleWriter(output, primitives);
		try {
			const files = payloadFiles(opened.directory, manifest, {ledger, pack});
			writeBundle(writer, manifest, {files, isTar: output.endsWith('.tar')});
			const body = readBack(writer.staged, manifestSha256);
			writer.publish();
			const receipt: ExportReceipt = {
				schema: 'bailiff-export-receipt/v1',
				...body,
				exported_at: toRfc3339Ms((request.clock ?? systemClock).wallMs()),
			};
			writeReceipt(receiptPath, canonicalFile(receipt), primitives);
			return receipt;
		} finally {
			writer.discard();
		}
	} finally {
		opened.directory.close();
	}
}

function readSound(
	opened: OpenVerification,
	runId: string,
	problems: ProblemList,
): {readonly manifest: Manifest; readonly manifestSha256: string; readonly ledger: Buffer} {
	const {directory, uid} = opened;
	const {manifest, manifestSha256, planSha256} = readRun(directory, {uid, problems, runId, scan: rulesHit});
	const parsed = readLedger(directory, {uid, problems});
	if (manifest === null || manifestSha256 === null || planSha256 === null || parsed === null) {
		throw notFound(runId, problems.all());
	}

	if (manifest.run_id !== runId) {
		problems.add({code: 'EVIDENCE_RUN_MISMATCH', path: 'manifest.json', pointer: '/run_id', message: 'this is not what was asked for'});
	}

	problems.addAll([...parsed.problems, ...ledgerMatchProblems(parsed, {manifest, manifestSha256, planSha256})]);
	if (!problems.isSound) {
		throw unsound(runId, problems.all());
	}

	return {manifest, manifestSha256, ledger: directory.readFile('ledger.jsonl', {maxBytes: ledgerBytes}).bytes};
}

function rulesHit(bytes: Buffer): string[] {
	return findSecrets(bytes).map(({rule}) => rule);
}

async function packSource(manifest: Manifest, source: SourcePacker): Promise<Buffer> {
	const {sha, tree} = manifest.source;
	const commit = await source.readCommit(sha);
	if (commit.tree !== tree) {
		throw unsound(manifest.run_id, [
			{code: 'EVIDENCE_SOURCE_TREE', path: 'manifest.json', pointer: '/source/tree', message: 'the tree of that commit is another one'},
		]);
	}

	const index = sourceIndex(commit.entries);
	const named = manifest.commands.flatMap(command => namedFiles(command, index)).map(({id}) => id);
	return source.pack(sha, [...new Set(named)]);
}

type PayloadFile = Omit<BundleFile, 'bytes'>;

/** Each file is read twice, for its digests and for its bytes; the written bundle is held against the first reading. */
function payloadFiles(verification: SafeDirectory, manifest: Manifest, more: {readonly ledger: Buffer; readonly pack: Buffer}): PayloadFile[] {
	const inRun = (path: string): Uint8Array =>
		closing(verification.enter(manifest.run_id), run => {
			const [directory, name] = path.split('/');
			return name === undefined
				? run.readFile(path, {maxBytes: 16 * 1_048_576}).bytes
				: closing(run.enter(directory ?? ''), below => below.readFile(name, {maxBytes: 16 * 1_048_576}).bytes);
		});
	const names = manifest.commands.flatMap(({extra_outputs}, index) => {
		const {output, errorOutput, trace} = outputPaths(index);
		return [output, trace, ...(extra_outputs.length > 0 ? [errorOutput] : [])];
	});
	return [
		...['plan.json', 'manifest.json', ...names].map(name => ({path: `${bagPaths.run}${name}`, content: () => inRun(name)})),
		{path: bagPaths.ledger, content: () => more.ledger},
		{path: bagPaths.pack, content: () => more.pack},
	];
}

function writeBundle(writer: BundleWriter, manifest: Manifest, {files, isTar}: {readonly files: readonly PayloadFile[]; readonly isTar: boolean}): void {
	const payload: BagFile[] = files.map(({path, content}) => bagFile(path, content()));
	const tags = tagFiles(payload, bagIdentifier(manifest.target, manifest.run_id));
	const all = [
		...files.map((file, index) => ({...file, bytes: payload[index]?.bytes ?? 0})),
		...Array.from(tags, ([path, bytes]) => ({path, bytes: bytes.length, content: () => bytes})),
	];
	if (isTar) {
		writer.writeTar(all, Math.floor(Date.parse(manifest.finished_at) / 1000));
	} else {
		writer.writeDirectory(all);
	}
}

/** The digests come from the written bundle alone: every manifest in it is worked out again from the files in it. */
function readBack(staged: string, manifestSha256: string): ReceiptBody {
	return closing(openBundle(staged), bundle => {
		const body = receiptBody(verifyBundle(bundle, bundle.digest()));
		if (body.manifest_sha256 !== manifestSha256) {
			throw new BailiffError(
				'EVIDENCE_WRITE_FAILED',
				'the written bundle holds another manifest than the run: something changed the run or the bundle meanwhile',
			);
		}

		return body;
	});
}

function notFound(runId: string, problems: readonly Problem[]): BailiffError {
	const [first] = problems;
	return new BailiffError('EVIDENCE_RUN_NOT_FOUND', `there is no run ${JSON.stringify(runId)} to export${first === undefined ? '' : `: ${first.message}`}`, {
		details: {problems: problems.map(problem => ({...problem}))},
	});
}

function unsound(runId: string, problems: readonly Problem[]): BailiffError {
	const shown = problems.filter(problem => !isNotice(problem));
	const [first] = shown;
	return new BailiffError(
		'EVIDENCE_EXPORT_UNSOUND',
		`the run ${JSON.stringify(runId)} does not hold and is not exported${first === undefined ? '' : `: ${first.message} (${first.code})`}`,
		{details: {problems: shown.map(problem => ({...problem}))}},
	);
}
