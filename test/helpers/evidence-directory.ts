import {mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createPrivateDirectory} from '../../core/files.ts';

/** A private verification directory of its own, removed by `remove`. */
export class EvidenceDirectory {
	readonly base = mkdtempSync(join(tmpdir(), 'bailiff-evidence-'));
	readonly verification = join(this.base, 'verification');

	constructor() {
		createPrivateDirectory(this.verification);
	}

	path(...names: string[]): string {
		return join(this.verification, ...names);
	}

	/** A directory below, for tests that want something in the way. */
	directory(...names: string[]): string {
		mkdirSync(this.path(...names), {recursive: true});
		return this.path(...names);
	}

	remove(): void {
		rmSync(this.base, {recursive: true, force: true});
	}
}

/** Lends a directory to `use` and removes it afterwards. */
export function withEvidenceDirectory<T>(use: (directory: EvidenceDirectory) => T): T {
	const directory = new EvidenceDirectory();
	try {
		return use(directory);
	} finally {
		directory.remove();
	}
}
