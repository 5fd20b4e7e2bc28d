import {type ChildProcess, spawn} from 'node:child_process';
import {closeSync, constants} from 'node:fs';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {type BrokerReady, type LeaseEnd, serveBroker} from '../../cache/index.ts';
import {type IssuePaths, issuePaths} from '../../cache/layout.ts';
import {initRoot} from '../../cache/root.ts';
import {BailiffError} from '../../core/errors.ts';
import {loadNative} from '../../native/index.ts';
import {cliPath} from './run-cli.ts';
import {temporaryDirectory} from './temporary-directory.ts';

/** A root without any repository yet. */
export type BrokerGround = {readonly root: string; readonly contractPath: string; readonly paths: IssuePaths};

/** Lays out a root; `below` makes its path longer. */
export function brokerGround(t: ExecutionContext, below = 'root'): BrokerGround {
	const {paths} = initRoot(path.join(temporaryDirectory(t), below));
	return {root: paths.root, contractPath: paths.contract, paths: issuePaths(paths.root, {owner: 'acme', repository: 'widget', issue: 7})};
}

/** A broker that serves in this very process. */
export type ServedBroker = {readonly ready: BrokerReady; readonly end: Promise<LeaseEnd>; readonly signal: AbortController; readonly lifeline: AbortController};

/** Serves a lease on acme/widget#7 until the test ends, or earlier. */
export async function servedBroker(
	t: ExecutionContext,
	{contractPath}: BrokerGround,
	options: {readonly runId?: string; readonly ttlSeconds?: number; readonly issue?: number} = {},
): Promise<ServedBroker> {
	const signal = new AbortController();
	const lifeline = new AbortController();
	const serve = async (onReady: (ready: BrokerReady) => void): Promise<LeaseEnd> =>
		serveBroker({
			contractPath,
			target: {owner: 'acme', repository: 'widget', issue: options.issue ?? 7},
			role: 'impl-agent',
			runId: options.runId ?? 'w-1',
			ttlSeconds: options.ttlSeconds ?? 900,
			wait: {signal: signal.signal},
			lifeline: lifeline.signal,
			onReady,
		});
	const {ready, end} = await new Promise<Pick<ServedBroker, 'ready' | 'end'>>((resolve, reject) => {
		const ending: Promise<LeaseEnd> = serve(announced => {
			resolve({ready: announced, end: ending});
		});
		ending.catch(reject);
	});
	t.teardown(async () => {
		signal.abort(new BailiffError('CLI_INTERRUPTED', 'the test is over'));
		await end.catch(() => {});
	});
	return {ready, end, signal, lifeline};
}

/** A connection that says whatever a test wants. */
export class RawClient {
	readonly fd: number;
	#text = '';

	constructor(t: ExecutionContext, socket: string) {
		const native = loadNative();
		const directory = native.openNoLinks(path.dirname(socket), constants.O_RDONLY | constants.O_DIRECTORY);
		this.fd = native.connectUnix(directory, path.basename(socket));
		closeSync(directory);
		t.teardown(() => {
			closeSync(this.fd);
		});
	}

	/** Sends text as it is. */
	send(text: string | Uint8Array, descriptor = -1): void {
		const bytes = Buffer.from(text);
		for (let sent = 0; sent < bytes.length; ) {
			sent += loadNative().sendBytes(this.fd, bytes.subarray(sent), sent === 0 ? descriptor : -1);
		}
	}

	/** The next line as JSON; null where the broker closed instead. */
	async line(): Promise<Record<string, unknown> | null> {
		while (!this.#text.includes('\n')) {
			const ready = await loadNative().waitReadable([this.fd], 10_000);
			if (ready.length === 0) {
				throw new Error('no answer came within ten seconds');
			}

			const received = receive(this.fd);
			if (received === null) {
				return null;
			}

			this.#text += received;
		}

		const end = this.#text.indexOf('\n');
		const line = this.#text.slice(0, end);
		this.#text = this.#text.slice(end + 1);
		return JSON.parse(line);
	}

	/** Ends the connection. */
	hangUp(): void {
		loadNative().shutdownSocket(this.fd);
	}
}

function receive(fd: number): string | null {
	try {
		const received = loadNative().receiveBytes(fd);
		return received === null ? '' : received.bytes.length === 0 ? null : received.bytes.toString();
	} catch {
		return null;
	}
}

/** `bailiff broker serve` as a process of its own. */
export type BrokerProcess = {
	readonly child: ChildProcess;
	readonly ready: Record<string, unknown>;
	readonly handle: string;
	readonly stdout: () => string;
	readonly stderr: () => string;
	readonly ended: Promise<{readonly code: number | null; readonly signal: NodeJS.Signals | null}>;
};

/** Starts it for acme/widget#7 and waits until it is ready. */
export async function brokerProcess(t: ExecutionContext, root: string, ...more: readonly string[]): Promise<BrokerProcess> {
	const args = ['broker', 'serve', '--root', root, '--target', 'acme/widget#7', '--role', 'impl-agent', ...more];
	const child = spawn(process.execPath, [cliPath, ...args, ...(more.includes('--run-id') ? [] : ['--run-id', 'w-1'])], {stdio: ['pipe', 'pipe', 'pipe']});
	let stdout = '';
	let stderr = '';
	const spoken = new Promise<void>(resolve => {
		child.stdout.on('data', (chunk: Buffer) => {
			stdout += chunk.toString();
			if (stdout.includes('\n')) {
				resolve();
			}
		});
	});
	child.stderr.on('data', (chunk: Buffer) => {
		stderr += chunk.toString();
	});
	const ended = new Promise<{code: number | null; signal: NodeJS.Signals | null}>(resolve => {
		child.on('close', (code, signal) => {
			resolve({code, signal});
		});
	});
	t.teardown(async () => {
		child.kill('SIGKILL');
		await ended;
	});
	await Promise.race([spoken, ended]);
	t.not(stdout, '', stderr);
	const ready: Record<string, unknown> = JSON.parse(stdout);
	return {child, ready, handle: String(ready['handle']), stdout: () => stdout, stderr: () => stderr, ended};
}
