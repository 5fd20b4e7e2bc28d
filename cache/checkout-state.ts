import {join} from 'node:path';
import type {Clock} from '../core/clock.ts';
import {BailiffError} from '../core/errors.ts';
import {readCheckoutForms} from './checkout-attributes.ts';
import {parseLfsPointer, toCrlfForm} from './checkout-form.ts';
import type {Git} from './git-command.ts';
import {type CheckoutPlace, HeadReader, locateCheckout, lstatOrNull} from './git-directory.ts';
import {gitObjectId, readCommitEntries, readObjectSizes, readObjects, type TreeEntry} from './git-objects.ts';
import {zeroTerminated} from './git-output.ts';
import {TrackedSnapshot} from './tracked-snapshot.ts';
import {findUntracked} from './untracked-paths.ts';
import {type Difference, maxConvertedBytes, type Proven, walkWorktree} from './worktree-walk.ts';

/** Everything that keeps a checkout from being exactly a commit, and the snapshot that later looks start from. */
export type CheckoutState = {
	readonly tree: string;
	/** Sorted by path. Empty: the checkout is exactly the commit. */
	readonly differences: readonly Difference[];
	/** There may be more untracked paths than are listed. */
	readonly isCut: boolean;
	readonly snapshot: TrackedSnapshot;
};

const readAtOnce = 64;

/** Where the checkout lies and what reads its HEAD. Refuses: CACHE_CHECKOUT_INVALID. */
export function readPlace(path: string): {readonly place: CheckoutPlace; readonly head: HeadReader} {
	const place = locateCheckout(path);
	return {place, head: new HeadReader(place)};
}

/**
 * Compares index, files and everything else in a checkout with a commit.
 *
 * Refuses: CACHE_CHECKOUT_UNSUPPORTED, CACHE_OBJECT_INVALID, CACHE_GIT_ codes. Source: R-START-3, E-READ-1.
 */
export async function inspectCheckout(options: {
	readonly git: Git;
	readonly place: CheckoutPlace;
	readonly commit: string;
	readonly clock: Clock;
}): Promise<CheckoutState> {
	const {git, place, commit, clock} = options;
	await requireKnownFormat(git, place);
	const [{tree, entries}, index] = await Promise.all([readCommitEntries(git, place.gitDir, commit), readIndex(git, place)]);
	const staged = findStaged(index, entries);
	const tracked = await readCheckoutForms(git, place, entries);
	const lookedAtMs = clock.wallMs();
	const walked = await walkWorktree(place.checkout, tracked);
	const {proven, differences} = await decide(git, place, walked.undecided);
	const untracked = await findUntracked(git, place, {strangers: walked.strangers, ignoreFiles: ignoreFilesOf(entries)});
	const all = [...staged, ...walked.differences, ...differences, ...untracked.paths.map((path): Difference => ({path, state: 'untracked'}))];
	return {
		tree,
		differences: onePerPath(all),
		isCut: untracked.isCut,
		snapshot: new TrackedSnapshot(place.checkout, [...walked.proven, ...proven], {directories: walked.directories, clock, lookedAtMs}),
	};
}

/** git would refuse these too, but not in words that help. */
async function requireKnownFormat(git: Git, place: CheckoutPlace): Promise<void> {
	const path = join(place.commonDir, 'config');
	const stats = lstatOrNull(path);
	if (stats === null) {
		return;
	}

	if (!stats.isFile()) {
		throw unsupported(place, `${path} must be a regular file`);
	}

	const settings = await readConfig(git, path);
	const objectFormat = settings.get('extensions.objectformat')?.at(-1) ?? 'sha1';
	if (objectFormat !== 'sha1') {
		throw unsupported(place, `the repository uses ${objectFormat} object ids; plans and manifests name sha1 ids only`);
	}

	const refStorage = settings.get('extensions.refstorage')?.at(-1) ?? 'files';
	if (refStorage !== 'files') {
		throw unsupported(place, `the repository keeps its references as ${refStorage}; only files are supported: git refs migrate --ref-format=files`);
	}
}

/** The settings of one configuration file, in order; includes are not followed and nothing is executed. Keys as git prints them. */
export async function readConfig(git: Git, path: string): Promise<Map<string, string[]>> {
	// A git directory that is none: reading a named file must not make git look for a repository.
	const {stdout} = await git.run({command: ['config', '--file', path, '--no-includes', '-z', '--list'], gitDir: '/nonexistent/git'});
	const settings = new Map<string, string[]>();
	for (const line of stdout.toString('utf8').split('\0')) {
		const end = line.indexOf('\n');
		const key = end === -1 ? line : line.slice(0, end);
		const values = settings.get(key) ?? [];
		values.push(end === -1 ? 'true' : line.slice(end + 1));
		settings.set(key, values);
	}

	return settings;
}

