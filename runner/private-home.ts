import {chmodSync, lstatSync, mkdirSync, mkdtempSync, opendirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';

/** The private HOME and TMPDIR of one run (R-START-1). */
export type PrivateHome = {readonly home: string; readonly tmp: string; readonly remove: () => boolean};

/**
 * Makes an empty pair of directories (0700) outside the checkout and outside the evidence.
 * `remove` deletes both and says whether nothing was left; what a command made unreadable is opened up first, links are never followed.
 * Source: R-START-1.
 */
export function createPrivateHome(): PrivateHome {
	const base = mkdtempSync(path.join(tmpdir(), 'bailiff-run-'));
	const home = path.join(base, 'home');
	const tmp = path.join(base, 'tmp');
	mkdirSync(home, 0o700);
	mkdirSync(tmp, 0o700);
	return {home, tmp, remove: () => removeTree(base)};
}

function removeTree(base: string): boolean {
	try {
		rmSync(base, {recursive: true, force: true});
		return true;
	} catch {
		openUp(base);
	}

	try {
		rmSync(base, {recursive: true, force: true, maxRetries: 2});
		return true;
	} catch {
		return false;
	}
}

/** A command may have taken its own directories' permissions away, which stops an ordinary user from deleting them. */
function openUp(directory: string): void {
	try {
		chmodSync(directory, 0o700);
		const entries = opendirSync(directory);
		for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
			const child = path.join(directory, entry.name);
			if (lstatSync(child).isDirectory()) {
				openUp(child);
			}
		}

		entries.closeSync();
	} catch {
		// What cannot be opened up is reported by the second removal.
	}
}
