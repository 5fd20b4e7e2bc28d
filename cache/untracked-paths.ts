import {lstatSync, readdirSync} from 'node:fs';
import type {Git} from './git-command.ts';
import type {CheckoutPlace} from './git-directory.ts';
import {inRows, zeroTerminated} from './git-output.ts';
import {toSystemPath} from './worktree-walk.ts';

/** What lies in the checkout and belongs to nobody. */
export type Untracked = {
	/** latin1, at most `maxUntracked`. */
	readonly paths: readonly string[];
	/** The search stopped at the limit. */
	readonly isCut: boolean;
};

const maxUntracked = 10_000;

/**
 * The files beside the tracked ones that the commit itself does not ignore.
 *
 * "Ignored" means: by a .gitignore that is part of the commit. Rules in info/exclude or in an untracked .gitignore are known to this machine
 * alone, and whoever plants a file can plant them too, so that they hide nothing. An empty directory is nothing, as for git.
 *
 * Shape: `strangers` are latin1 names found beside tracked ones; `ignoreFiles` are the .gitignore files of the commit. Source: R-START-3.
 */
export async function findUntracked(
	git: Git,
	place: CheckoutPlace,
	options: {readonly strangers: readonly string[]; readonly ignoreFiles: ReadonlySet<string>},
): Promise<Untracked> {
	const paths: string[] = [];
	let level = options.strangers;
	while (level.length > 0 && paths.length < maxUntracked) {
		const ignored = await readIgnored(git, place, level, options.ignoreFiles);
		const foreign = level.filter(path => !ignored.has(path)).map(path => ({path, below: listDirectory(place.checkout, path)}));
		for (const {path} of foreign.filter(({below}) => below === null)) {
			paths.push(path);
		}

		// What lies in a directory counts only when the directory itself is not ignored.
		level = foreign.flatMap(({path, below}) => (below ?? []).map(name => `${path}/${name}`));
	}

	return {paths: paths.slice(0, maxUntracked), isCut: level.length > 0 || paths.length > maxUntracked};
}

async function readIgnored(git: Git, place: CheckoutPlace, paths: readonly string[], ignoreFiles: ReadonlySet<string>): Promise<Set<string>> {
	const askable = withoutTraps(place, paths);
	if (askable.length === 0) {
		return new Set();
	}

	const {stdout} = await git.run({
		command: ['check-ignore', '--no-index', '--verbose', '-z', '--stdin'],
		gitDir: place.gitDir,
		workTree: place.checkout,
		// "./" keeps a name that begins with ":" from being read as a pattern.
		input: Buffer.from(askable.map(path => `./${path}\0`).join(''), 'latin1'),
		acceptedExitCodes: [0, 1],
	});
	const ignored = new Set<string>();
	for (const [source = '', , pattern = '', path = ''] of inRows(zeroTerminated(stdout), 4)) {
		if (!pattern.startsWith('!') && ignoreFiles.has(source)) {
			ignored.add(path.slice(2));
		}
	}

	return ignored;
}

/** git would wait for ever on a pipe where it expects rules: what lies below one is not asked about, and so reported. */
function withoutTraps(place: CheckoutPlace, paths: readonly string[]): readonly string[] {
	if (isTrap(`${place.commonDir}/info/exclude`)) {
		return [];
	}

	const traps = new Map<string, boolean>();
	const isBelowTrap = (path: string): boolean => {
		const end = path.lastIndexOf('/');
		const directory = path.slice(0, end + 1);
		const known = traps.get(directory);
		if (known !== undefined) {
			return known;
		}

		const isBelow = isTrap(systemPathOf(place.checkout, `${directory}.gitignore`)) || (end !== -1 && isBelowTrap(path.slice(0, end)));
		traps.set(directory, isBelow);
		return isBelow;
	};

	return paths.filter(path => !isBelowTrap(path));
}

function isTrap(systemPath: string | Buffer): boolean {
	try {
		const stats = lstatSync(systemPath, {throwIfNoEntry: false});
		return stats !== undefined && !stats.isFile() && !stats.isSymbolicLink() && !stats.isDirectory();
	} catch {
		return true;
	}
}

function systemPathOf(root: string, path: string): string | Buffer {
	return toSystemPath(`${Buffer.from(root).toString('latin1')}/${path}`);
}

/** The names in a directory, or null for anything else; one that cannot be listed counts as a file, so that it is reported. */
function listDirectory(root: string, path: string): string[] | null {
	const systemPath = systemPathOf(root, path);
	try {
		return lstatSync(systemPath, {throwIfNoEntry: false})?.isDirectory() === true ? readdirSync(systemPath, 'latin1') : null;
	} catch {
		return null;
	}
}
