import {execFileSync} from 'node:child_process';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

/** Compiles test/fixtures/bin/NAME.c into `directory` and returns the program's path. */
export function buildFixture(directory: string, name: string): string {
	const source = fileURLToPath(new URL(`../../../test/fixtures/bin/${name}.c`, import.meta.url));
	const program = path.join(directory, name);
	execFileSync('cc', ['-O1', '-Wall', '-Werror', '-pthread', '-o', program, source]);
	return program;
}
