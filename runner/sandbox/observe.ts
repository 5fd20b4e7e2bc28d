import {canonicalJson} from '../../core/canonical-json.ts';
import {sha256Hex} from '../../core/digest.ts';
import type {Layer, Limits, SandboxRecord} from '../../evidence/index.ts';
import type {SandboxVerdict} from '../outcome.ts';
import {isCgroup, type LimitHow} from './limits.ts';
import {type NamespaceName, namespaceNames, type Observation} from './observation.ts';
import {isWithin} from './places.ts';

/** What the run asked for, and what the host says of the first process inside. Used to look for differences, never as a source of the record. */
export type Expectation = {
	readonly network: 'none' | 'loopback' | 'host';
	readonly nested: boolean;
	readonly userId: number;
	/** Mount points that may be writable. */
	readonly writable: readonly string[];
	/** The writable places of the plan: mount points in them may be writable too. */
	readonly places: readonly string[];
	/** The checkout's .git, where it is to be read-only. */
	readonly gitGuard: string | null;
	readonly require: readonly Layer[];
	readonly asked: Limits;
	readonly how: Readonly<Record<keyof Limits, LimitHow>>;
	readonly tmpBytes: number;
	readonly filterSha256: string;
	readonly host: HostSight;
};

/** The first process inside, and bailiff itself, as the host sees them. */
export type HostSight = {
	readonly ownNamespaces: Readonly<Record<NamespaceName, string>>;
	/** Null: the host does not see it. */
	readonly namespaces: Readonly<Record<NamespaceName, string>> | null;
	/** It is in every control group of the run. */
	readonly isInGroups: boolean;
	/** Places whose inode inside is not the one that was validated (S-PLAN-1). */
	readonly swapped: readonly string[];
};

type Layers = SandboxRecord['layers'];
type Strength = Layers[Layer];

/**
 * Derives what holds the command from what was observed (S-REC), and lists what forbids to start it: a required layer that the kernel does not hold, a limit
 * that was asked for and does not bind, a first process that is not what it says, a path that was swapped.
 *
 * Source: S-REC, S-MECH-4, S-PLAN-3.
 */
export function judgeObservation(observation: Observation, expectation: Expectation): SandboxVerdict {
	const {host} = expectation;
	const faults = writeFaults(observation, expectation);
	const limits = observeLimits(observation, expectation);
	const layers = observeLayers(observation, expectation, {isWriteSafe: faults.length === 0, limits});
	const problems = [
		...(host.namespaces === null || namespaceNames.some(name => host.namespaces?.[name] !== observation.namespaces[name])
			? ['the first process inside is not the one that the host sees']
			: []),
		...host.swapped.map(path => `${path} is not the one that was looked at before`),
		...expectation.require.filter(layer => layers[layer] !== 'kernel').map(layer => unmet(layer, layers[layer], faults)),
		...limitNames.filter(name => expectation.asked[name] !== undefined && limits[name] === 'none').map(name => `the limit ${name} does not bind`),
	];
	const record = {
		mode: 'required',
		layers,
		network: isApart(observation, expectation, 'net') ? (expectation.network === 'none' ? 'none' : 'loopback') : 'host',
		mounts_sha256: digestMounts(observation),
		filter_sha256: expectation.filterSha256,
		limits,
	} as const;
	return {record, problems};
}

const limitNames = ['memory_bytes', 'cpu_seconds', 'processes', 'open_files', 'file_size_bytes', 'tmp_bytes'] as const;

function unmet(layer: Layer, strength: Strength, faults: readonly string[]): string {
	const reason = layer === 'fs_write' && faults.length > 0 ? ` (${faults.slice(0, 3).join('; ')})` : '';
	return `the layer ${layer} is ${strength}, kernel is required${reason}`;
}

function isApart(observation: Observation, {host}: Expectation, name: NamespaceName): boolean {
	return observation.namespaces[name] !== '' && observation.namespaces[name] !== host.ownNamespaces[name];
}

function observeLayers(
	observation: Observation,
	expectation: Expectation,
	seen: {readonly isWriteSafe: boolean; readonly limits: SandboxRecord['limits']},
): Layers {
	const isApartIn = (name: NamespaceName): boolean => isApart(observation, expectation, name);
	const syscalls = observeFilter(observation);
	const isAlone = isApartIn('pid') && observation.status.get('Pid') === '1';
	const root = observation.mounts.findLast(mount => mount.path === '/');
	return {
		fs_write: isApartIn('mnt') ? (seen.isWriteSafe ? 'kernel' : 'partial') : 'none',
		fs_read: isApartIn('mnt') ? (root?.filesystem === 'tmpfs' ? 'kernel' : 'partial') : 'none',
		network: isApartIn('net') ? (syscalls === 'kernel' && observation.probes.get('vsock') === errnoNoFamily ? 'kernel' : 'partial') : 'none',
		pid: isAlone ? 'kernel' : 'none',
		env: observeEnvironment(observation, isAlone),
		memory: strengthOf(seen.limits.memory_bytes),
		processes: seen.limits.processes === 'rlimit' ? 'kernel' : strengthOf(seen.limits.processes),
		syscalls,
	};
}

