import {mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {ExecutionContext} from 'ava';

/** A new directory (0700, no link in its path) that is removed when the test ends. */
export function temporaryDirectory(t: ExecutionContext): string {
	const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'bailiff-test-')));
	t.teardown(() => {
		rmSync(directory, {recursive: true, force: true});
	});
	return directory;
}
