import {spawn} from 'node:child_process';
import path from 'node:path';

/** The built command line. */
export const cliPath = path.resolve(import.meta.dirname, '../../cli/main.js');

/** How one call of the command line ended. */
export type CliResult = {
	readonly exitCode: number | null;
	readonly signal: NodeJS.Signals | null;
	readonly stdout: string;
	readonly stderr: string;
	/** The one object on stdout: fails where there is anything else. */
	readonly json: () => Record<string, unknown>;
};

/** Runs the built command line to its end, without a terminal. */
export async function runCli(
	args: readonly string[],
	options: {readonly cwd?: string; readonly env?: Readonly<Record<string, string>>; readonly entry?: string; readonly uid?: number} = {},
): Promise<CliResult> {
	const child = spawn(process.execPath, [options.entry ?? cliPath, ...args], {
		cwd: options.cwd,
		env: {PATH: process.env['PATH'], ...options.env},
		stdio: ['ignore', 'pipe', 'pipe'],
		...(options.uid === undefined ? {} : {uid: options.uid, gid: options.uid}),
	});
	const chunks: Record<'stdout' | 'stderr', Buffer[]> = {stdout: [], stderr: []};
	child.stdout.on('data', (chunk: Buffer) => chunks.stdout.push(chunk));
	child.stderr.on('data', (chunk: Buffer) => chunks.stderr.push(chunk));
	const [exitCode, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
		child.on('error', reject);
		child.on('close', (...ended) => {
			resolve(ended);
		});
	});
	const stdout = Buffer.concat(chunks.stdout).toString();
	return {exitCode, signal, stdout, stderr: Buffer.concat(chunks.stderr).toString(), json: () => onlyObject(stdout)};
}

function onlyObject(stdout: string): Record<string, unknown> {
	if (!/^\{[^\n]*\}\n$/.test(stdout)) {
		throw new Error(`not exactly one JSON object on one line: ${stdout.slice(0, 500)}`);
	}

	return JSON.parse(stdout);
}
