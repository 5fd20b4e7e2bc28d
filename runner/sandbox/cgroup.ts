import {randomBytes} from 'node:crypto';
import {existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {spawnProgram} from '../spawn.ts';

/** Which version of control groups can hold what, or null. */
export type CgroupAbilities = {readonly memory: 'cgroup2' | 'cgroup1' | null; readonly processes: 'cgroup2' | 'cgroup1' | null};

/** The control groups of one run. Commands come one after the other, so one set serves all. */
export type RunCgroup = {
	readonly abilities: CgroupAbilities;
	/** Files into which the supervisor's child writes "0" before it becomes bubblewrap, or the command. */
	readonly joinFiles: readonly string[];
	/** Paths as /proc/PID/cgroup names them, to be compared with what a process really is in. */
	readonly memberships: readonly string[];
	/** Sets the limits of the next command and reads them back; null is no limit. False: the kernel did not take them. */
	readonly setLimits: (limits: {readonly memoryBytes: number | null; readonly processes: number | null}) => boolean;
	/** Removes the groups; what dies in them gets up to a second. False: something is left. */
	readonly remove: () => Promise<boolean>;
};

type Controller = 'memory' | 'pids';
type Group = {readonly version: 'cgroup2' | 'cgroup1'; readonly directory: string; readonly membership: string; readonly controllers: readonly Controller[]};

/** bubblewrap and our own first process are in the group too. */
const ownProcesses = 2;
const unlimitedV1 = '-1';

/** What /proc says about this process: where files are, handed in by tests. */
export type CgroupSource = {readonly cgroups: string; readonly mounts: string};

/**
 * Makes control groups for one run, wherever this process may: below its own cgroup, or below one above it.
 *
 * The ability is proved by doing: a short-lived process joins each group before it counts.
 * Source: S-MECH-8.
 */
export async function openRunCgroup(source: CgroupSource = readSource()): Promise<RunCgroup> {
	const groups: Group[] = [];
	for (const make of [makeUnified, makeMemory, makeProcesses]) {
		const missing = (['memory', 'pids'] as const).filter(controller => !groups.some(group => group.controllers.includes(controller)));
		const group = missing.length === 0 ? null : make(source, missing);
		if (group === null) {
			continue;
		}

		if (await canJoin(group)) {
			groups.push(group);
		} else {
			await removeGroup(group.directory);
		}
	}

	return toRunCgroup(groups);
}

function readSource(): CgroupSource {
	return {cgroups: readFileSync('/proc/self/cgroup', 'utf8'), mounts: readFileSync('/proc/self/mountinfo', 'utf8')};
}

function toRunCgroup(groups: readonly Group[]): RunCgroup {
	const memory = groups.find(group => group.controllers.includes('memory'));
	const processes = groups.find(group => group.controllers.includes('pids'));
	return {
		abilities: {memory: memory?.version ?? null, processes: processes?.version ?? null},
		joinFiles: groups.map(group => path.join(group.directory, 'cgroup.procs')),
		memberships: groups.map(group => group.membership),
		setLimits: limits => setMemory(memory, limits.memoryBytes) && setProcesses(processes, limits.processes),
		async remove() {
			const removed = await Promise.all(groups.map(group => removeGroup(group.directory)));
			return removed.every(Boolean);
		},
	};
}

function setMemory(group: Group | undefined, bytes: number | null): boolean {
	if (group === undefined) {
		return bytes === null;
	}

	if (group.version === 'cgroup2') {
		return write(group, 'memory.max', bytes === null ? 'max' : String(bytes)) && (write(group, 'memory.swap.max', bytes === null ? 'max' : '0') || true);
	}

	// The limit with swap must never be below the one without: which of the two comes first depends on the direction.
	write(group, 'memory.memsw.limit_in_bytes', unlimitedV1);
	const isSet = write(group, 'memory.limit_in_bytes', bytes === null ? unlimitedV1 : String(bytes));
	write(group, 'memory.memsw.limit_in_bytes', bytes === null ? unlimitedV1 : String(bytes));
	return isSet && (bytes === null || Number(read(group, 'memory.limit_in_bytes')) <= bytes);
}

function setProcesses(group: Group | undefined, count: number | null): boolean {
	if (group === undefined) {
		return count === null;
	}

	const value = count === null ? 'max' : String(count + ownProcesses);
	return write(group, 'pids.max', value) && read(group, 'pids.max') === value;
}

function write(group: Group, file: string, value: string): boolean {
	try {
		writeFileSync(path.join(group.directory, file), value);
		return true;
	} catch {
		return false;
	}
}

function read(group: Group, file: string): string {
	return readFileSync(path.join(group.directory, file), 'utf8').trim();
}

/** Where a hierarchy is mounted and where this process is in it. */
function locate(source: CgroupSource, wanted: {readonly filesystem: string; readonly controller: string}): {mount: string; own: string} | null {
	const lines = source.cgroups.split('\n').map(line => line.split(':'));
	const line = lines.find(([, controllers]) => (wanted.controller === '' ? controllers === '' : controllers?.split(',').includes(wanted.controller)));
	const own = line?.slice(2).join(':');
	for (const entry of source.mounts.split('\n')) {
		const [before = '', after = ''] = entry.split(' - ');
		const [, , , , mount] = before.split(' ');
		const [filesystem, , options = ''] = after.split(' ');
		const isIt = filesystem === wanted.filesystem && (wanted.controller === '' || options.split(',').includes(wanted.controller));
		if (isIt && mount !== undefined && own !== undefined) {
			return {mount, own};
		}
	}

	return null;
}

function makeUnified(source: CgroupSource, missing: readonly Controller[]): Group | null {
	const place = locate(source, {filesystem: 'cgroup2', controller: ''});
	if (place === null) {
		return null;
	}

	for (let at = place.own; ; at = path.dirname(at)) {
		const directory = makeBelow(place.mount, at);
		if (directory !== null) {
			const offered = controllersOf(directory);
			const controllers = missing.filter(controller => offered.includes(controller));
			if (controllers.length > 0) {
				return {version: 'cgroup2', directory, membership: `/${path.relative(place.mount, directory)}`, controllers};
			}

			rmdirSync(directory);
		}

		if (at === '/' || at === '.') {
			return null;
		}
	}
}

function controllersOf(directory: string): string[] {
	try {
		return readFileSync(path.join(directory, 'cgroup.controllers'), 'utf8').trim().split(' ');
	} catch {
		return [];
	}
}

function makeMemory(source: CgroupSource, missing: readonly Controller[]): Group | null {
	return missing.includes('memory') ? makeFirst(source, 'memory') : null;
}

function makeProcesses(source: CgroupSource, missing: readonly Controller[]): Group | null {
	return missing.includes('pids') ? makeFirst(source, 'pids') : null;
}

function makeFirst(source: CgroupSource, controller: Controller): Group | null {
	const place = locate(source, {filesystem: 'cgroup', controller});
	const directory = place === null ? null : (makeBelow(place.mount, place.own) ?? makeBelow(place.mount, '/'));
	if (place === null || directory === null) {
		return null;
	}

	return {version: 'cgroup1', directory, membership: `/${path.relative(place.mount, directory)}`, controllers: [controller]};
}

/** What runners that were killed have left: a group is removed by the kernel only when nobody is in it. */
function sweep(parent: string): void {
	const stale = namesIn(parent).filter(name => {
		const pid = /^bailiff-(\d+)-[0-9a-f]{8}$/.exec(name)?.[1];
		return pid !== undefined && !existsSync(`/proc/${pid}`);
	});
	for (const name of stale) {
		try {
			rmdirSync(path.join(parent, name));
		} catch {
			// Somebody is in it still, or another run was quicker.
		}
	}
}

function namesIn(directory: string): string[] {
	try {
		return readdirSync(directory);
	} catch {
		return [];
	}
}

function makeBelow(mount: string, own: string): string | null {
	sweep(path.join(mount, own));
	const directory = path.join(mount, own, `bailiff-${process.pid}-${randomBytes(4).toString('hex')}`);
	try {
		mkdirSync(directory);
		return directory;
	} catch {
		return null;
	}
}

/** `tee` writes "0", which moves itself. */
async function canJoin(group: Group): Promise<boolean> {
	const answer = await spawnProgram({
		file: '/usr/bin/tee',
		args: [path.join(group.directory, 'cgroup.procs')],
		cwd: '/',
		env: {},
		input: Buffer.from('0\n'),
		maxStdoutBytes: 4096,
		maxStderrBytes: 4096,
		timeoutMs: 5000,
		graceMs: 100,
	});
	return answer.exitCode === 0;
}

const removalAttempts = 100;

async function removeGroup(directory: string): Promise<boolean> {
	for (let attempt = 0; attempt < removalAttempts; attempt++) {
		try {
			rmdirSync(directory);
			return true;
		} catch {
			await sleep(10);
		}
	}

	return false;
}
