import {BailiffError} from '../core/errors.ts';
import type {Target} from '../core/ids.ts';
import {type BagFile, bagFile, bagPaths, checkBag} from './bagit.ts';
import {type Bundle, bundleDigestOf, bundleLimits, requireDigest} from './bundle.ts';
import {ledgerMatchProblems} from './ledger-check.ts';
import {type ParsedLedger, parseLedger} from './ledger-lines.ts';
import {readManifest} from './manifest-reader.ts';
import type {Manifest} from './manifest-schema.ts';
import {outputPaths} from './output-paths.ts';
import {isNotice, ProblemList} from './problem-list.ts';
import type {Problem} from './problems.ts';
import type {ReceiptBody} from './receipt.ts';

/** A bundle whose every file agrees with its manifests and whose digest is the expected one. */
export type VerifiedBundle = {
	readonly bundle: Bundle;
	readonly sha256: string;
	readonly files: ReadonlyMap<string, BagFile>;
	readonly manifest: Manifest;
	readonly manifestSha256: string;
	readonly ledger: ParsedLedger;
	readonly ledgerBytes: Buffer;
};

/** What stands for a run in the `External-Identifier` of its bag. */
export function bagIdentifier({owner, repository, issue}: Target, runId: string): string {
	return `${owner}/${repository}#${issue}/${runId}`;
}

/**
 * Reads a whole bundle, first for its digest alone, then for everything that it must be.
 *
 * Nothing is parsed before the digest is the expected one. Memory is bounded by the largest file (256 MiB), the manifest and the ledger.
 * Refuses: EVIDENCE_BUNDLE_DIGEST, EVIDENCE_BUNDLE_INVALID, CORE_FILE_ codes. Source: E-EXP-1, E-EXP-2.
 */
export function verifyBundle(bundle: Bundle, expectedSha256: string): VerifiedBundle {
	const sha256 = bundle.digest();
	requireDigest(sha256, expectedSha256);
	const files = new Map<string, BagFile>();
	const kept = new Map<string, Buffer>();
	bundle.visit(sha256, (path, content) => {
		if (files.size >= bundleLimits.maxEntries || files.has(path)) {
			throw new BailiffError('EVIDENCE_BUNDLE_INVALID', `the bundle holds ${JSON.stringify(path)} twice, or more than ${bundleLimits.maxEntries} files`);
		}

		files.set(path, bagFile(path, content));
		if (path === bagPaths.manifest || path === bagPaths.ledger) {
			kept.set(path, content);
		}
	});
	const problems = new ProblemList();
	const manifest = readManifest(kept.get(bagPaths.manifest) ?? Buffer.alloc(0), problems)?.manifest ?? null;
	const ledgerBytes = kept.get(bagPaths.ledger) ?? Buffer.alloc(0);
	const ledger = parseLedger(ledgerBytes);
	if (manifest === null || !problems.isSound) {
		throw unsoundBundle('manifest', problems.all());
	}

	checkBag(files, bagIdentifier(manifest.target, manifest.run_id));
	const manifestSha256 = files.get(bagPaths.manifest)?.sha256 ?? '';
	const planSha256 = files.get(bagPaths.plan)?.sha256 ?? '';
	const found = [...contentProblems(manifest, files), ...ledger.problems, ...ledgerMatchProblems(ledger, {manifest, manifestSha256, planSha256})].filter(
		problem => !isNotice(problem),
	);
	if (found.length > 0) {
		throw unsoundBundle('run', found);
	}

	return {bundle, sha256, files, manifest, manifestSha256, ledger, ledgerBytes};
}

/** The plan and every stored file are there, are those that the manifest names, and there is no other. */
function contentProblems(manifest: Manifest, files: ReadonlyMap<string, BagFile>): Problem[] {
	const named = new Map<string, string>([['plan.json', manifest.plan.sha256]]);
	for (const [index, {output, extra_outputs, trace}] of manifest.commands.entries()) {
		const paths = outputPaths(index);
		named.set(paths.output, output.sha256).set(paths.trace, trace.sha256);
		for (const {sha256} of extra_outputs) {
			named.set(paths.errorOutput, sha256);
		}
	}

	const {run} = bagPaths;
	const wrong = [...named].filter(([path, sha256]) => files.get(`${run}${path}`)?.sha256 !== sha256);
	const unlisted = [...files.keys()].filter(path => path.startsWith(run) && path !== bagPaths.manifest && !named.has(path.slice(run.length)));
	return [
		...wrong.map(([path]): Problem => ({code: 'EVIDENCE_DIGEST', path, pointer: '', message: 'the file is missing or not the one that the manifest names'})),
		...unlisted.map(
			(path): Problem => ({code: 'EVIDENCE_DIRECTORY_UNLISTED', path: path.slice(run.length), pointer: '', message: 'the manifest does not list this entry'}),
		),
	];
}

/** The refusal of a bundle whose content does not hold; `details.problems` names why. */
export function unsoundBundle(what: string, problems: readonly Problem[]): BailiffError {
	const [first] = problems;
	const reason = first === undefined ? '' : `: ${first.message} (${first.code})`;
	return new BailiffError('EVIDENCE_BUNDLE_INVALID', `the ${what} in the bundle does not hold${reason}`, {
		details: {problems: problems.map(({code, path, pointer, message}) => ({code, path, pointer, message}))},
	});
}

/** What a receipt says of a verified bundle. */
export function receiptBody({bundle, sha256, files, manifest, manifestSha256, ledger}: VerifiedBundle): ReceiptBody {
	const head = ledger.entries.at(-1);
	return {
		bundle: {form: bundle.form, sha256, digest_of: bundleDigestOf[bundle.form]},
		target: manifest.target,
		run_id: manifest.run_id,
		result: manifest.result,
		source: {sha: manifest.source.sha, tree: manifest.source.tree},
		manifest_sha256: manifestSha256,
		ledger: {n: head?.line.n ?? 1, sha256: head?.sha256 ?? ''},
		entries: [...files.values()].map(({path, bytes, sha256: digest}) => ({path, bytes, sha256: digest})),
		readback: true,
	};
}
