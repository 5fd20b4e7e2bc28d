import {readdirSync} from 'node:fs';
import {commitIdPattern} from '../core/ids.ts';
import {parseLfsPointer} from './checkout-form.ts';
import type {Git} from './git-command.ts';
import {readLinkFile} from './git-directory.ts';
import {readObjectSizes, readObjects} from './git-objects.ts';
import {zeroTerminated} from './git-output.ts';
import type {IssuePaths} from './layout.ts';
import {displayPath} from './path-display.ts';
import {statusIfThere} from './trust.ts';
import type {AdminDirectory} from './worktree-registration.ts';
import type {ReportCheckout, UnfinishedOperation} from './worktree-report.ts';

/** What a worktree holds, in the words of the report. */
export type Inspection = Required<
	Pick<
		ReportCheckout,
		'detached' | 'head_sha' | 'staged' | 'unstaged' | 'untracked' | 'ignored' | 'hidden_flags' | 'gitlinks' | 'lfs_pointers' | 'unfinished' | 'git_locks'
	>
> & {readonly counts: NonNullable<ReportCheckout['counts']>};

/** How head and base lie to each other. */
export type BaseStanding = {readonly base_is_ancestor: boolean; readonly commits_after_base: number; readonly undelivered_commits: number};

type Place = {readonly paths: IssuePaths; readonly admin: AdminDirectory};

const maxListed = 100;
const maxPointerBytes = 1024;
const statusCommand = ['status', '--porcelain=v2', '-z', '--untracked-files=all', '--ignored=matching', '--ignore-submodules=all', '--no-renames'] as const;
const unfinishedFiles: ReadonlyArray<readonly [name: string, operation: UnfinishedOperation]> = [
	['rebase-apply/applying', 'am'],
	['rebase-merge', 'rebase'],
	['rebase-apply', 'rebase'],
	['MERGE_HEAD', 'merge'],
	['CHERRY_PICK_HEAD', 'cherry-pick'],
	['REVERT_HEAD', 'revert'],
	['BISECT_LOG', 'bisect'],
	['BISECT_START', 'bisect'],
	['sequencer', 'sequencer'],
];

/**
 * Reads what a worktree holds: HEAD, index, files, marks that hide changes, leftovers of git. Its registration must be found right and the mirror's config
 * be our own before.
 *
 * git gets its directory and the checkout by name: the checkout's own `.git` is never followed, and no submodule is entered. Changes nothing, not even the
 * index. Refuses: CACHE_GIT_ codes, CACHE_OBJECT_INVALID. Source: C-HARD-3, C-REUSE-1, authority.md section 6.
 */
export async function inspectWorktree(git: Git, place: Place): Promise<Inspection> {
	const {paths, admin} = place;
	const gitDir = admin.path;
	const [status, index] = await Promise.all([
		git.run({command: statusCommand, gitDir, workTree: paths.checkout}),
		git.run({command: ['ls-files', '-v', '--stage', '-z', '--full-name'], gitDir, workTree: paths.checkout}),
	]);
	const lists = readStatus(status.stdout);
	const entries = readIndex(index.stdout);
	const head = readDetachedHead(admin);
	return {
		detached: head !== null,
		head_sha: head,
		staged: lists.staged.shown,
		unstaged: lists.unstaged.shown,
		untracked: lists.untracked.shown,
		ignored: lists.ignored.shown,
		counts: {staged: lists.staged.count, unstaged: lists.unstaged.count, untracked: lists.untracked.count, ignored: lists.ignored.count},
		hidden_flags: entries.hidden.shown,
		gitlinks: entries.gitlinks.shown,
		lfs_pointers: await countPointers(git, gitDir, entries),
		unfinished: unfinishedOperation(admin),
		git_locks: gitLocks(admin),
	};
}

/** The commit that the worktree's HEAD is, or null where it names a branch. */
export function readDetachedHead(admin: AdminDirectory): string | null {
	const head = readLinkFile(`${admin.path}/HEAD`)?.trimEnd() ?? '';
	return commitIdPattern.test(head) ? head : null;
}

/** Lock files that a killed git left in the worktree's directory of the mirror, relative to it. Source: C-HARD-8. */
export function gitLocks(admin: AdminDirectory): string[] {
	return readdirSync(admin.path, {recursive: true, encoding: 'utf8'})
		.filter(name => name.endsWith('.lock'))
		.toSorted()
		.slice(0, maxListed);
}

/**
 * Whether the base is an ancestor of the head, how many commits came after it, and how many of the head's commits no ref of the mirror reaches.
 *
 * Refuses: CACHE_GIT_ codes. Source: C-REUSE-1, C-RM-3.
 */
