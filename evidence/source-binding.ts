import {sha256Hex} from '../core/digest.ts';
import {BailiffError} from '../core/errors.ts';
import {commitIdPattern} from '../core/ids.ts';
import type {CommandRecord, Manifest} from './manifest-schema.ts';
import type {PullRequestHead, SourceEntry, SourceObjects} from './ports.ts';
import type {Problem} from './problems.ts';
import {type SourceIndex, sourceIndex, treePath} from './source-paths.ts';

/** Something of the evidence that could not be bound, and why. */
export type EvidenceGap = {readonly item: string; readonly reason: string};

/** What became of the items of one run. */
export type SourceBinding = {readonly bound: readonly string[]; readonly gaps: readonly EvidenceGap[]; readonly problems: readonly Problem[]};

type Finding = {readonly bound: string} | {readonly gap: EvidenceGap} | {readonly problem: Problem};

/**
 * Binds commit, tree, and of each command its directory and its executable inside of the checkout, to git objects.
 *
 * Items: `source.commit`, `source.tree`, `commands/<id>/cwd`, `commands/<id>/executable` (tools of the machine are no part of the source).
 * Never rejects for what the objects are. Source: E-READ-5.
 */
export async function bindSource(manifest: Manifest, objects: SourceObjects): Promise<SourceBinding> {
	const {sha, tree} = manifest.source;
	let commit: Awaited<ReturnType<SourceObjects['readCommit']>>;
	try {
		commit = await objects.readCommit(sha);
	} catch (error) {
		return collect([gap('source.commit', refusalText(error)), ...itemsOfCommit(manifest).map(item => gap(item, 'there is no proven commit to look it up in'))]);
	}

	if (commit.tree !== tree) {
		const message = `the commit has the tree ${commit.tree}`;
		return collect([{bound: 'source.commit'}, {problem: {code: 'EVIDENCE_SOURCE_TREE', path: 'manifest.json', pointer: '/source/tree', message}}]);
	}

	const index = sourceIndex(commit.entries);
	const findings: Finding[] = [{bound: 'source.commit'}, {bound: 'source.tree'}];
	for (const command of manifest.commands) {
		findings.push(cwdFinding(command, index), ...(await executableFindings(command, index, objects)));
	}

	return collect(findings);
}

/** Holds the commit of the run against the head that the provider names now: item `pull_request.head`. Never rejects. Source: E-READ-5. */
export async function headBinding(manifest: Manifest, pullRequest: PullRequestHead | null): Promise<SourceBinding> {
	const item = 'pull_request.head';
	if (pullRequest === null) {
		return collect([gap(item, 'no provider was asked for the head of the pull request')]);
	}

	try {
		const head = await pullRequest.read();
		if (!commitIdPattern.test(head)) {
			return collect([gap(item, 'the provider named no full commit id')]);
		}

		const message = `the pull request stands at ${head} now`;
		return collect([
			head === manifest.source.sha ? {bound: item} : {problem: {code: 'EVIDENCE_SOURCE_HEAD', path: 'manifest.json', pointer: '/source/sha', message}},
		]);
	} catch (error) {
		return collect([gap(item, refusalText(error))]);
	}
}

/** Every item that only a proven commit can bind. */
function itemsOfCommit({commands}: Manifest): string[] {
	const items = commands.flatMap(({id, executable}) => [`commands/${id}/cwd`, ...(executable.path.startsWith('/') ? [] : [`commands/${id}/executable`])]);
	return ['source.tree', ...items];
}

function cwdFinding({id, cwd}: CommandRecord, {directories}: SourceIndex): Finding {
	const item = `commands/${id}/cwd`;
	return directories.has(treePath(cwd)) ? {bound: item} : gap(item, 'the commit has no such directory: an earlier command may have made it');
}

async function executableFindings({id, executable}: CommandRecord, {files}: SourceIndex, objects: SourceObjects): Promise<Finding[]> {
	const item = `commands/${id}/executable`;
	if (executable.path.startsWith('/')) {
		return [];
	}

	const entry = files.get(treePath(executable.path));
	if (entry === undefined) {
		return [gap(item, 'the commit has no such file: an earlier command may have made it')];
	}

	try {
		return [await blobFinding(item, {entry, sha256: executable.sha256, objects})];
	} catch (error) {
		return [gap(item, refusalText(error))];
	}
}

async function blobFinding(
	item: string,
	blob: {readonly entry: SourceEntry; readonly sha256: string | null; readonly objects: SourceObjects},
): Promise<Finding> {
	const {entry, sha256, objects} = blob;
	if (!entry.mode.startsWith('100')) {
		return gap(item, 'in the commit it is no plain file');
	}

	const bytes = (await objects.readBlobs([entry.id])).get(entry.id);
	if (bytes !== undefined && sha256 !== null && sha256Hex(bytes) === sha256) {
		return {bound: item};
	}

	return gap(item, 'what ran has other bytes than the blob: converted at checkout, or changed by an earlier command');
}

function gap(item: string, reason: string): Finding {
	return {gap: {item, reason}};
}

function refusalText(error: unknown): string {
	if (!(error instanceof BailiffError)) {
		throw error;
	}

	return `${error.message} (${error.code})`;
}

function collect(findings: readonly Finding[]): SourceBinding {
	return {
		bound: findings.flatMap(finding => ('bound' in finding ? [finding.bound] : [])),
		gaps: findings.flatMap(finding => ('gap' in finding ? [finding.gap] : [])),
		problems: findings.flatMap(finding => ('problem' in finding ? [finding.problem] : [])),
	};
}
