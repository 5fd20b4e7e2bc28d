import {BailiffError} from '../core/errors.ts';
import {parseStrictJson} from '../core/strict-json.ts';
import {defaultPath, type Layer, type Limits, layers, type Plan, type PlanCommand, planDecimalKeys, planSchema, type SandboxProfile} from './plan-schema.ts';
import type {Problem} from './problems.ts';
import {schemaProblems} from './schema-problems.ts';

/** Limits of a plan file. Source: R-PLAN-1. */
export const planLimits = {maxBytes: 1_048_576, maxDepth: 32} as const;

/** Limits that a command runs under; null: neither asked for nor a default. Sizes in bytes. */
export type ResolvedLimits = {readonly [Name in keyof Limits]-?: number | null} & {
	/** What the plan itself wrote: only these are "asked for" and refuse a run when they cannot bind (R-PLAN-6). */
	readonly asked: readonly (keyof Limits)[];
};

/** A sandbox profile with every default in its place. */
export type ResolvedSandbox = {
	readonly mode: 'required' | 'off';
	readonly filesystem: {
		readonly root: 'host-ro' | 'minimal';
		readonly read: readonly string[];
		readonly write: readonly string[];
		readonly deny: readonly string[];
		readonly git: 'readonly' | 'hidden';
	};
	readonly network: 'none' | 'loopback' | 'host';
	readonly nested: boolean;
	readonly require: readonly Layer[];
};

/** One command with every default in its place. */
export type ResolvedCommand = {
	readonly index: number;
	readonly id: string;
	readonly argv: readonly string[];
	/** Relative to the checkout. */
	readonly cwd: string;
	readonly env: Readonly<Record<string, string>>;
	readonly timeout_seconds: number;
	readonly max_output_bytes: number;
	readonly expected_exit_code: number;
	readonly purpose: 'check' | 'red' | 'green';
	/** Null: the deadline decides (R-END-3). */
	readonly leak_timeout_seconds: number | null;
	readonly streams: 'combined' | 'split';
	readonly produced: boolean;
	readonly sandbox: ResolvedSandbox;
	readonly limits: ResolvedLimits;
};

/** A plan with every default of shapes.ts in its place, per command. */
export type ResolvedPlan = {
	readonly owner: string;
	readonly repository: string;
	readonly issue: number;
	readonly source_sha: string;
	readonly fail_fast: boolean;
	/** Colon-separated absolute entries. */
	readonly path: string;
	readonly commands: readonly ResolvedCommand[];
	/** Of all commands: the manifest's environment.sandbox.mode. */
	readonly sandboxMode: 'required' | 'off' | 'mixed';
};

/** What to write, by the name of the key. */
export const planHints: Readonly<Record<string, string>> = {
	schema: 'write "verification-plan/v3"',
	owner: 'write the owner of the repository, one path component of 1 to 240 bytes that starts with a letter or digit',
	repository: 'write the name of the repository, one path component of 1 to 240 bytes',
	issue: 'write the number of the issue, a whole number from 1',
	source_sha: 'write the full commit id, 40 lower-case hexadecimal digits as `git rev-parse HEAD` prints them (no branch, no tag, no short id)',
	commands: 'write 1 to 256 commands',
	id: 'write 1 to 128 letters, digits, ".", "_" or "-", first a letter or digit, unique in the plan',
	argv: 'write a list of 1 to 4096 strings without NUL, such as ["make", "test"]; for a shell line write ["sh", "-c", "..."]',
	timeout_seconds: 'write a number of seconds above 0 and at most 3600, such as 300 (there is no unlimited run)',
	max_output_bytes: 'write a whole number of bytes from 0 to 1048576, such as 1048576',
	cwd: 'write a directory relative to the checkout, such as "packages/core", or "." for the checkout itself',
	env: 'write an object of names and string values, such as {"CI": "true"}',
	expected_exit_code: 'write a whole number from 0 to 255 (a death by signal is never expected)',
	purpose: 'write "check", "red" or "green"',
	leak_timeout_seconds: 'write a number of seconds from 0 to 3600, or leave the key out',
	streams: 'write "combined" or "split"',
	path: 'write absolute directories joined by colons, such as "/usr/local/bin:/usr/bin:/bin"',
	mode: 'write "required" or "off"',
};

/**
 * Reads a plan and refuses everything that could be understood in two ways, before anything runs.
 *
 * Shape: at most 1 MiB of UTF-8 JSON, nested at most 32 deep.
 * Refuses: syntax with its CORE_JSON_ code; everything else with EVIDENCE_PLAN_INVALID and all problems in `details.problems` (pointer, code, message).
 * Source: R-PLAN-1 to R-PLAN-6.
 */
