import {mkdtempSync, rmSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type {CommandRequest} from '../runner/outcome.ts';

/** Lends an empty directory and removes it afterwards. */
export async function withDirectory<Result>(action: (directory: string) => Promise<Result>): Promise<Result> {
	const directory = mkdtempSync(path.join(os.tmpdir(), 'bailiff-bench-'));
	try {
		return await action(directory);
	} finally {
		rmSync(directory, {recursive: true, force: true});
	}
}

/** A request with everything but argv at an ordinary value. */
export function plainRequest(argv: readonly string[], checkout: string, change: Partial<CommandRequest> = {}): CommandRequest {
	return {
		executable: argv[0] ?? '',
		argv,
		checkout,
		cwd: '.',
		env: {PATH: '/usr/bin:/bin', HOME: checkout, TMPDIR: checkout, LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', TZ: 'UTC'},
		timeoutNs: 30_000_000_000n,
		leakTimeoutNs: null,
		maxOutputBytes: 65_536,
		streams: 'combined',
		limits: {openFiles: 1024, memoryBytes: null, cpuSeconds: null, processes: null, fileSizeBytes: null},
		...change,
	};
}
