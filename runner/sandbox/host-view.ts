import {accessSync, constants, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync} from 'node:fs';
import path from 'node:path';
import {mountPointOf} from './observation.ts';
import {privateDirectories} from './profile.ts';

/** What stands on this machine and matters to the mounts; absolute, resolved paths that exist. */
export type HostView = {
	/** /run, /var/tmp, /tmp as they are here (/dev/shm belongs to the private /dev). */
	readonly privateDirectories: readonly string[];
	/** Unix sockets with a path: a read-only mount does not keep anyone from connecting. */
	readonly sockets: readonly string[];
	/** Directories that this user cannot enter and below which something is mounted: bubblewrap cannot make such a mount read-only, so it is covered. */
	readonly unreachable: readonly string[];
	/** Parts of /proc that root could write without any capability. Empty for an ordinary user. */
	readonly processReadonly: readonly string[];
	/** Files of password hashes and host keys, readable here only as root. */
	readonly systemSecrets: readonly string[];
	/** The resolver's configuration, where it lies in /run and the network is shared. */
	readonly networkFiles: readonly string[];
	/** For root "minimal": real directories, links such as /bin, and the loader's and certificate parts of /etc. */
	readonly systemDirectories: readonly string[];
	readonly systemLinks: ReadonlyArray<{readonly path: string; readonly target: string}>;
	readonly loaderFiles: readonly string[];
};

/** What the reading of the machine depends on. */
export type HostViewOptions = {readonly userId: number; readonly network: 'none' | 'loopback' | 'host'; readonly root: 'host-ro' | 'minimal'};

const systemParts = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'] as const;

const loaderParts = [
	'/etc/alternatives',
	'/etc/ca-certificates',
	'/etc/ca-certificates.conf',
	'/etc/ld.so.cache',
	'/etc/ld.so.conf',
	'/etc/ld.so.conf.d',
	'/etc/pki',
	'/etc/ssl/certs',
	'/etc/ssl/openssl.cnf',
] as const;

const secretFiles = ['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/sudoers', '/etc/sudoers.d', '/etc/ssl/private'] as const;

/** Reads the machine as it is now. Source: S-MECH-1. */
export function readHostView(options: HostViewOptions): HostView {
	const isRoot = options.userId === 0;
	const parts = options.root === 'minimal' ? systemParts.filter(part => modeOf(part) !== null) : [];
	return {
		privateDirectories: [...new Set(privateDirectories.filter(directory => directory !== '/dev/shm').flatMap(realPaths))],
		sockets: boundSockets(),
		unreachable: [...new Set(mountPoints().flatMap(closedDirectory))],
		processReadonly: isRoot ? processGuards() : [],
		systemSecrets: isRoot ? [...secretFiles.flatMap(realPaths), ...hostKeys()] : [],
		networkFiles: options.network === 'host' ? realPaths('/etc/resolv.conf').filter(file => file.startsWith('/run/')) : [],
		systemDirectories: parts.filter(part => !isLink(part)),
		systemLinks: parts.filter(part => isLink(part)).map(part => ({path: part, target: readlinkSync(part)})),
		loaderFiles: options.root === 'minimal' ? loaderParts.filter(part => modeOf(part) !== null) : [],
	};
}

function realPaths(candidate: string): string[] {
	try {
		return [realpathSync.native(candidate)];
	} catch {
		return [];
	}
}

function modeOf(candidate: string): number | null {
	try {
		return lstatSync(candidate).mode;
	} catch {
		return null;
	}
}

const typeMask = 0o170_000;
const typeDirectory = 0o040_000;
const typeLink = 0o120_000;

function isLink(candidate: string): boolean {
	return ((modeOf(candidate) ?? 0) & typeMask) === typeLink;
}

/**
 * The sockets in every directory in which the kernel says that one was bound; the last field may hold blanks. The listing names the path as it was given:
 * a socket may have been renamed since, or have a second name, and a relative name counts from a directory that only its process knows.
 * Source: proc_net(5), unix.
 */
function boundSockets(): string[] {
	const names = boundNames();
	const relative = names.filter(name => !name.startsWith('/'));
	const bases = relative.length === 0 ? [] : workingDirectories();
	const paths = [...names.filter(name => name.startsWith('/')), ...bases.flatMap(base => relative.map(name => path.join(base, name)))];
	return [...new Set(paths.map(name => path.dirname(name)))].flatMap(realPaths).flatMap(socketsIn);
}

function boundNames(): string[] {
	const listing = readOrEmpty('/proc/net/unix').split('\n');
	return listing.map(line => /^\S+: +(?:\S+ +){6}([^@].*)$/.exec(line)?.[1]).filter(name => name !== undefined);
}

function workingDirectories(): string[] {
	const processes = namesIn('/proc').filter(name => /^\d+$/.test(name));
	return [...new Set(processes.flatMap(pid => realPaths(`/proc/${pid}/cwd`)))];
}

function socketsIn(directory: string): string[] {
	try {
		const entries = readdirSync(directory, {withFileTypes: true});
		return entries.filter(entry => entry.isSocket()).map(entry => path.join(directory, entry.name));
	} catch {
		return [];
	}
}

function readOrEmpty(file: string): string {
	try {
		return readFileSync(file, 'utf8');
	} catch {
		return '';
	}
}

function mountPoints(): string[] {
	return readOrEmpty('/proc/self/mountinfo')
		.split('\n')
		.map(mountPointOf)
		.filter(point => point !== '');
}

/** The outermost directory on the way to a mount point that this user may not enter; none where the mount point can be reached. */
function closedDirectory(point: string): string[] {
	let closed: string[] = [];
	for (let at = path.dirname(point); at !== '/'; at = path.dirname(at)) {
		closed = canEnter(at) ? closed : [at];
	}

	return closed;
}

function canEnter(directory: string): boolean {
	try {
		accessSync(directory, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}

let guards: readonly string[] | null = null;

/** The parts of /proc beside the processes that hold something writable: sys, irq, mtrr and the like. They do not change while the machine is up. */
function processGuards(): readonly string[] {
	guards ??= readdirSync('/proc')
		.filter(name => !/^\d+$/.test(name))
		.map(name => path.join('/proc', name))
		.filter(entry => entry === '/proc/sys' || holdsWritable(entry, maxGuardDepth));
	return guards;
}

/** A tree that is deeper than this, or that cannot be listed, counts as writable. */
const maxGuardDepth = 4;

function holdsWritable(entry: string, depth: number): boolean {
	const mode = modeOf(entry) ?? 0;
	const type = mode & typeMask;
	if (type !== typeDirectory) {
		return type !== typeLink && (mode & 0o222) !== 0;
	}

	return depth === 0 || (mode & 0o222) !== 0 || namesIn(entry).some(name => holdsWritable(path.join(entry, name), depth - 1));
}

function namesIn(directory: string): string[] {
	try {
		return readdirSync(directory);
	} catch {
		return [];
	}
}

function hostKeys(): string[] {
	try {
		return readdirSync('/etc/ssh')
			.filter(name => /^ssh_host_.*_key$/.test(name))
			.map(name => path.join('/etc/ssh', name));
	} catch {
		return [];
	}
}
