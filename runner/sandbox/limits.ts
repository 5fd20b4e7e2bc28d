import {BailiffError} from '../../core/errors.ts';
import type {Limits} from '../../evidence/index.ts';
import type {ResourceLimits} from '../outcome.ts';
import type {CgroupAbilities} from './cgroup.ts';

/** How a limit bound (shapes.ts: SandboxRecord.limits). */
export type LimitHow = 'cgroup2' | 'cgroup1' | 'rlimit' | 'mount' | 'none';

/** The limits of one command: what each mechanism has to do, and what will be recorded where it is observed. */
export type LimitPlan = {
	/** For setrlimit, by the supervisor. */
	readonly resource: ResourceLimits;
	/** For the cgroup of the run; null leaves it unlimited. */
	readonly cgroup: {readonly memoryBytes: number | null; readonly processes: number | null};
	readonly tmpBytes: number;
	readonly how: Readonly<Record<keyof Limits, LimitHow>>;
};

/** What decides how limits bind here. */
export type LimitContext = {readonly mode: 'required' | 'off'; readonly userId: number; readonly cgroup: CgroupAbilities};

/** Applied under the sandbox where they bind, whether or not a plan names them (S-PLAN). */
export const defaultLimits = {memory_bytes: 2_147_483_648, processes: 512, open_files: 1024, tmp_bytes: 1_073_741_824} as const;

/**
 * Decides for each limit by which mechanism it binds: cgroup v2, cgroup v1, rlimit, mount.
 *
 * Without a cgroup the default of memory is not applied: RLIMIT_AS counts addresses, of which node and go reserve far more than they use; a plan that asks gets it.
 * Refuses: RUN_SANDBOX_LIMIT for a limit that the plan asks for and nothing here can bind.
 * Source: S-MECH-8, S-PLAN-3, R-PLAN-6, shapes.ts: Limits.
 */
export function planLimits(asked: Limits, context: LimitContext): LimitPlan {
	const defaults = context.mode === 'required' ? defaultLimits : {memory_bytes: null, processes: null};
	const memory = asked.memory_bytes ?? defaults.memory_bytes;
	const processes = asked.processes ?? defaults.processes;
	const how = bindAll(asked, {memory, processes}, context);
	refuseUnbound(asked, how);
	return {
		resource: {
			openFiles: asked.open_files ?? defaultLimits.open_files,
			memoryBytes: how.memory_bytes === 'rlimit' ? memory : null,
			cpuSeconds: asked.cpu_seconds ?? null,
			processes: how.processes === 'rlimit' ? processes : null,
			fileSizeBytes: asked.file_size_bytes ?? null,
		},
		cgroup: {memoryBytes: isCgroup(how.memory_bytes) ? memory : null, processes: isCgroup(how.processes) ? processes : null},
		tmpBytes: asked.tmp_bytes ?? defaultLimits.tmp_bytes,
		how,
	};
}

function bindAll(
	asked: Limits,
	values: {readonly memory: number | null; readonly processes: number | null},
	context: LimitContext,
): Record<keyof Limits, LimitHow> {
	return {
		memory_bytes: bindMemory(asked, values.memory, context),
		cpu_seconds: asked.cpu_seconds === undefined ? 'none' : 'rlimit',
		processes: bindProcesses(values.processes, context),
		open_files: 'rlimit',
		file_size_bytes: asked.file_size_bytes === undefined ? 'none' : 'rlimit',
		tmp_bytes: context.mode === 'required' ? 'mount' : 'none',
	};
}

function refuseUnbound(asked: Limits, how: Readonly<Record<keyof Limits, LimitHow>>): void {
	for (const name of Object.keys(how).filter(isLimit)) {
		if (asked[name] !== undefined && how[name] === 'none') {
			throw new BailiffError('RUN_SANDBOX_LIMIT', `the plan asks for ${name} ${asked[name]}, which cannot be held here: ${mends[name]}`, {
				details: {limit: name, asked: asked[name]},
			});
		}
	}
}

/** True where a cgroup holds the limit. */
export function isCgroup(how: LimitHow): how is 'cgroup2' | 'cgroup1' {
	return how === 'cgroup2' || how === 'cgroup1';
}

function bindMemory(asked: Limits, memory: number | null, {cgroup}: LimitContext): LimitHow {
	if (memory === null) {
		return 'none';
	}

	return cgroup.memory ?? (asked.memory_bytes === undefined ? 'none' : 'rlimit');
}

/** RLIMIT_NPROC does not bind root. */
function bindProcesses(processes: number | null, {cgroup, userId}: LimitContext): LimitHow {
	if (processes === null) {
		return 'none';
	}

	return cgroup.processes ?? (userId === 0 ? 'none' : 'rlimit');
}

const mends: Readonly<Record<keyof Limits, string>> = {
	memory_bytes: 'let bailiff write to a cgroup with the memory controller, or take the limit out of the plan',
	cpu_seconds: 'take the limit out of the plan',
	processes: 'root is bound by a pids cgroup only: run bailiff as an ordinary user, let it write to one, or take the limit out of the plan',
	open_files: 'take the limit out of the plan',
	file_size_bytes: 'take the limit out of the plan',
	tmp_bytes: 'private directories exist only in the sandbox: set its mode to "required", or take the limit out of the plan',
};

function isLimit(name: string): name is keyof Limits {
	return Object.hasOwn(mends, name);
}
