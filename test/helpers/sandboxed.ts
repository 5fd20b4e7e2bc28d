import {type ChildProcessByStdio, spawn} from 'node:child_process';
import process from 'node:process';
import type {Readable, Writable} from 'node:stream';
import {text} from 'node:stream/consumers';
import {fileURLToPath} from 'node:url';
import type {Plan, SandboxRecord} from '../../evidence/index.ts';
import type {World} from '../runner/sandbox/world.ts';

/** What the driver says of one command (supervised.ts: summary), or of a refusal. */
export type Told = {
	readonly id?: string;
	readonly kind?: string;
	readonly execution_status?: string;
	readonly exit_code?: number | null;
	readonly signal?: string | null;
	readonly escaped?: number;
	readonly sandbox?: SandboxRecord | null;
	readonly output?: string;
	readonly message?: string;
	readonly stage?: string;
	readonly errno?: string;
	readonly error?: {readonly code: string; readonly message: string};
};

/** What is asked of the driver. */
export type Orders = {
	readonly commands: ReadonlyArray<Partial<Plan['commands'][number]> & {readonly argv: string[]}>;
	readonly sandbox?: Plan['sandbox'];
	readonly limits?: Plan['limits'];
	readonly tool?: string;
	readonly repeat?: 'endless' | number;
};

/** Starts the driver as the world's user, in a process of its own, and hands it its order. */
export function startSandboxed(world: World, orders: Orders): ChildProcessByStdio<Writable, Readable, null> {
	const driver = fileURLToPath(new URL('sandbox-driver.js', import.meta.url));
	const child = spawn(process.execPath, [driver], {stdio: ['pipe', 'pipe', 'inherit'], uid: world.userId, gid: world.userId, cwd: '/'});
	const commands = orders.commands.map((command, index) => ({id: `c${index}`, timeout_seconds: 20, max_output_bytes: 65_536, ...command}));
	child.stdin.on('error', () => undefined);
	child.stdin.end(JSON.stringify({...orders, facts: world.facts, commands}));
	return child;
}

/** Runs commands in the sandbox as the world's user. */
export async function runSandboxed(world: World, orders: Orders): Promise<Told[]> {
	const told = await text(startSandboxed(world, orders).stdout);
	return told
		.split('\n')
		.filter(line => line !== '')
		.map((line): Told => JSON.parse(line));
}
