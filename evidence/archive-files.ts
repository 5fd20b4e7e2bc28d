import type {FileContent, SafeDirectory} from '../core/safe-file.ts';
import {ProblemList} from './problem-list.ts';
import {digestEvidenceFile, enterEvidenceDirectory, type FileReading, listEvidenceDirectory, readEvidenceFile, reportUnlisted} from './run-files.ts';

const maxEntries = 2048;

/** Bounds of one file of an archive. */
type Bounds = {readonly maxBytes: number; readonly bytes?: number};

/** The files of an archived run, reached by run-relative paths one component at a time; every fault goes to the problems. Source: E-READ-4, E-READ-6. */
export class ArchiveFiles {
	readonly #run: SafeDirectory;
	readonly #reading: FileReading;
	readonly #entered = new Set<string>();

	constructor(run: SafeDirectory, reading: FileReading) {
		this.#run = run;
		this.#reading = reading;
	}

	/** The bytes of one file and their digest, or null. */
	read(path: string, bounds: Bounds): FileContent | null {
		return this.#inParent(path, (directory, name) => readEvidenceFile(directory, {name, path, ...bounds}, this.#reading));
	}

	/** The digest of one file, with flat memory, or null. */
	digest(path: string, bounds: Bounds): string | null {
		return this.#inParent(path, (directory, name) => digestEvidenceFile(directory, {name, path, ...bounds}, this.#reading));
	}

	/** Reports every entry, at any depth, that is neither listed nor a directory that leads to something listed. */
	reportUnlisted(listed: ReadonlySet<string>): void {
		this.#reportBelow(this.#run, '', listed);
	}

	#reportBelow(directory: SafeDirectory, prefix: string, listed: ReadonlySet<string>): void {
		const {problems} = this.#reading;
		const names = listEvidenceDirectory(directory, maxEntries, {...this.#reading, path: prefix === '' ? null : prefix}) ?? [];
		const here = new Set([...listed].filter(path => path.startsWith(prefix)).map(path => path.slice(prefix.length)));
		const parents = new Set([...here].filter(path => path.includes('/')).map(path => path.slice(0, path.indexOf('/'))));
		reportUnlisted(names, new Set([...here, ...parents]), {prefix, problems});
		for (const name of names.filter(found => parents.has(found))) {
			const below = this.#enter(directory, name, `${prefix}${name}`);
			if (below !== null) {
				this.#reportBelow(below, `${prefix}${name}/`, listed);
				below.close();
			}
		}
	}

	#inParent<T>(path: string, use: (directory: SafeDirectory, name: string) => T | null): T | null {
		const components = path.split('/');
		const name = components.pop() ?? '';
		const open: SafeDirectory[] = [];
		try {
			let here = this.#run;
			for (const [depth, component] of components.entries()) {
				const next = this.#enter(here, component, components.slice(0, depth + 1).join('/'));
				if (next === null) {
					return null;
				}

				open.push(next);
				here = next;
			}

			return use(here, name);
		} finally {
			for (const directory of open) {
				directory.close();
			}
		}
	}

	/** What is wrong with a directory is reported the first time that it is entered. */
	#enter(parent: SafeDirectory, name: string, path: string): SafeDirectory | null {
		const problems = this.#entered.has(path) ? new ProblemList() : this.#reading.problems;
		this.#entered.add(path);
		return enterEvidenceDirectory(parent, name, {...this.#reading, problems, path});
	}
}
