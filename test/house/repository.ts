import {readdirSync} from 'node:fs';
import path from 'node:path';

/** The top of this checkout, seen from the compiled test. */
export const repositoryRoot = path.resolve(import.meta.dirname, '../../..');

/** The source folders of the house, lowest layer first. */
export const houseFolders = ['core', 'evidence', 'native', 'runner', 'cache', 'publish', 'cli'] as const;

/** Every file below `folder` (relative to the checkout, with slashes) whose name ends in `suffix`; none when the folder is not there. */
export function filesBelow(folder: string, suffix: string): string[] {
	try {
		return readdirSync(path.join(repositoryRoot, folder), {recursive: true, withFileTypes: true})
			.filter(entry => entry.isFile() && entry.name.endsWith(suffix))
			.map(entry => path.relative(repositoryRoot, path.join(entry.parentPath, entry.name)))
			.toSorted();
	} catch {
		return [];
	}
}
