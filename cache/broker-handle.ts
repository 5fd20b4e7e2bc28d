import {createHash, randomBytes, timingSafeEqual} from 'node:crypto';
import {closeSync, constants, lstatSync, readdirSync, unlinkSync} from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {createPrivateDirectory, flushDirectory} from '../core/files.ts';
import {checkTarget, runIdPattern, runIdProblem, type Target} from '../core/ids.ts';
import {loadNative} from '../native/index.ts';
import {type IssuePaths, issuePaths} from './layout.ts';
import {checkPrivateDirectory, ensurePrivateDirectory, statusIfThere} from './trust.ts';
import {createTrustedFile, documentBytes, readDocument} from './trusted-file.ts';

/** How a role is written (authority.md section 2). */
export const brokerRolePattern = /^[a-z][a-z0-9-]{0,63}$/;
const handleName = 'handle.json';
const socketName = 'broker.sock';
const tokenBytes = 32;

const handleSchema = z.strictObject({
	schema: z.literal('bailiff.broker-handle/v1'),
	owner: z.string(),
	repository: z.string(),
	issue: z.int().min(1),
	role: z.string().regex(brokerRolePattern),
	run_id: z.string().regex(runIdPattern),
	token: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
});

/** What a client of a broker holds: whose lease it is, and the token. Source: BR-2. */
export type BrokerHandle = z.infer<typeof handleSchema>;

/** For whom a lease is. */
export type LeaseIdentity = {readonly target: Target; readonly role: string; readonly runId: string};

/** The places of one workflow's runtime. */
export type RuntimePlaces = {readonly directory: string; readonly handle: string; readonly socket: string};

/** The places of workflow `runId` of an issue. Refuses: CORE_ID_RUN. Source: BR-1, C-LAY. */
export function runtimePlaces(paths: IssuePaths, runId: string): RuntimePlaces {
	const problem = runIdProblem(runId);
	if (problem !== null) {
		throw new BailiffError('CORE_ID_RUN', `${JSON.stringify(runId)} is no run id: ${problem}`);
	}

	return placesIn(`${paths.runtime}/${runId}`);
}

/** A broker's own files, as it made them: nothing else is ever removed. */
export class BrokerRuntime {
	readonly places: RuntimePlaces;
	/** The listening socket. */
	readonly listener: number;
	readonly #directory: number;
	readonly #own: ReadonlyArray<{readonly file: string; readonly dev: bigint; readonly ino: bigint}>;
	readonly #tokenDigest: Buffer;
	#isOpen = true;

