import {chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {canonicalFile, canonicalJson} from '../../core/canonical-json.ts';
import {sha256Hex} from '../../core/digest.ts';
import {parseStrictJson} from '../../core/strict-json.ts';
import {type Manifest, manifestSchema, type SourceReader} from '../../evidence/index.ts';

/** What the frozen run of test/vectors/example-run is about. */
export const example = {
	runId: '20260801-120000-4f2a9c1e',
	target: {owner: 'acme', repository: 'widget', issue: 7},
	sha: '575a7f815321399fd68ae6021fed8ca79af4573b',
	tree: 'fc4d302806a22fcccb9e67e43a170604daabaf57',
} as const;

/** The frozen run. */
export const exampleDirectory = join('test', 'vectors', 'example-run', 'verification');

/** The manifest of the frozen run, parsed anew for every caller. */
export function exampleManifest(): Manifest {
	return manifestSchema.parse(
		parseStrictJson(readFileSync(join(exampleDirectory, example.runId, 'manifest.json')), {maxBytes: 1e6, maxDepth: 24, decimalKeys: ['timeout_seconds']}),
	);
}

/** A copy of the frozen run under a new directory, with the modes that evidence has. */
export class RunCopy {
	readonly base = mkdtempSync(join(tmpdir(), 'bailiff-example-'));
	readonly verification = join(this.base, 'verification');
	readonly run = join(this.verification, example.runId);

	constructor() {
		cpSync(exampleDirectory, this.verification, {recursive: true});
		setModes(this.verification);
	}

	path(name: string): string {
		return join(this.run, name);
	}

	/** Writes bytes with the mode of evidence. */
	write(name: string, bytes: Uint8Array | string): void {
		mkdirSync(join(this.run, 'output'), {recursive: true, mode: 0o700});
		writeFileSync(this.path(name), bytes, {mode: 0o600});
	}

	/** Replaces manifest and ledger by ones that vouch for each other, as a producer would have written them. */
	rewrite(manifest: Manifest, planBytes?: Uint8Array): void {
		const plan = planBytes ?? readFileSync(this.path('plan.json'));
		const started = {
			at: manifest.started_at,
			event: 'started',
			n: 1,
			plan_sha256: sha256Hex(plan),
			prev_sha256: null,
			run_id: manifest.run_id,
			source_sha: manifest.source.sha,
		};
		const first = canonicalJson(started);
		const bytes = canonicalFile({
			...manifest,
			plan: {path: 'plan.json', sha256: sha256Hex(plan), bytes: plan.length},
			ledger: {n: 1, sha256: sha256Hex(first)},
		});
		const published = {
			at: manifest.finished_at,
			event: 'published',
			manifest_sha256: sha256Hex(bytes),
			n: 2,
			prev_sha256: sha256Hex(first),
			result: manifest.result,
			run_id: manifest.run_id,
		};
		this.write('plan.json', plan);
		this.write('manifest.json', bytes);
		writeFileSync(join(this.verification, 'ledger.jsonl'), `${first}\n${canonicalJson(published)}\n`, {mode: 0o600});
	}

	remove(): void {
		rmSync(this.base, {recursive: true, force: true});
	}
}

/** A checkout that is exactly the frozen commit. */
export const exampleSource: SourceReader = {
	read: sha => Promise.resolve({head: example.sha, tree: sha === example.sha ? example.tree : null, problems: []}),
};

function setModes(directory: string): void {
	chmodSync(directory, 0o700);
	for (const entry of readdirSync(directory, {withFileTypes: true})) {
		const path = join(directory, entry.name);
		if (entry.isDirectory()) {
			setModes(path);
		} else {
			chmodSync(path, 0o600);
		}
	}
}
