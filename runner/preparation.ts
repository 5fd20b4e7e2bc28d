import {randomBytes} from 'node:crypto';
import {type Clock, toRfc3339Ms} from '../core/clock.ts';
import {BailiffError} from '../core/errors.ts';
import {runIdProblem} from '../core/ids.ts';
import type {ResolvedCommand, ResolvedPlan} from '../evidence/index.ts';
import {createExecutableFinder, type Executable, type ExecutableFailure, type ExecutableFinder} from './executables.ts';
import type {ResourceLimits} from './outcome.ts';

/** What was settled before anything runs: the programs of all commands that do not come from an earlier one. */
export type Preparation = {
	readonly finder: ExecutableFinder;
	/** By command index; null where an earlier command makes the program (`produced`). */
	readonly executables: ReadonlyArray<Executable | null>;
};

/**
 * The run id to use: the caller's, or a new one of the form 20260801-120000-4f2a9c1e (UTC).
 *
 * Refuses: CORE_ID_RUN. Source: E-PUB-4.
 */
export function chooseRunId(wanted: string | null, clock: Clock): string {
	if (wanted === null) {
		const [day = '', time = ''] = toRfc3339Ms(clock.wallMs()).split('T');
		return `${day.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}-${randomBytes(4).toString('hex')}`;
	}

	const problem = runIdProblem(wanted);
	if (problem !== null) {
		throw new BailiffError('CORE_ID_RUN', `${JSON.stringify(wanted)} is no run id: ${problem}`);
	}

	return wanted;
}

/**
 * Finds every program of the plan, so that a missing one refuses the whole plan before anything runs.
 *
 * Refuses: RUN_EXECUTABLE_MISSING, naming all of them. Source: R-START-2.
 */
export function prepareExecutables(plan: ResolvedPlan, checkout: string): Preparation {
	const finder = createExecutableFinder();
	const missing: Array<{readonly command: ResolvedCommand; readonly failure: ExecutableFailure}> = [];
	const executables = plan.commands.map(command => {
		if (command.produced) {
			return null;
		}

		const found = findExecutable(finder, {plan, command, checkout});
		if ('errno' in found) {
			missing.push({command, failure: found});
			return null;
		}

		return found;
	});
	if (missing.length > 0) {
		throw missingError(missing);
	}

	return {finder, executables};
}

/** Looks up the program of one command as it would be started now. Source: R-START-2. */
export function findExecutable(
	finder: ExecutableFinder,
	where: {readonly plan: ResolvedPlan; readonly command: ResolvedCommand; readonly checkout: string},
): Executable | ExecutableFailure {
	const {plan, command, checkout} = where;
	return finder.find({name: command.argv[0] ?? '', checkout, cwd: command.cwd, searchPath: plan.path});
}

/**
 * The limits that setrlimit enforces on a command without a sandbox.
 *
 * Refuses: RUN_SANDBOX_LIMIT for what the plan asks and nothing here can bind: `tmp_bytes` needs the sandbox's private mounts,
 * `processes` does not bind root. Source: shapes.ts: Limits, R-PLAN-6.
 */
export function plainLimits(command: ResolvedCommand, effectiveUid: number): ResourceLimits {
	const {limits} = command;
	const refused = limits.asked.find(name => name === 'tmp_bytes' || (name === 'processes' && effectiveUid === 0));
	if (refused !== undefined) {
		const why = refused === 'processes' ? 'RLIMIT_NPROC does not bind root: run as an ordinary user' : 'it needs the private mounts of the sandbox';
		throw new BailiffError(
			'RUN_SANDBOX_LIMIT',
			`command ${command.id} asks for ${refused}, which cannot be enforced with the sandbox off: ${why}, or leave the limit out`,
			{
				details: {command: command.id, limit: refused},
			},
		);
	}

	return {
		openFiles: limits.open_files ?? 1024,
		memoryBytes: limits.memory_bytes,
		cpuSeconds: limits.cpu_seconds,
		processes: limits.processes,
		fileSizeBytes: limits.file_size_bytes,
	};
}

function missingError(missing: ReadonlyArray<{readonly command: ResolvedCommand; readonly failure: ExecutableFailure}>): BailiffError {
	const lines = missing.map(({command, failure}) => `command ${command.id}: ${failure.reason}`);
	return new BailiffError(
		'RUN_EXECUTABLE_MISSING',
		`${lines.join('; ')}: install it, name its directory in the plan's path, or write "produced": true where an earlier command makes it`,
		{details: {missing: missing.map(({command, failure}) => ({id: command.id, index: command.index, errno: failure.errno}))}},
	);
}