export async function readBaseStanding(git: Git, mirror: string, {base, head}: {readonly base: string; readonly head: string}): Promise<BaseStanding> {
	const count = async (...range: string[]): Promise<number> => {
		const {stdout} = await git.run({command: ['rev-list', '--count', ...range, '--'], gitDir: mirror});
		return Number(stdout.toString('latin1').trim());
	};
	const isBase = base === head;
	const [isAncestor, after, undelivered] = await Promise.all([
		isBase || isAncestorOf(git, mirror, {base, head}),
		isBase ? 0 : count(`${base}..${head}`),
		// Not --all: that counts the heads of worktrees as reached.
		count(head, '--not', '--glob=refs/*'),
	]);
	return {base_is_ancestor: isAncestor, commits_after_base: after, undelivered_commits: undelivered};
}

async function isAncestorOf(git: Git, mirror: string, {base, head}: {readonly base: string; readonly head: string}): Promise<boolean> {
	const {exitCode} = await git.run({command: ['merge-base', '--is-ancestor', base, head], gitDir: mirror, acceptedExitCodes: [0, 1]});
	return exitCode === 0;
}

/** An operation of git that was begun in the worktree and not finished, or null. Source: C-REUSE-1. */
export function unfinishedOperation(admin: AdminDirectory): UnfinishedOperation | null {
	return unfinishedFiles.find(([name]) => statusIfThere(`${admin.path}/${name}`) !== null)?.[1] ?? null;
}

class PathList {
	readonly shown: string[] = [];
	count = 0;

	add(path: string): void {
		this.count++;
		if (this.shown.length < maxListed) {
			this.shown.push(readable(path));
		}
	}
}

type StatusLists = {readonly staged: PathList; readonly unstaged: PathList; readonly untracked: PathList; readonly ignored: PathList};

/** How many blank-separated fields stand before the path of an entry. */
const fieldsBefore: Readonly<Record<string, number>> = {'1': 8, u: 10};

function readStatus(output: Buffer): StatusLists {
	const lists = {staged: new PathList(), unstaged: new PathList(), untracked: new PathList(), ignored: new PathList()};
	for (const line of zeroTerminated(output)) {
		const kind = line.slice(0, 1);
		if (kind === '?') {
			lists.untracked.add(line.slice(2));
		} else if (kind === '!') {
			lists.ignored.add(line.slice(2));
		} else if (fieldsBefore[kind] !== undefined) {
			const path = afterFields(line, fieldsBefore[kind]);
			addChange(lists, line.slice(2, 4), path);
		}
	}

	return lists;
}

function addChange(lists: StatusLists, [inIndex = '.', inTree = '.']: string, path: string): void {
	if (inIndex !== '.') {
		lists.staged.add(path);
	}

	if (inTree !== '.') {
		lists.unstaged.add(path);
	}
}

function afterFields(line: string, count: number): string {
	let at = 0;
	for (let field = 0; field < count; field++) {
		at = line.indexOf(' ', at) + 1;
	}

	return line.slice(at);
}

type IndexEntries = {
	readonly hidden: PathList;
	readonly gitlinks: PathList;
	readonly attributeFiles: readonly string[];
	readonly blobs: readonly string[];
};

function readIndex(output: Buffer): IndexEntries {
	const hidden = new PathList();
	const gitlinks = new PathList();
	const attributeFiles: string[] = [];
	const blobs: string[] = [];
	for (const line of zeroTerminated(output)) {
		const tab = line.indexOf('\t');
		const path = line.slice(tab + 1);
		const [tag = '', mode = '', id = ''] = line.slice(0, tab).split(' ');
		if (tag === 'S' || /^[a-z]$/.test(tag)) {
			hidden.add(path);
		}

		if (mode === '160000') {
			gitlinks.add(path);
		} else if (mode !== '120000') {
			blobs.push(id);
			if (path === '.gitattributes' || path.endsWith('/.gitattributes')) {
				attributeFiles.push(id);
			}
		}
	}

	return {hidden, gitlinks, attributeFiles, blobs};
}

/** Files of Git LFS are pointers here, since no filter runs. Where no attributes ask for LFS nothing is read. */
async function countPointers(git: Git, gitDir: string, {attributeFiles, blobs}: IndexEntries): Promise<number> {
	const attributes = await readObjects(git, gitDir, [...new Set(attributeFiles)]);
	if (![...attributes.values()].some(({body}) => /\bfilter=lfs\b/.test(body.toString('latin1')))) {
		return 0;
	}

	const sizes = await readObjectSizes(git, gitDir, [...new Set(blobs)]);
	const small = [...sizes].filter(([, size]) => size <= maxPointerBytes).map(([id]) => id);
	const objects = await readObjects(git, gitDir, small);
	const pointers = new Set([...objects].filter(([, {body}]) => parseLfsPointer(body) !== null).map(([id]) => id));
	return blobs.filter(id => pointers.has(id)).length;
}

/** As it is where it can be read, escaped where not. */
function readable(path: string): string {
	const text = Buffer.from(path, 'latin1').toString('utf8');
	const quoted = displayPath(path);
	return quoted === JSON.stringify(text) ? text : quoted.slice(1, -1);
}
