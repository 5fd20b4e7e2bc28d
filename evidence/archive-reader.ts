import type {z} from 'zod';
import type {JsonValue} from '../core/errors.ts';
import type {SafeDirectory} from '../core/safe-file.ts';
import {ArchiveFiles} from './archive-files.ts';
import {type ArchiveIdentity, identityOf} from './archive-place.ts';
import {type ArchivedPlan, archivedPlanSchema, archiveLimits} from './archive-schema.ts';
import {excessProblem, itemProblems, parseDocument, partProblems, schemaWord} from './document-reader.ts';
import {relPathForm} from './forms.ts';
import {manifestParseBounds} from './manifest-reader.ts';
import {planLimits} from './plan.ts';
import type {SourceReader} from './ports.ts';
import {ProblemList} from './problem-list.ts';
import type {Problem} from './problems.ts';
import {enterEvidenceDirectory} from './run-files.ts';
import {sourceProblems, uniqueProblems} from './source-check.ts';
import type {ValidateAnswer} from './validate.ts';
import {openVerification, verificationPlace} from './verification-directory.ts';

/** What a reader of archives is asked. */
export type ArchiveRequest = {
	/** Absolute, without a slash at the end. */
	readonly root: string;
	/** Absolute path of the run: the canonical place of an issue below the root, which alone says whose run it is. */
	readonly artifactRoot: string;
	/** Run-relative. */
	readonly manifest: string;
	readonly source: SourceReader;
	/** Numeric owner of everything; without it the owner of the root. */
	readonly uid?: number;
};

/** An output as the manifest lists it. */
export type ArchivedOutput = {
	readonly path: string;
	readonly sha256: string;
	readonly bytes: number | null;
	readonly pathPointer: string;
	readonly shaPointer: string;
};

/** A manifest of an archived version as it was read, and what else was found of the run. */
export type ReadArchive<Document> = {
	/** Of the manifest in the run. */
	readonly path: string;
	readonly value: JsonValue;
	readonly document: Document;
	readonly plan: ArchivedPlan | null;
	/** Digest of each listed file that could be read, by its path. */
	readonly digests: ReadonlyMap<string, string>;
};

/** What one archived version is made of. */
export type ArchiveFormat<Document> = {
	readonly word: 'evidence-manifest/v1' | 'evidence-manifest/v2';
	readonly verdict: 'archived-v2-consistent' | 'legacy-v1-digest-only';
	readonly schema: z.ZodType<Document>;
	/** The same without the shapes of its long lists, and those. */
	readonly frame: z.ZodType;
	readonly items: ReadonlyArray<readonly [name: string, schema: z.ZodType]>;
	readonly result: (document: Document) => 'passed' | 'failed' | null;
	readonly source: (document: Document) => {readonly sha: string; readonly shaPointer: string};
	readonly plan: (document: Document) => {readonly path: string; readonly sha256: string} | null;
	readonly outputs: (document: Document) => readonly ArchivedOutput[];
	/** Pointer and whether it agrees, of each member that repeats the place of the run. */
	readonly identity: (document: Document, identity: ArchiveIdentity) => ReadonlyArray<readonly [pointer: string, isEqual: boolean]>;
	/** What the document contradicts in itself, its plan and its files. */
	readonly record: (archive: ReadArchive<Document>) => readonly Problem[];
};

/**
 * Checks one archived run against its place, itself and the checkout, and gives a verdict with all problems.
 *
 * Total; reads only, and takes the bytes as they are: nothing is inferred, converted or written. The answer is never that of fresh evidence.
 * Source: E-READ-2, E-READ-3, E-READ-4, E-READ-6.
 */
export async function validateArchive<Document>(request: ArchiveRequest, format: ArchiveFormat<Document>): Promise<ValidateAnswer> {
	const problems = new ProblemList();
	const identity = isRelPath(request.manifest, problems) ? identityOf(request, problems) : null;
	const opened =
		identity === null
			? null
			: openVerification(
					{
						root: request.root,
						verificationDir: [request.root.replace(/\/+$/, ''), ...verificationPlace(identity.target)].join('/'),
						target: identity.target,
						...(request.uid === undefined ? {} : {uid: request.uid}),
					},
					problems,
				);
	if (identity === null || opened === null) {
		return answerOf(format, null, problems);
	}

	const {directory, uid} = opened;
	try {
		const run = enterEvidenceDirectory(directory, identity.runId, {uid, problems, path: null});
		if (run === null) {
			return answerOf(format, null, problems);
		}

		try {
			return await validateIn(run, {...request, uid, identity, problems}, format);
		} finally {
			run.close();
		}
	} finally {
		directory.close();
	}
}

type Reading = ArchiveRequest & {readonly uid: number; readonly identity: ArchiveIdentity; readonly problems: ProblemList};

