import {BailiffError} from '../core/errors.ts';
import type {Target} from '../core/ids.ts';
import {BrokerClient} from './broker-client.ts';
import {isHandleBelow} from './broker-handle.ts';
import {brokerLimits, type GrantedAnswer} from './broker-protocol.ts';
import {issuePaths} from './layout.ts';
import {FileLock, type LockWait} from './lock.ts';
import type {LeaseLocks, LentLock} from './lock-source.ts';
import {openRoot} from './root.ts';

/** Whose work a command does under a lease. */
export type TenancyRequest = {
	readonly contractPath: string;
	/** Absolute path of the handle. */
	readonly handleFile: string;
	/** The issue that the command works on; of a command that works on a repository, without the issue. */
	readonly target: Omit<Target, 'issue'> & {readonly issue?: number};
	/** Where the command has a role, it must be that of the lease. */
	readonly role?: string;
	/** Called once where the lease ends although the command still works. */
	readonly onLost?: (error: BailiffError) => void;
};

/** A command at work under the lease of a broker. Whoever opens it closes it; the lease itself goes on. */
export type Tenancy = LeaseLocks & {readonly target: Target; readonly role: string; readonly close: () => void};

const lookMs = 1000;
const looksPerQuestion = 10;
/** A command never asks for less than this, so that it is renewed long before its time is over. */
const shortestRenewalSeconds = 60;

/**
 * Attaches to the lease of a handle, for a command that then never takes the issue lock itself. While the command works, the lease is renewed when less
 * than half of what it had at the beginning is left, and looked at every second.
 *
 * Refuses: CACHE_BROKER_DENIED for a handle of another root, repository, issue or role; as `BrokerClient.connect` and `ask`. Source: BR-7.
 */
export async function openTenancy(request: TenancyRequest): Promise<Tenancy> {
	const {root} = openRoot(request.contractPath);
	const client = await BrokerClient.connect(request.handleFile);
	let opened: Tenancy | null = null;
	try {
		checkHandle(client, root, request);
		const {answer} = await client.ask({op: 'acquire', hold: false});
		const tenancy = new OpenTenancy(client, {root, onLost: request.onLost ?? null, seconds: answer.lease.expires_in_seconds});
		opened = tenancy;
		await tenancy.renewIfNeeded(answer);
		return tenancy;
	} catch (error) {
		(opened ?? client).close();
		throw error;
	}
}

class OpenTenancy implements Tenancy {
	readonly target: Target;
	readonly role: string;
	readonly issueLock: string;
	readonly #client: BrokerClient;
	readonly #onLost: ((error: BailiffError) => void) | null;
	readonly #renewalSeconds: number;
	readonly #timer: NodeJS.Timeout;
	#lost: BailiffError | null = null;
	#looks = 0;

	constructor(
		client: BrokerClient,
		{root, onLost, seconds}: {readonly root: string; readonly onLost: ((error: BailiffError) => void) | null; readonly seconds: number},
	) {
		const {owner, repository, issue, role} = client.handle;
		this.target = {owner, repository, issue};
		this.role = role;
		this.issueLock = issuePaths(root, this.target).issueLock;
		this.#client = client;
		this.#onLost = onLost;
		this.#renewalSeconds = Math.min(Math.max(seconds, shortestRenewalSeconds), brokerLimits.maxTtlSeconds);
		this.#timer = setInterval(() => {
			this.#look();
		}, lookMs);
	}

	assertAlive(): void {
		if (this.#lost === null && !this.#client.isConnected()) {
			this.#lose(
				new BailiffError('CACHE_LEASE_EXPIRED', `the lease of ${this.#client.file} ended while it was worked under`, {details: {path: this.#client.file}}),
			);
		}

		if (this.#lost !== null) {
			throw this.#lost;
		}
	}

	async repository(path: string, wait: LockWait): Promise<LentLock> {
		const {signal, timeoutMs = 0} = wait;
		const options = signal === undefined ? {} : {signal};
		if (timeoutMs > 0) {
			wait.onWait?.({path, holders: [], timeoutMs});
		}

		const question = {
			op: 'acquire_repository',
			wait_seconds: Math.min(Math.ceil(timeoutMs / 1000), brokerLimits.maxWaitSeconds),
			pass_descriptor: true,
		} as const;
		const {descriptor} = await this.#client.ask(question, options);
		if (descriptor === null) {
			throw new BailiffError('CACHE_BROKER_PROTOCOL', 'the broker granted the repository lock and sent no descriptor', {details: {path}});
		}

		const giveBack = async (): Promise<void> => {
			await this.#client.ask({op: 'release_repository'}).catch(() => {});
		};
		try {
			return {lock: FileLock.adopt(path, descriptor), giveBack};
		} catch (error) {
			await giveBack();
			throw error;
		}
	}

	close(): void {
		clearInterval(this.#timer);
		this.#client.close();
	}

	#look(): void {
		try {
			this.assertAlive();
		} catch {
			return;
		}

		this.#looks++;
		if (this.#looks % looksPerQuestion === 0) {
			void this.#question().catch((error: unknown) => {
				if (error instanceof BailiffError && error.code === 'CACHE_LEASE_EXPIRED') {
					this.#lose(error);
				}
			});
		}
	}

	async #question(): Promise<void> {
		const {answer} = await this.#client.ask({op: 'acquire', hold: false});
		await this.renewIfNeeded(answer);
	}

	async renewIfNeeded(answer: GrantedAnswer): Promise<void> {
		if (answer.lease.expires_in_seconds < this.#renewalSeconds / 2) {
			await this.#client.ask({op: 'renew', ttl_seconds: this.#renewalSeconds});
		}
	}

	#lose(error: BailiffError): void {
		if (this.#lost === null) {
			this.#lost = error;
			clearInterval(this.#timer);
			this.#onLost?.(error);
		}
	}
}

/** For a command that learns of its role only later. Refuses: CACHE_BROKER_DENIED. Source: BR-7. */
export function requireLeaseRole(lease: Tenancy, role: string): void {
	if (lease.role !== role) {
		throw new BailiffError('CACHE_BROKER_DENIED', `the lease is for role ${lease.role}, and this work is that of ${role}: use the profile of that role`, {
			details: {lease_role: lease.role, role},
		});
	}
}

function checkHandle(client: BrokerClient, root: string, {target, role}: TenancyRequest): void {
	const {handle, file} = client;
	const differing = [
		...(isHandleBelow(root, file, handle) ? [] : ['root']),
		...(handle.owner === target.owner && handle.repository === target.repository ? [] : ['repository']),
		...(target.issue === undefined || handle.issue === target.issue ? [] : ['issue']),
		...(role === undefined || handle.role === role ? [] : ['role']),
	];
	if (differing.length > 0) {
		throw new BailiffError(
			'CACHE_BROKER_DENIED',
			`${file} is the handle of ${handle.owner}/${handle.repository}#${handle.issue} for role ${handle.role}: its ${differing.join(' and ')} differs from what this command works on`,
			{details: {path: file, differing}},
		);
	}
}
