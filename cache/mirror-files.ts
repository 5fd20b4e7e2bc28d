import {lstatSync, readdirSync, type Stats} from 'node:fs';
import {errnoOf} from '../core/errors.ts';
import type {RepositoryPaths} from './layout.ts';
import {commandLine, placeProblem} from './mirror-problem.ts';
import {displayPath} from './path-display.ts';
import {modeText} from './remedy.ts';
import type {CacheProblem} from './report.ts';

/** What lies in the mirror, and what of it must not. */
export type MirrorFiles = {
	readonly problems: readonly CacheProblem[];
	/** Pack files that are complete. */
	readonly packs: number;
	readonly bytes: number;
	readonly temporaryPacks: {readonly count: number; readonly bytes: number};
};

/** By these git would read other objects, other content, or start a program. `hooks` is refused as a whole: ours is made without. */
const forbidden: Readonly<Record<string, string>> = {
	commondir: 'it redirects refs and objects to another place',
	'config.worktree': 'it is a second config',
	hooks: 'git would start the programs in it',
	'info/attributes': 'it gives files filters',
	'info/grafts': 'it fakes ancestry',
	'objects/info/alternates': 'it borrows objects of another repository',
	'objects/info/http-alternates': 'it borrows objects of another repository',
	shallow: 'it hides history',
};
const maxProblems = 100;
const othersWrite = 0o022;

/**
 * Looks at every entry of the mirror without following a link: owner, kind, modes, forbidden files, leftover lock files of git, sizes.
 *
 * Lock files of a registered worktree (`worktrees/<id>/`) are its own workflow's and left out (C-LOCK-5). What vanishes meanwhile is passed over. At most
 * 100 problems. Source: C-TRUST-6, C-HARD-1, C-HARD-8.
 */
export function inspectMirrorFiles(paths: Pick<RepositoryPaths, 'mirror'>): MirrorFiles {
	const walk = new Walk(paths.mirror);
	walk.look('', lstatOf(paths.mirror));
	return walk;
}

class Walk implements MirrorFiles {
	readonly problems: CacheProblem[] = [];
	packs = 0;
	bytes = 0;
	temporaryPacks = {count: 0, bytes: 0};
	readonly #mirror: string;
	readonly #uid = process.geteuid?.() ?? -1;

	constructor(mirror: string) {
		this.#mirror = mirror;
	}

	/** `name` is relative to the mirror, latin1; '' for itself. */
	look(name: string, status: Stats | null): void {
		if (status === null || this.problems.length >= maxProblems) {
			return;
		}

		this.#judge(name, status);
		if (status.isDirectory()) {
			this.#enter(name);
		} else {
			this.#count(name, status);
		}
	}

	#enter(name: string): void {
		let children: string[];
		try {
			children = readdirSync(this.#place(name), {encoding: 'latin1'});
		} catch (error) {
			if (errnoOf(error) !== 'ENOENT') {
				this.#add('CACHE_PATH_UNTRUSTED', name, `cannot be listed (${errnoOf(error) ?? 'unknown'})`, null);
			}

			return;
		}

		for (const child of children) {
			const below = name === '' ? child : `${name}/${child}`;
			this.look(below, lstatOf(this.#place(below)));
		}
	}

	#judge(name: string, status: Stats): void {
		const shown = this.#shown(name);
		if (status.isSymbolicLink()) {
			this.#add('CACHE_PATH_UNTRUSTED', name, 'is a symbolic link; there is none in a mirror', ['rm', '--', shown]);
			return;
		}

		if (!status.isDirectory() && !status.isFile()) {
			this.#add('CACHE_PATH_UNTRUSTED', name, 'is neither a file nor a directory', null);
		} else if (status.uid !== this.#uid) {
			this.#add('CACHE_PATH_UNTRUSTED', name, `belongs to uid ${status.uid}, bailiff runs as uid ${this.#uid}`, null);
		} else if ((status.mode & othersWrite) !== 0) {
			this.#add('CACHE_PATH_UNTRUSTED', name, `has mode ${modeText(status.mode)}, so that others may write it`, ['chmod', 'go-w', '--', shown]);
		}

		const reason = Object.hasOwn(forbidden, name) ? forbidden[name] : undefined;
		if (reason !== undefined) {
			this.#add(name === 'shallow' ? 'CACHE_SHALLOW' : 'CACHE_FORBIDDEN_FILE', name, `must not be there: ${reason}`, ['mv', '--', shown, '/var/tmp/']);
		}

		if (status.isFile() && name.endsWith('.lock') && !/^worktrees\/[^/]+\//.test(name)) {
			const details = {bytes: status.size, mtime: status.mtime.toISOString()};
			const message = `a git that worked here was killed and left ${displayPath(name)} (${status.size} bytes, ${details.mtime})`;
			this.problems.push(
				placeProblem('CACHE_STALE_GIT_LOCK', `repository.git/${displayName(name)}`, message, {details, remedy: commandLine(['rm', '--', shown])}),
			);
		}
	}

	#count(name: string, status: Stats): void {
		this.bytes += status.size;
		const base = name.slice(name.lastIndexOf('/') + 1);
		if (name.startsWith('objects/') && base.startsWith('tmp_')) {
			this.temporaryPacks.count++;
			this.temporaryPacks.bytes += status.size;
		} else if (/^objects\/pack\/pack-[0-9a-f]+\.pack$/.test(name)) {
			this.packs++;
		}
	}

	#add(code: CacheProblem['code'], name: string, what: string, remedy: readonly string[] | null): void {
		const path = name === '' ? 'repository.git' : `repository.git/${displayName(name)}`;
		this.problems.push(placeProblem(code, path, `${path} ${what}`, {remedy: remedy === null ? null : commandLine(remedy)}));
	}

	#place(name: string): Buffer {
		return Buffer.concat([Buffer.from(this.#mirror), Buffer.from(name === '' ? '' : `/${name}`, 'latin1')]);
	}

	#shown(name: string): string {
		return this.#place(name).toString();
	}
}

/** A latin1 name as text: as it is where it can be read, escaped where not. */
function displayName(name: string): string {
	const quoted = displayPath(name);
	return quoted === JSON.stringify(name) ? name : quoted.slice(1, -1);
}

function lstatOf(place: string | Buffer): Stats | null {
	try {
		return lstatSync(place);
	} catch (error) {
		if (errnoOf(error) === 'ENOENT') {
			return null;
		}

		throw error;
	}
}