async function validateIn<Document>(run: SafeDirectory, reading: Reading, format: ArchiveFormat<Document>): Promise<ValidateAnswer> {
	const {problems, manifest: path} = reading;
	const files = new ArchiveFiles(run, reading);
	const file = files.read(path, {maxBytes: archiveLimits.maxBytes});
	const read = file === null ? null : readDocument(file.bytes, path, format, problems);
	if (file === null || read === null) {
		return answerOf(format, file === null ? null : {manifestSha256: file.sha256, document: null}, problems);
	}

	const {document} = read;
	const named = {...format.source(document), tree: null, path};
	const before = await sourceProblems(reading.source, named);
	const digests = new Map<string, string>();
	const plan = readPlan(files, format.plan(document), problems);
	for (const output of format.outputs(document)) {
		checkOutput(files, output, {digests, problems, path});
	}

	files.reportUnlisted(new Set([path, ...listedPaths(document, format)]));
	for (const [pointer, isEqual] of format.identity(document, reading.identity)) {
		if (!isEqual) {
			const code = pointer === '/run_id' ? 'EVIDENCE_RUN_MISMATCH' : 'EVIDENCE_TARGET_MISMATCH';
			problems.add({code, path, pointer, message: 'the place of the run says otherwise'});
		}
	}

	problems.addAll(twinProblems(path, listedPaths(document, format), format.outputs(document)));
	problems.addAll(format.record({path, value: read.value, document, plan, digests}));
	const after = await sourceProblems(reading.source, named);
	problems.addAll(uniqueProblems([...before, ...after]));
	return answerOf(format, {manifestSha256: file.sha256, document}, problems);
}

function isRelPath(manifest: string, problems: ProblemList): boolean {
	const isRelative = relPathForm.safeParse(manifest).success;
	if (!isRelative) {
		const message = 'the manifest is named by its path inside of the run, such as manifest.json: lower-case letters, digits, ".", "_" and "-", joined by "/"';
		problems.add({code: 'EVIDENCE_FILE_MISSING', path: null, pointer: '', message});
	}

	return isRelative;
}

function readDocument<Document>(
	bytes: Buffer,
	path: string,
	format: ArchiveFormat<Document>,
	problems: ProblemList,
): {readonly value: JsonValue; readonly document: Document} | null {
	const limits = {maxBytes: archiveLimits.maxBytes, maxDepth: archiveLimits.maxDepth, ...manifestParseBounds, anyNumber: true};
	const value = parseDocument(bytes, limits, {path, problems});
	if (value === null) {
		return null;
	}

	const word = schemaWord(value);
	if (word !== null && word !== format.word) {
		const message = `this reader takes ${format.word} alone: "validate" reads v3, "validate-archived-v2" v2, "validate-legacy" v1`;
		problems.add({code: 'EVIDENCE_VERSION', path, pointer: '/schema', message});
		return null;
	}

	const excess = excessProblem(value, path);
	const found =
		excess === null
			? [...partProblems(format.frame, value, {path, pointer: ''}), ...format.items.flatMap(([name, schema]) => itemProblems(schema, value, {path, name}))]
			: [excess];
	problems.addAll(found);
	const whole = found.length === 0 ? format.schema.safeParse(value) : null;
	return whole?.success === true ? {value, document: whole.data} : null;
}

function readPlan(files: ArchiveFiles, named: {readonly path: string; readonly sha256: string} | null, problems: ProblemList): ArchivedPlan | null {
	const file = named === null ? null : files.read(named.path, {maxBytes: archiveLimits.maxPlanBytes});
	if (named === null || file === null) {
		return null;
	}

	const {path} = named;
	if (file.sha256 !== named.sha256) {
		problems.add({code: 'EVIDENCE_DIGEST', path, pointer: '', message: 'the digest is not the one that the manifest names'});
	}

	const value = parseDocument(file.bytes, {...planLimits, anyNumber: true}, {path, problems});
	if (value === null) {
		return null;
	}

	const found = partProblems(archivedPlanSchema, value, {path, pointer: ''});
	problems.addAll(found);
	return found.length === 0 ? archivedPlanSchema.parse(value) : null;
}

type OutputCheck = {readonly digests: Map<string, string>; readonly problems: ProblemList; readonly path: string};

function checkOutput(files: ArchiveFiles, output: ArchivedOutput, {digests, problems}: OutputCheck): void {
	const size = output.bytes === null ? {} : {bytes: output.bytes};
	const sha256 = files.digest(output.path, {maxBytes: archiveLimits.maxOutputBytes, ...size});
	if (sha256 === null) {
		return;
	}

	digests.set(output.path, sha256);
	if (sha256 !== output.sha256) {
		const message = `the digest is not the one that the manifest names at ${output.shaPointer}`;
		problems.add({code: 'EVIDENCE_DIGEST', path: output.path, pointer: '', message});
	}
}

function listedPaths<Document>(document: Document, format: ArchiveFormat<Document>): string[] {
	const plan = format.plan(document);
	return [...(plan === null ? [] : [plan.path]), ...format.outputs(document).map(({path}) => path)];
}

/** One file cannot be two things. */
function twinProblems(manifest: string, listed: readonly string[], outputs: readonly ArchivedOutput[]): Problem[] {
	const counts = new Map<string, number>([[manifest, 1]]);
	for (const path of listed) {
		counts.set(path, (counts.get(path) ?? 0) + 1);
	}

	return outputs
		.filter(({path}) => (counts.get(path) ?? 0) > 1)
		.map(({pathPointer}) => ({code: 'EVIDENCE_SCHEMA', path: manifest, pointer: pathPointer, message: 'this path is listed for something else, too'}));
}

function answerOf<Document>(
	format: ArchiveFormat<Document>,
	read: {readonly manifestSha256: string; readonly document: Document | null} | null,
	problems: ProblemList,
): ValidateAnswer {
	const document = problems.isSound ? (read?.document ?? null) : null;
	return {
		verdict: document === null ? 'invalid' : format.verdict,
		archived: true,
		result: document === null ? null : format.result(document),
		attempts: null,
		manifest_sha256: read?.manifestSha256 ?? null,
		problems: problems.all(),
	};
}
