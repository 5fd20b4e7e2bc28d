import type {Clock} from '../core/clock.ts';
import {BailiffError} from '../core/errors.ts';
import {BrokerRuntime, brokerRolePattern, type LeaseIdentity, runtimePlaces} from './broker-handle.ts';
import {BrokerLease} from './broker-lease.ts';
import {lockFileOf, probeFile} from './broker-probe.ts';
import {BrokerServer, type LeaseEnd} from './broker-server.ts';
import {type IssuePaths, issuePaths} from './layout.ts';
import type {LockWait} from './lock.ts';
import {LockSession} from './lock-session.ts';
import {openRoot} from './root.ts';
import {ensurePrivateDirectory, ensureRepositories} from './trust.ts';

/** One lease to serve. */
export type BrokerOptions = LeaseIdentity & {
	readonly contractPath: string;
	/** 5 to 3600. */
	readonly ttlSeconds: number;
	/** How to wait for the issue lock; its signal also ends the lease. */
	readonly wait?: LockWait;
	/** Ends the lease like a release. */
	readonly lifeline?: AbortSignal;
	readonly clock?: Clock;
	/** Called once, when the broker listens. */
	readonly onReady: (ready: BrokerReady) => void;
};

/** What a broker says when it listens. The token is not in it. Source: BR-1. */
export type BrokerReady = {
	readonly schema: 'bailiff.broker-ready/v1';
	readonly ready: true;
	readonly handle: string;
	readonly socket: string;
	readonly runtime: string;
	readonly owner: string;
	readonly repository: string;
	readonly issue: number;
	readonly role: string;
	readonly run_id: string;
	readonly ttl_seconds: number;
};

/**
 * Takes the issue lock, makes the runtime of the workflow, serves its lease and returns why it ended; by then everything was given back.
 *
 * Refuses before it is ready: CACHE_BROKER_PROTOCOL for a role of another form, CORE_ID_ codes, CACHE_ROOT_INVALID, CACHE_PATH_UNTRUSTED,
 * CACHE_LOCK_ codes, CACHE_RUNTIME_EXISTS, CACHE_WRITE_FAILED. Source: BR-1..6.
 */
export async function serveBroker(options: BrokerOptions): Promise<LeaseEnd> {
	const paths = issuePaths(openRoot(options.contractPath).root, options.target);
	runtimePlaces(paths, options.runId);
	if (!brokerRolePattern.test(options.role)) {
		throw new BailiffError('CACHE_BROKER_PROTOCOL', 'a role has 1 to 64 lower-case ASCII letters, digits or "-" and starts with a letter');
	}

	ensureRepositories(paths.repositories);
	for (const place of [paths.owner, paths.repository, paths.locks]) {
		ensurePrivateDirectory(place);
	}

	const locks = new LockSession(paths);
	try {
		const issue = await locks.issue(paths.issueLock, options.wait);
		const runtime = new BrokerRuntime(paths, options);
		try {
			const lease = new BrokerLease({locks, issue, ttlSeconds: options.ttlSeconds, ...(options.clock === undefined ? {} : {clock: options.clock})});
			return await serve(options, {paths, runtime, lease});
		} finally {
			runtime.removeFiles();
			runtime.close();
		}
	} finally {
		await locks.release();
	}
}

async function serve(
	options: BrokerOptions,
	{paths, runtime, lease}: {readonly paths: IssuePaths; readonly runtime: BrokerRuntime; readonly lease: BrokerLease},
): Promise<LeaseEnd> {
	const server = new BrokerServer({
		listener: runtime.listener,
		lease,
		repositoryLock: paths.repositoryLock,
		isToken: token => runtime.isToken(token),
		probe: resource => probeFile(lockFileOf(paths, resource, options.target.issue)).free,
		finish: async () => {
			await lease.end();
			runtime.removeFiles();
		},
	});
	const endings = [
		[options.wait?.signal, 'signal'],
		[options.lifeline, 'lifeline'],
	] as const;
	for (const [signal, reason] of endings) {
		const end = (): void => {
			server.end(reason);
		};
		signal?.addEventListener('abort', end, {once: true});
		if (signal?.aborted === true) {
			end();
		}
	}

	const {directory, handle, socket} = runtime.places;
	const {target, role, runId, ttlSeconds} = options;
	options.onReady({
		schema: 'bailiff.broker-ready/v1',
		ready: true,
		handle,
		socket,
		runtime: directory,
		owner: target.owner,
		repository: target.repository,
		issue: target.issue,
		role,
		run_id: runId,
		ttl_seconds: ttlSeconds,
	});
	return server.run();
}
