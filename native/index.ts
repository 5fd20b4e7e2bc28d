import {createRequire} from 'node:module';
import path from 'node:path';

import {BailiffError} from '../core/errors.ts';

/** One process as the independent witness saw it in /proc. */
export type ProcessRow = {
	readonly pid: number;
	readonly ppid: number;
	readonly pgrp: number;
	readonly session: number;
	/** Clock ticks since boot: with the pid, the identity of a process. */
	readonly startTime: number;
	/** State letter of the main thread. */
	readonly state: string;
	/** Any thread is not Z or X (R-END-4). */
	readonly isLive: boolean;
};

/** Whom a scan is to find. An absent list asks for nobody. */
export type ScanQuery = {
	readonly groups?: readonly number[];
	readonly sessions?: readonly number[];
	/** Pids whose whole descent is asked for; the ancestors themselves are found only where they descend from another one. */
	readonly ancestors?: readonly number[];
};

/** What a scan found. A process that vanished meanwhile is in neither list. */
export type ScanResult = {
	/** Sorted by pid: members of the groups and sessions, the descent of the ancestors, and whoever descends from one of these. */
	readonly rows: readonly ProcessRow[];
	/** Pids among these that exist and could not be read (a /proc with hidepid): nothing is proved while there is one. */
	readonly unreadable: readonly number[];
	/** How many processes were looked at; with ancestors alone only those found. */
	readonly scanned: number;
};

/** A child that was reaped: the raw wait status and what it used, its own reaped children included. */
export type ReapedChild = {readonly waitStatus: number; readonly userMicros: number; readonly systemMicros: number; readonly maxRssBytes: number};

/** Everybody whom the system's account files put into a group. */
export type GroupMembers = {
	/** The names that carry this number; empty where the number does not resolve. */
	readonly names: readonly string[];
	/** Numeric ids of the accounts whose primary group it is and of those on its member lists; may repeat. */
	readonly uids: readonly number[];
	/** Listed members that are no account here. */
	readonly unresolved: readonly string[];
};

/** A bound of setrlimit; null means unlimited. */
export type ResourceBound = {readonly soft: number | null; readonly hard: number | null};

/** The bounds that can be asked for, in the order that the addon numbers them. */
const boundNames = ['openFiles', 'memoryBytes', 'cpuSeconds', 'processes', 'fileSizeBytes'] as const;

/** A bound of shapes.ts: Limits. */
export type BoundName = (typeof boundNames)[number];

/**
 * What Node cannot do. A failed system call throws an Error whose `code` is the errno name and whose `syscall` and `path` say what failed on what.
 */
export type NativeParts = {
	/** R-MECH-3, R-END-4: who of a group, session or descent is there now. ENODEV where /proc is not that of our own pid namespace. */
	readonly scan: (query: ScanQuery) => ScanResult;
	/** The same by reading the row of every process, as `scan` does where the kernel has no lists of children or they never stand still; for tests. */
	readonly scanByTable: (query: ScanQuery) => ScanResult;
	/** R-MECH-4: whether orphans of our descent become our children (PR_SET_CHILD_SUBREAPER). */
	readonly setSubreaper: (isOn: boolean) => void;
	readonly isSubreaper: () => boolean;
	/** R-MECH-4: whether other processes of our user are kept from our descriptors, memory and environment (PR_SET_DUMPABLE). Root is kept from nothing. */
	readonly setSealed: (isOn: boolean) => void;
	readonly isSealed: () => boolean;
	/** R-MECH-4: reaps exactly this child; null while it runs. ECHILD where it is not our child. Never for a child that Node itself started. */
	readonly reapChild: (pid: number) => ReapedChild | null;
	/** R-MECH-5: signals the process that has this pid and start time, never a later owner of the pid. False: it is gone. */
	readonly signalProcess: (pid: number, startTime: number, signal: number) => boolean;
	/** The bound that this process stands under. */
	readonly resourceBound: (name: BoundName) => ResourceBound;
	/** C-TRUST-3: opens an absolute, plain path; ELOOP where any component is a link, EINVAL for "..", "." or a doubled slash. The descriptor is the caller's. */
	readonly openNoLinks: (path: string, flags: number, mode?: number) => number;
	/** The same by the way of kernels without openat2, for tests. */
	readonly openNoLinksByChain: (path: string, flags: number, mode?: number) => number;
	/** C-LOCK-1: opens a lock file read-write without following a link, makes it (0600) where asked. ESTALE where the name means another file than was opened. */
	readonly openLock: (path: string, mayCreate: boolean) => number;
	/** C-LOCK-1: takes the exclusive flock without waiting; false where somebody else holds it. */
	readonly tryLock: (fd: number) => boolean;
	/** C-BOOT-6, E-PUB-2: EEXIST where the target is there in any form, ENOTSUP only where kernel or filesystem lack the primitive. */
	readonly renameNoReplace: (from: string, to: string) => void;
	/** C-BOOT-6: the names in the directory are on disk. */
	readonly syncDirectory: (directory: string) => void;
	/** E-PUB-2: everything written on the filesystem that holds the directory is on disk. */
	readonly syncFilesystem: (directory: string) => void;
	/** C-TRUST-1: whether a POSIX access list grants more than the mode shows. */
	readonly hasAccessList: (path: string) => boolean;
	/** C-TRUST-1: who the group with this number is. */
	readonly groupMembers: (gid: number) => GroupMembers;
	/** BR-2: a new listening socket (0600, non-blocking) under this name in an opened directory, however long its path. EADDRINUSE where the name is taken. */
	readonly listenUnix: (directoryFd: number, name: string) => number;
	/** BR-2: a connection to it (non-blocking). ECONNREFUSED where nobody listens any more, EAGAIN where too many wait. */
	readonly connectUnix: (directoryFd: number, name: string) => number;
	/** Two connected ends (non-blocking). */
	readonly socketPair: () => readonly [number, number];
	/** The next connection of a listening socket, or null. */
	readonly acceptSocket: (fd: number) => number | null;
	/** BR-2: whose process made the other end (SO_PEERCRED). */
	readonly peerUid: (fd: number) => number;
	/** BR-3: sends bytes, with the first of them a copy of a descriptor (-1: none); returns how many went. EAGAIN where the other end does not read. */
	readonly sendBytes: (fd: number, bytes: Uint8Array, passedFd: number) => number;
	/** BR-3: what is there to read, at most 64 KiB; null: nothing; no bytes: the other end is closed. `descriptor` (-1: none) is the caller's. */
	readonly receiveBytes: (fd: number) => {readonly bytes: Buffer; readonly descriptor: number} | null;
	/** Ends a connection in both directions; whoever waits for it is woken. */
	readonly shutdownSocket: (fd: number) => void;
	/** Those of the descriptors that can be read at once or are closed; none when the time is over. They must stay open meanwhile. */
	readonly waitReadable: (fds: readonly number[], timeoutMs: number) => Promise<readonly number[]>;
};