const errnoPermission = 1;
const errnoNoCall = 38;
const errnoNoFamily = 97;

/** An rlimit counts for each process by itself. */
function strengthOf(how: LimitHow): Strength {
	return isCgroup(how) ? 'kernel' : how === 'rlimit' ? 'partial' : 'none';
}

/** The filter is in force and answers as ours does. */
function observeFilter({status, probes}: Observation): Strength {
	if (status.get('Seccomp') !== '2' || status.get('NoNewPrivs') !== '1') {
		return 'none';
	}

	return probes.get('io_uring') === errnoNoCall && probes.get('keyctl') === errnoPermission ? 'kernel' : 'partial';
}

/** bubblewrap itself adds PWD. Other processes' environments are out of sight with their ids. */
function observeEnvironment({environmentNames}: Observation, isAlone: boolean): Strength {
	const isEmpty = environmentNames.every(name => name === 'PWD');
	return isEmpty ? (isAlone ? 'kernel' : 'partial') : 'none';
}

/** Capabilities that a nested profile of root keeps: CAP_SETFCAP. */
const nestedCapabilities = 1n << 31n;
const capabilitySets = ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'] as const;

/** Everything because of which something outside the writable places might be written to. Empty: the kernel keeps them. */
function writeFaults(observation: Observation, expectation: Expectation): string[] {
	const {status, probes, mounts} = observation;
	const allowed = expectation.nested && expectation.userId === 0 ? nestedCapabilities : 0n;
	const hasMore = capabilitySets.some(name => (BigInt(`0x${status.get(name) ?? 'f'}`) & ~allowed) !== 0n);
	const guard = mounts.findLast(mount => mount.path === expectation.gitGuard);
	return [
		...(['mnt', 'user'] as const).filter(name => !isApart(observation, expectation, name)).map(name => `the ${name} namespace is the host's`),
		...(hasMore ? ['capabilities are left'] : []),
		...(status.get('NoNewPrivs') === '1' ? [] : ['privileges can be gained']),
		...(probes.get('remount') === 0 ? ['the root can be mounted anew'] : []),
		...(probes.get('sysctl') === 0 ? ['settings of the kernel can be written'] : []),
		...(expectation.gitGuard === null || guard?.isWritable === false ? [] : ['.git is writable']),
		...mounts
			.filter((mount, index) => mount.isWritable && !isWritableMount(mount, expectation) && !isCovered(mount, mounts.slice(index + 1)))
			.map(mount => `${mount.path} is writable`),
	];
}

const privateMounts: ReadonlySet<string> = new Set(['/dev/shm', '/dev/pts', '/proc']);

function isWritableMount(mount: {readonly path: string; readonly filesystem: string}, expectation: Expectation): boolean {
	const isDevice = /^\/dev\/(?:null|zero|full|random|urandom|tty|console)$/.test(mount.path);
	return isDevice || privateMounts.has(mount.path) || expectation.writable.includes(mount.path) || isInWritablePlace(mount.path, expectation);
}

/** What is mounted in a writable place of the plan is shown with it, but for .git. */
function isInWritablePlace(path: string, {places, gitGuard}: Expectation): boolean {
	return places.some(place => isWithin(path, place)) && (gitGuard === null || !isWithin(path, gitGuard));
}

/** No path leads to what a later mount lies on. */
function isCovered(mount: {readonly path: string}, later: ReadonlyArray<{readonly path: string}>): boolean {
	return later.some(({path}) => isWithin(mount.path, path));
}

/** A limit is recorded by its mechanism where that was seen: membership for groups, the size for mounts; rlimits are set by the start itself, which fails otherwise. */
function observeLimits({mounts}: Observation, {how, host, tmpBytes}: Expectation): SandboxRecord['limits'] {
	const size = `size=${Math.ceil(tmpBytes / 4096) * 4}k`;
	const isSized = mounts.findLast(mount => mount.path === '/dev/shm')?.superOptions.includes(size) === true;
	const seen = (name: keyof Limits): LimitHow => {
		const mechanism = how[name];
		const isThere = mechanism === 'mount' ? isSized : !isCgroup(mechanism) || host.isInGroups;
		return isThere ? mechanism : 'none';
	};
	return {
		memory_bytes: seen('memory_bytes'),
		cpu_seconds: seen('cpu_seconds'),
		processes: seen('processes'),
		open_files: seen('open_files'),
		file_size_bytes: seen('file_size_bytes'),
		tmp_bytes: seen('tmp_bytes'),
	};
}

/** The same mounts give the same digest: without ids and device numbers, which differ each time. */
function digestMounts({mounts}: Observation): string {
	return sha256Hex(canonicalJson(mounts.map(({path, root, filesystem, options}) => [path, root, filesystem, options.toSorted()])));
}
