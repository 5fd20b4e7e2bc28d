import path from 'node:path';
import type {CommandRecord} from './manifest-schema.ts';
import type {SourceEntry} from './ports.ts';

/** The paths of a commit by name, for looking up what a command names. */
export type SourceIndex = {readonly files: ReadonlyMap<string, SourceEntry>; readonly directories: ReadonlySet<string>};

/** Indexes the entries of a commit; `.` is the top directory. */
export function sourceIndex(entries: readonly SourceEntry[]): SourceIndex {
	const directories = new Set(['.']);
	for (const {path: name} of entries) {
		for (let at = name.indexOf('/'); at !== -1; at = name.indexOf('/', at + 1)) {
			directories.add(name.slice(0, at));
		}
	}

	return {files: new Map(entries.map(entry => [entry.path, entry])), directories};
}

/** The name of a path of a manifest as git's trees spell it: one character a byte. */
export function treePath(text: string): string {
	return Buffer.from(text, 'utf8').toString('latin1');
}

/** The tracked files that a command names: its executable inside of the checkout, and words of its argv that are paths of the commit. Source: E-EXP-1. */
export function namedFiles({argv, cwd, executable}: CommandRecord, {files}: SourceIndex): SourceEntry[] {
	const words = argv.map(word => path.posix.join(cwd, word));
	return [executable.path, ...words].flatMap(name => {
		const entry = files.get(treePath(name));
		return entry?.mode === '100644' || entry?.mode === '100755' ? [entry] : [];
	});
}
