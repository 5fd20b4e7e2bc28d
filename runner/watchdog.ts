import {existsSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import type {NativeParts} from '../native/index.ts';
import {spawnProgram} from './spawn.ts';
import {killRows, testify} from './witness.ts';

/** The whole ladder after the deadline (0.25 s + 0.5 s + 0.1 s), then one second of silence (R-MECH-4). */
const ladderMs = 850;
const silenceMs = 1000;
/** How long a supervisor that was stopped may take, once it is set going, to run its ladder. */
const secondChanceMs = 1000;
const treeKillMs = 5000;
const psPaths = ['/usr/bin/ps', '/bin/ps'];

/** Whom the watchdog watches. */
export type Watched = {
	readonly supervisor: number;
	/** Does nothing once it was reaped. */
	readonly signal: (name: 'SIGCONT' | 'SIGKILL') => void;
	readonly timeoutNs: bigint;
};

/**
 * Ends a supervisor that is stopped or silent past the deadline of its command and all of its budgets: CONT first; when it stays silent, tree-kill
 * and the addon's own list of descendants. Returns the function that calls the watch off. Source: R-MECH-4.
 */
export function watchSilence(native: NativeParts, watched: Watched): () => void {
	let isOff = false;
	let timer = setTimeout(wake, Number(watched.timeoutNs / 1_000_000n) + ladderMs + silenceMs);

	function wake(): void {
		watched.signal('SIGCONT');
		timer = setTimeout(() => {
			void end();
		}, secondChanceMs);
	}

	async function end(): Promise<void> {
		// Seen before the supervisor dies: afterwards its children are ours and nobody can tell from whom they came.
		const {alive} = testify(native, {leader: null, supervisor: watched.supervisor});
		if (isOff) {
			return;
		}

		try {
			await treeKill(watched.supervisor);
		} catch {
			// The list below reaches the same processes.
		}

		killRows(native, alive);
		watched.signal('SIGKILL');
	}

	return () => {
		isOff = true;
		clearTimeout(timer);
	};
}

/** tree-kill crashes the process that calls it where there is no `ps`: it runs beside us, and only where there is one. */
async function treeKill(pid: number): Promise<void> {
	if (!psPaths.some(path => existsSync(path))) {
		return;
	}

	const program = fileURLToPath(import.meta.resolve('tree-kill/cli.js'));
	await spawnProgram({
		file: process.execPath,
		args: [program, String(pid), 'SIGKILL'],
		cwd: '/',
		env: {PATH: '/usr/bin:/bin'},
		maxStdoutBytes: 4096,
		maxStderrBytes: 4096,
		timeoutMs: treeKillMs,
		graceMs: 100,
	});
}
