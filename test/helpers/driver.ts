import {type ChildProcess, spawn} from 'node:child_process';
import {statSync} from 'node:fs';
import path from 'node:path';
import {createInterface} from 'node:readline';
import type {CommandRequest} from '../../runner/outcome.ts';

/** A process of its own that runs commands through its own supervisor. */
export type Driver = {
	readonly child: ChildProcess;
	/** Sends one request; the summary comes with `next`. */
	readonly send: (request: CommandRequest) => void;
	/** The next line that the driver says; rejects when it ends before. */
	readonly next: () => Promise<Record<string, unknown>>;
	readonly close: () => Promise<void>;
};

/** An ordinary user that every Linux knows: nobody. */
export const ordinaryUser = {uid: 65_534, gid: 65_534};

/** Whether root runs this, and the ordinary user can reach the compiled files: only then can that user be tried too. */
export function canTryOrdinaryUser(): boolean {
	let directory = import.meta.dirname;
	while (directory !== '/') {
		if ((statSync(directory).mode & 0o005) !== 0o005) {
			return false;
		}

		directory = path.dirname(directory);
	}

	return process.geteuid?.() === 0;
}

/** Who runs a driver, and a program (with arguments) that executes it, for walls around it. */
export type DriverOptions = {readonly uid?: number; readonly gid?: number; readonly wrapper?: readonly string[]};

/** Starts a driver, as another user or behind walls where asked, and waits until its supervisor runs. */
export async function startDriver(options: DriverOptions = {}): Promise<Driver> {
	const {wrapper = [], ...user} = options;
	const [program, ...args] = [...wrapper, process.execPath, path.join(import.meta.dirname, 'supervised-driver.js')];
	const child = spawn(program, args, {...user, cwd: '/', env: {PATH: '/usr/bin:/bin'}, stdio: ['pipe', 'pipe', 'pipe']});
	let errors = '';
	child.stdin.on('error', () => undefined);
	child.stderr.on('data', (bytes: Buffer) => {
		errors += bytes.toString();
	});
	const lines = createInterface({input: child.stdout})[Symbol.asyncIterator]();
	const ended = new Promise<void>(resolve => {
		child.once('close', () => {
			resolve();
		});
	});
	const driver: Driver = {
		child,
		send(request) {
			child.stdin.write(`${JSON.stringify(request, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))}\n`);
		},
		async next() {
			const line = await lines.next();
			if (line.done === true) {
				throw new Error(`the driver ended: ${errors}`);
			}

			return JSON.parse(line.value);
		},
		async close() {
			child.stdin.end();
			await ended;
		},
	};
	await driver.next();
	return driver;
}