/** The index as `ls-files --stage -z` prints it. What it says about the files on disk is not asked. */
async function readIndex(git: Git, place: CheckoutPlace): Promise<Buffer> {
	const path = join(place.gitDir, 'index');
	if (lstatOrNull(path)?.isFile() === false) {
		throw unsupported(place, `${path} must be a regular file`);
	}

	const {stdout} = await git.run({command: ['ls-files', '--stage', '-z', '--full-name'], gitDir: place.gitDir, workTree: place.checkout});
	return stdout;
}

/** Both lists are in git's order, so that one pass side by side finds what only one of them has. */
function findStaged(index: Buffer, entries: readonly TreeEntry[]): Difference[] {
	const staged: Difference[] = [];
	let next = 0;
	for (const line of zeroTerminated(index)) {
		const tab = line.indexOf('\t');
		const path = line.slice(tab + 1);
		for (let entry = entries[next]; entry !== undefined && entry.path < path; entry = entries[next]) {
			staged.push({path: entry.path, state: 'staged'});
			next++;
		}

		const entry = entries[next];
		if (entry?.path === path) {
			next++;
		}

		if (entry?.path !== path || line.slice(0, tab) !== `${entry.mode} ${entry.id} 0`) {
			staged.push({path, state: 'staged'});
		}
	}

	return [...staged, ...entries.slice(next).map(({path}): Difference => ({path, state: 'staged'}))];
}

function ignoreFilesOf(entries: readonly TreeEntry[]): Set<string> {
	return new Set(entries.map(({path}) => path).filter(path => path === '.gitignore' || path.endsWith('/.gitignore')));
}

/** The files for which only the blob can tell, a few at a time. */
async function decide(git: Git, place: CheckoutPlace, undecided: readonly Proven[]): Promise<{proven: Proven[]; differences: Difference[]}> {
	const ids = [...new Set(undecided.map(({tracked}) => tracked.id))];
	const sizes = await readObjectSizes(git, place.gitDir, ids);
	const proven: Proven[] = [];
	const differences: Difference[] = [];
	for (let at = 0; at < undecided.length; at += readAtOnce) {
		const some = undecided.slice(at, at + readAtOnce);
		const readable = new Set(some.map(({tracked}) => tracked).filter(({id, form}) => (sizes.get(id) ?? Infinity) <= maxBlobBytes(form)));
		const objects = await readObjects(git, place.gitDir, [...new Set(Array.from(readable, ({id}) => id))]);
		for (const file of some) {
			const blob = objects.get(file.tracked.id);
			if (blob?.type === 'blob' && isRightForm(file, blob.body)) {
				proven.push(file);
			} else {
				differences.push({path: file.tracked.path, state: 'changed'});
			}
		}
	}

	return {proven, differences};
}

/** A pointer of Git LFS is small by definition; text is converted in memory. */
function maxBlobBytes(form: Proven['tracked']['form']): number {
	return form === 'lfs' ? 1024 : maxConvertedBytes / readAtOnce;
}

function isRightForm({tracked, examined}: Proven, blob: Buffer): boolean {
	if (tracked.form === 'crlf' || tracked.form === 'crlf-auto') {
		return gitObjectId('blob', toCrlfForm(blob, tracked.form)) === examined.rawId;
	}

	const pointer = parseLfsPointer(blob);
	return pointer !== null && pointer.bytes === examined.stamp?.size && pointer.sha256 === examined.sha256;
}

function unsupported(place: CheckoutPlace, message: string): BailiffError {
	return new BailiffError('CACHE_CHECKOUT_UNSUPPORTED', message, {details: {path: place.checkout}});
}

/** Sorted by path; what is staged is mostly changed too, and counts once. */
function onePerPath(differences: readonly Difference[]): Difference[] {
	const byPath = new Map<string, Difference>();
	for (const difference of differences) {
		if (!byPath.has(difference.path)) {
			byPath.set(difference.path, difference);
		}
	}

	return [...byPath.values()].toSorted((left, right) => compare(left.path, right.path));
}

function compare(left: string, right: string): number {
	if (left === right) {
		return 0;
	}

	return left < right ? -1 : 1;
}