/** As native/src/addon/module.c exports it. */
type Addon = Omit<NativeParts, 'scan' | 'scanByTable' | 'resourceBound' | 'openNoLinks' | 'openNoLinksByChain'> & {
	readonly version: number;
	readonly scan: (groups: readonly number[], sessions: readonly number[], ancestors: readonly number[], readAll: boolean) => ScanResult;
	readonly resourceLimit: (index: number) => ResourceBound;
	readonly openNoLinks: (path: string, flags: number, mode: number, forceChain: boolean) => number;
};

const addonVersion = 4;
const addonFunctions = [
	'scan',
	'setSubreaper',
	'isSubreaper',
	'setSealed',
	'isSealed',
	'reapChild',
	'signalProcess',
	'resourceLimit',
	'openNoLinks',
	'openLock',
	'tryLock',
	'renameNoReplace',
	'syncDirectory',
	'syncFilesystem',
	'hasAccessList',
	'groupMembers',
	'listenUnix',
	'connectUnix',
	'socketPair',
	'acceptSocket',
	'peerUid',
	'sendBytes',
	'receiveBytes',
	'shutdownSocket',
	'waitReadable',
] as const satisfies readonly (keyof Addon)[];

/** The built native parts lie beside the compiled module: build/native. */
const builtDirectory = import.meta.dirname;
let loaded: NativeParts | null = null;

/**
 * The addon, loaded at the first call.
 *
 * Refuses: RUN_NATIVE_MISSING where it is not built, does not load here, or is of another version; the message says how to build it. Source: R-MECH-6.
 */
export function loadNative(): NativeParts {
	loaded ??= toParts(loadAddon(path.join(builtDirectory, 'bailiff.node')));
	return loaded;
}

/**
 * The absolute path of the native supervisor.
 *
 * Refuses: RUN_NATIVE_MISSING where it is not built. Source: R-MECH-1, R-MECH-6.
 */
export function supervisorPath(): string {
	return programPath('bailiff-supervisor');
}

/**
 * The absolute path of the program that answers git's prompts.
 *
 * Refuses: RUN_NATIVE_MISSING where it is not built. Source: C-HARD-6.
 */
export function askpassPath(): string {
	return programPath('bailiff-askpass');
}

/**
 * Loads one file as the addon and checks that it offers everything, in this version.
 *
 * Refuses: RUN_NATIVE_MISSING. Source: R-MECH-6.
 */
export function loadAddon(file: string): Addon {
	let value: unknown;
	try {
		value = createRequire(import.meta.url)(file);
	} catch (error) {
		throw missing(file, 'is not there or does not load here', error);
	}

	if (!isAddon(value)) {
		throw missing(file, `was built from other sources (version ${addonVersion} was expected)`, undefined);
	}

	return value;
}

function programPath(name: string): string {
	const program = path.join(builtDirectory, name);
	try {
		return createRequire(import.meta.url).resolve(program);
	} catch (error) {
		throw missing(program, 'is not there', error);
	}
}

function isAddon(value: unknown): value is Addon {
	if (typeof value !== 'object' || value === null || !('version' in value) || value.version !== addonVersion) {
		return false;
	}

	const names: ReadonlyMap<string, unknown> = new Map(Object.entries(value));
	return addonFunctions.every(name => typeof names.get(name) === 'function');
}

function toParts(addon: Addon): NativeParts {
	return Object.freeze({
		...addon,
		scan: (query: ScanQuery) => addon.scan(query.groups ?? [], query.sessions ?? [], query.ancestors ?? [], false),
		scanByTable: (query: ScanQuery) => addon.scan(query.groups ?? [], query.sessions ?? [], query.ancestors ?? [], true),
		resourceBound: (name: BoundName) => addon.resourceLimit(boundNames.indexOf(name)),
		openNoLinks: (file: string, flags: number, mode = 0) => addon.openNoLinks(file, flags, mode, false),
		openNoLinksByChain: (file: string, flags: number, mode = 0) => addon.openNoLinks(file, flags, mode, true),
	});
}

function missing(file: string, what: string, cause: unknown): BailiffError {
	return new BailiffError(
		'RUN_NATIVE_MISSING',
		`the native part ${file} ${what}: run "make -C native" in the directory of bailiff's package.json (it needs a C compiler, make and the package node-api-headers)`,
		{cause, details: {file}},
	);
}