	/**
	 * Makes the runtime directory of a new workflow (0700), listens in it and writes the handle (0600). The issue lock must be held.
	 *
	 * Refuses: CACHE_RUNTIME_EXISTS for a used id, CORE_ID_RUN, CACHE_PATH_UNTRUSTED, CACHE_WRITE_FAILED. Source: BR-1, BR-2.
	 */
	constructor(paths: IssuePaths, identity: LeaseIdentity) {
		this.places = runtimePlaces(paths, identity.runId);
		for (const place of [paths.worktrees, paths.issue, paths.runtime]) {
			ensurePrivateDirectory(place);
		}

		removeStaleSockets(paths.runtime);
		makeRuntime(this.places.directory);
		const {handle, socket} = this.places;
		const token = randomBytes(tokenBytes).toString('base64url');
		this.#tokenDigest = digestOf(token);
		this.#directory = openRuntime(this.places.directory);
		let listener: number | null = null;
		const own: Array<{file: string; dev: bigint; ino: bigint}> = [];
		try {
			listener = listenIn(this.#directory, socket);
			own.push(identityOf(socket));
			const {target, role, runId} = identity;
			const document: BrokerHandle = {
				schema: 'bailiff.broker-handle/v1',
				owner: target.owner,
				repository: target.repository,
				issue: target.issue,
				role,
				run_id: runId,
				token,
			};
			if (!createTrustedFile(handle, documentBytes(document))) {
				throw new BailiffError('CACHE_RUNTIME_EXISTS', `${handle} is there already`, {details: {path: handle}});
			}

			own.push(identityOf(handle));
		} catch (error) {
			closeAll(listener, this.#directory);
			removeOwn(own);
			throw error;
		}

		this.listener = listener;
		this.#own = own;
	}

	/** Whether this is the token of the handle; takes the same time for every wrong one. */
	isToken(token: string): boolean {
		return timingSafeEqual(digestOf(token), this.#tokenDigest);
	}

	/** Removes socket and handle, where they still are the ones that were made here. The directory stays: its id is used. */
	removeFiles(): void {
		removeOwn(this.#own);
	}

	/** Closes the listening socket. */
	close(): void {
		if (this.#isOpen) {
			this.#isOpen = false;
			closeAll(this.listener, this.#directory);
		}
	}
}

/**
 * Reads a handle, which must lie where the lease that it names has its runtime.
 *
 * Refuses: CACHE_LEASE_EXPIRED where its runtime is there without it (a broker takes it away when it ends), CACHE_PATH_MISSING, CACHE_PATH_UNTRUSTED,
 * CACHE_BROKER_DENIED where it names another place, CACHE_BROKER_PROTOCOL for another form. Source: BR-2, C-TRUST-4.
 */
export function readHandle(file: string): BrokerHandle {
	const directory = path.dirname(file);
	if (statusIfThere(file) === null && statusIfThere(directory)?.isDirectory() === true && path.basename(file) === handleName) {
		throw new BailiffError('CACHE_LEASE_EXPIRED', `${file} is gone: the lease ended and its broker took the handle away`, {details: {path: file}});
	}

	const handle = readDocument(file, handleSchema, {
		isPrivate: true,
		maxBytes: 65_536,
		refusals: {missing: 'CACHE_PATH_MISSING', untrusted: 'CACHE_PATH_UNTRUSTED', unreadable: 'CACHE_PATH_UNTRUSTED', malformed: 'CACHE_BROKER_PROTOCOL'},
	});
	checkTarget(handle);
	const suffix = `/repositories/${handle.owner}/${handle.repository}/worktrees/issue-${handle.issue}/runtime/${handle.run_id}/${handleName}`;
	if (!file.endsWith(suffix)) {
		throw new BailiffError('CACHE_BROKER_DENIED', `${file} does not lie where the lease has its runtime: it must end in ${suffix}`, {details: {path: file}});
	}

	return handle;
}

/**
 * Connects to the broker of a handle; the descriptor is the caller's.
 *
 * Refuses: CACHE_BROKER_STALE where nobody listens any more, CACHE_LEASE_EXPIRED where the socket is gone, CACHE_BROKER_DENIED where another user listens,
 * CACHE_LOCK_BUSY where too many wait, CACHE_PATH_UNTRUSTED. Source: BR-2.
 */
export function connectTo(handleFile: string): number {
	const {directory: place, socket} = placesIn(path.dirname(handleFile));
	checkPrivateDirectory(place);
	const native = loadNative();
	const directory = openRuntime(place);
	try {
		const connection = native.connectUnix(directory, socketName);
		const uid = native.peerUid(connection);
		if (uid !== process.geteuid?.()) {
			closeSync(connection);
			throw new BailiffError('CACHE_BROKER_DENIED', `a process of uid ${uid} listens at ${socket}: nothing was sent to it`, {details: {path: socket, uid}});
		}

		return connection;
	} catch (error) {
		throw error instanceof BailiffError ? error : connectRefusal(socket, error);
	} finally {
		closeSync(directory);
	}
}

function openRuntime(place: string): number {
	try {
		return loadNative().openNoLinks(place, constants.O_RDONLY | constants.O_DIRECTORY);
	} catch (error) {
		const errno = errnoOf(error);
		const what = errno === 'ELOOP' ? 'passes through a symbolic link: name it by its real path' : `cannot be opened (${errno ?? 'unknown'})`;
		throw new BailiffError('CACHE_PATH_UNTRUSTED', `${place} ${what}`, {cause: error, details: {path: place, errno}});
	}
}

function connectRefusal(socket: string, error: unknown): BailiffError {
	const errno = errnoOf(error);
	const options = {cause: error, details: {path: socket, errno}};
	switch (errno ?? 'unknown') {
		case 'ECONNREFUSED':
			return new BailiffError('CACHE_BROKER_STALE', `nobody listens at ${socket}: the broker was killed; start a new one under a new run id`, options);
		case 'ENOENT':
			return new BailiffError('CACHE_LEASE_EXPIRED', `${socket} is gone: the lease ended`, options);
		case 'EAGAIN':
			return new BailiffError('CACHE_LOCK_BUSY', `the broker at ${socket} has too many callers: try again`, options);
		default:
			return new BailiffError('CACHE_BROKER_DENIED', `${socket} cannot be reached (${errno ?? 'unknown'})`, options);
	}
}

/** BR-6: the holder of the issue lock alone may do this, and only where nobody listens any more. Exactly the socket goes. */
function removeStaleSockets(runtime: string): void {
	for (const name of readdirSync(runtime)) {
		const {directory, socket} = placesIn(`${runtime}/${name}`);
		if (statusIfThere(directory)?.isDirectory() === true && statusIfThere(socket)?.isSocket() === true && isStale(directory)) {
			unlinkSync(socket);
		}
	}
}

function isStale(directory: string): boolean {
	try {
		closeSync(connectTo(`${directory}/${handleName}`));
		return false;
	} catch (error) {
		return error instanceof BailiffError && error.code === 'CACHE_BROKER_STALE';
	}
}

function makeRuntime(directory: string): void {
	try {
		createPrivateDirectory(directory);
		flushDirectory(path.dirname(directory));
	} catch (error) {
		const errno = errnoOf(error);
		const options = {cause: error, details: {path: directory, errno}};
		throw errno === 'EEXIST'
			? new BailiffError('CACHE_RUNTIME_EXISTS', `${directory} is there already: a workflow of this id was begun before, choose another --run-id`, options)
			: new BailiffError('CACHE_WRITE_FAILED', `${directory} cannot be made (${errno ?? 'unknown'})`, options);
	}
}

function listenIn(directory: number, socket: string): number {
	try {
		return loadNative().listenUnix(directory, socketName);
	} catch (error) {
		const errno = errnoOf(error);
		throw new BailiffError('CACHE_WRITE_FAILED', `${socket} cannot be made (${errno ?? 'unknown'})`, {cause: error, details: {path: socket, errno}});
	}
}

function placesIn(directory: string): RuntimePlaces {
	return {directory, handle: `${directory}/${handleName}`, socket: `${directory}/${socketName}`};
}

function digestOf(token: string): Buffer {
	return createHash('sha256').update(token).digest();
}

function identityOf(file: string): {file: string; dev: bigint; ino: bigint} {
	const {dev, ino} = lstatSync(file, {bigint: true});
	return {file, dev, ino};
}

function removeOwn(own: ReadonlyArray<{readonly file: string; readonly dev: bigint; readonly ino: bigint}>): void {
	for (const {file, dev, ino} of own) {
		try {
			const named = lstatSync(file, {bigint: true, throwIfNoEntry: false});
			if (named?.dev === dev && named.ino === ino) {
				unlinkSync(file);
			}
		} catch {
			// What cannot be removed stays: nobody listens there any more, and the next broker says so.
		}
	}
}

function closeAll(...descriptors: ReadonlyArray<number | null>): void {
	for (const descriptor of descriptors) {
		if (descriptor !== null) {
			closeSync(descriptor);
		}
	}
}

/** Whether `file` is the handle of this workflow below `root`. Refuses: CORE_ID_ codes. */
export function isHandleBelow(root: string, file: string, handle: BrokerHandle): boolean {
	return runtimePlaces(issuePaths(root, handle), handle.run_id).handle === file;
}
