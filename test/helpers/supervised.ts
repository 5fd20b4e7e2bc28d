import {accessSync, constants, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {readWaitStatus} from '../../evidence/index.ts';
import type {CommandOutcome, CommandRequest} from '../../runner/outcome.ts';

/** The PATH of every supervised test command. */
export const testPath = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';

/** The environment variable that marks all processes of one test command. */
export const markName = 'BAILIFF_TEST_MARK';
let marks = 0;

/** One row of test/vectors/commands.json. */
export type HostileCase = {
	readonly id: string;
	readonly why: string;
	readonly argv: readonly string[];
	readonly timeout_seconds: number;
	readonly max_output_bytes: number;
	readonly expected_exit_code: number;
	readonly leak_timeout_seconds?: number;
	readonly want: Readonly<Record<string, unknown>>;
};

/** The hostile commands of the contract. */
export function hostileCases(): HostileCase[] {
	const file = new URL('../../../test/vectors/commands.json', import.meta.url);
	return JSON.parse(readFileSync(file, 'utf8')).cases;
}

/** The absolute path of a program on testPath. */
export function which(name: string): string {
	for (const directory of testPath.split(':')) {
		const candidate = path.join(directory, name);
		try {
			accessSync(candidate, constants.X_OK);
			return candidate;
		} catch {
			// Not here: the next directory may have it.
		}
	}

	throw new Error(`${name} is not installed`);
}

/** A marked request with quiet defaults: 10 s, 64 KiB, cwd the directory itself. */
export function makeRequest(directory: string, argv: readonly string[], more: Partial<CommandRequest> = {}): {request: CommandRequest; mark: string} {
	marks += 1;
	const mark = `${process.pid}-${marks}-${process.hrtime.bigint()}`;
	const [program = ''] = argv;
	const request: CommandRequest = {
		executable: program.includes('/') ? program : which(program),
		argv,
		checkout: directory,
		cwd: '.',
		timeoutNs: 10_000_000_000n,
		leakTimeoutNs: null,
		maxOutputBytes: 65_536,
		streams: 'combined',
		limits: {openFiles: 1024, memoryBytes: null, cpuSeconds: null, processes: null, fileSizeBytes: null},
		...more,
		env: {PATH: testPath, TMPDIR: directory, LC_ALL: 'C.UTF-8', ...more.env, [markName]: mark},
	};
	return {request, mark};
}

/** A case as a request. */
export function caseRequest(directory: string, hostile: HostileCase): {request: CommandRequest; mark: string} {
	const leak = hostile.leak_timeout_seconds;
	return makeRequest(directory, hostile.argv, {
		timeoutNs: BigInt(Math.round(hostile.timeout_seconds * 1e9)),
		maxOutputBytes: hostile.max_output_bytes,
		leakTimeoutNs: leak === undefined ? null : BigInt(Math.round(leak * 1e9)),
	});
}

/** The pids of the living processes whose environment carries `mark`. A zombie has no environment any more. */
export function markedProcesses(mark: string): number[] {
	return readdirSync('/proc')
		.filter(name => /^\d+$/.test(name))
		.filter(name => {
			try {
				return readFileSync(`/proc/${name}/environ`, 'latin1').split('\0').includes(`${markName}=${mark}`);
			} catch {
				return false;
			}
		})
		.map(Number);
}

/** What `outcome` says, in the words of the cases' `want`. */
export function summary(outcome: CommandOutcome, expectedExitCode = 0): Record<string, unknown> {
	if (outcome.kind !== 'ended') {
		return {...outcome};
	}

	const {exit_code: exitCode, signal} = readWaitStatus(outcome.waitStatus);
	return {
		execution_status: outcome.status,
		trigger: outcome.trigger,
		exit_code: exitCode,
		signal,
		passed: outcome.status === 'completed' && exitCode === expectedExitCode,
		...outcome.termination,
		output: outcome.output.bytes.toString('utf8'),
		output_hex: outcome.output.bytes.toString('hex'),
		output_bytes: outcome.output.bytes.length,
		complete: outcome.output.isComplete,
		escaped: outcome.escaped,
		seconds: Number(outcome.endedNs - outcome.startedNs) / 1e9,
	};
}

/** How much slower than usual commands may be: under valgrind (.ci/sanitize) they are. */
const slowness = Number(process.env['BAILIFF_TEST_SLOWNESS'] ?? 1);

/** Sentences about everything in which a summary differs from what the case wants; empty when it agrees. */
export function differences(hostile: HostileCase, found: Readonly<Record<string, unknown>>): string[] {
	return Object.entries(hostile.want).flatMap(([key, wanted]) => {
		switch (key) {
			case 'max_seconds':
				return Number(found['seconds']) <= slowness * Number(wanted) ? [] : [`it took ${Number(found['seconds'])} s, more than ${Number(wanted)}`];
			case 'escaped_at_least':
				return Number(found['escaped']) >= Number(wanted) ? [] : [`escaped is ${Number(found['escaped'])}, less than ${Number(wanted)}`];
			default:
				return Object.is(found[key], wanted) ? [] : [`${key} is ${JSON.stringify(found[key])}, not ${JSON.stringify(wanted)}`];
		}
	});
}