export function parsePlan(bytes: Uint8Array): Plan {
	const value = parseStrictJson(bytes, {...planLimits, decimalKeys: planDecimalKeys});
	const parsed = planSchema.safeParse(value);
	if (parsed.success) {
		return parsed.data;
	}

	throw planInvalid(schemaProblems(parsed.error.issues, {value, path: null, hints: planHints}));
}

/** The same plan with every default of shapes.ts filled in; a command's own `sandbox` or `limits` replaces the plan's as a whole. Source: R-PLAN-6. */
export function resolvePlan(plan: Plan): ResolvedPlan {
	const commands = plan.commands.map((command, index) => resolveCommand(plan, command, index));
	const modes = new Set(commands.map(command => command.sandbox.mode));
	return {
		owner: plan.owner,
		repository: plan.repository,
		issue: plan.issue,
		source_sha: plan.source_sha,
		fail_fast: plan.fail_fast ?? true,
		path: plan.path ?? defaultPath,
		commands,
		sandboxMode: modes.size > 1 ? 'mixed' : (commands[0]?.sandbox.mode ?? 'required'),
	};
}

/** The weakest containment of a plan's commands (shapes.ts: environment.containment): one command without a sandbox shows in the whole run. Source: S-PLAN-2. */
export function containmentOf(plan: Pick<ResolvedPlan, 'sandboxMode'>): 'descent' | 'pid-namespace' {
	return plan.sandboxMode === 'required' ? 'pid-namespace' : 'descent';
}

function planInvalid(problems: readonly Problem[]): BailiffError {
	const shown = problems.slice(0, 10).map(({pointer, message}) => `${pointer === '' ? 'the plan' : pointer}: ${message}`);
	const more = problems.length > shown.length ? [`and ${problems.length - shown.length} more`] : [];
	const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
	return new BailiffError('EVIDENCE_PLAN_INVALID', `the plan has ${count}: ${[...shown, ...more].join('; ')}`, {details: {problems}});
}

function resolveCommand(plan: Plan, command: PlanCommand, index: number): ResolvedCommand {
	const sandbox = resolveSandbox(command.sandbox ?? plan.sandbox ?? {mode: 'required'});
	return {
		index,
		id: command.id,
		argv: command.argv,
		cwd: command.cwd ?? '.',
		env: command.env ?? {},
		timeout_seconds: command.timeout_seconds,
		max_output_bytes: command.max_output_bytes,
		expected_exit_code: command.expected_exit_code ?? 0,
		purpose: command.purpose ?? 'check',
		leak_timeout_seconds: command.leak_timeout_seconds ?? null,
		streams: command.streams ?? 'combined',
		produced: command.produced ?? false,
		sandbox,
		limits: resolveLimits(command.limits ?? plan.limits ?? {}, sandbox.mode),
	};
}

function resolveSandbox(profile: SandboxProfile): ResolvedSandbox {
	const network = profile.network ?? 'loopback';
	return {
		mode: profile.mode,
		filesystem: {root: 'host-ro', read: [], write: ['.'], deny: [], git: 'readonly', ...profile.filesystem},
		network,
		nested: profile.nested ?? false,
		require: profile.require ?? defaultLayers(network),
	};
}

/** A profile that takes the host's network asks for no network layer; the other four are always asked for. */
function defaultLayers(network: ResolvedSandbox['network']): Layer[] {
	const unasked: readonly Layer[] = ['fs_read', 'memory', 'processes', ...(network === 'host' ? (['network'] as const) : [])];
	return layers.filter(layer => !unasked.includes(layer));
}

/** Source: S-PLAN (memory 2 GiB, 512 processes, 1,024 files, 1 GiB of tmp); with mode off only the default of open_files applies (shapes.ts: Limits). */
const sandboxDefaults = {memory_bytes: 2 * 1024 ** 3, processes: 512, tmp_bytes: 1024 ** 3} as const;
const limitNames = ['memory_bytes', 'cpu_seconds', 'processes', 'open_files', 'file_size_bytes', 'tmp_bytes'] as const satisfies readonly (keyof Limits)[];

function resolveLimits(limits: Limits, mode: ResolvedSandbox['mode']): ResolvedLimits {
	const defaults: Partial<Record<keyof Limits, number>> = mode === 'required' ? sandboxDefaults : {};
	return {
		memory_bytes: limits.memory_bytes ?? defaults.memory_bytes ?? null,
		cpu_seconds: limits.cpu_seconds ?? null,
		processes: limits.processes ?? defaults.processes ?? null,
		open_files: limits.open_files ?? 1024,
		file_size_bytes: limits.file_size_bytes ?? null,
		tmp_bytes: limits.tmp_bytes ?? defaults.tmp_bytes ?? null,
		asked: limitNames.filter(name => Object.hasOwn(limits, name)),
	};
}
