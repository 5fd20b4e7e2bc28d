import {existsSync} from 'node:fs';
import type {Target} from '../../core/ids.ts';
import {defaultPath, type Plan, type PlanCommand, type SandboxProfile} from '../../evidence/plan-schema.ts';
import {privateDirectories} from '../../runner/sandbox/profile.ts';
import type {FoundCommand} from './found-command.ts';
import {findCommands} from './project-commands.ts';
import {type FoundTool, findTool, isInside, type ToolSearch, toolchainRoot} from './toolchain.ts';

/** What a first plan is made from. */
export type FirstPlanRequest = {
	readonly target: Target;
	readonly sourceSha: string;
	readonly search: ToolSearch;
	/** The caller's home, which a sandbox hides; null where there is none. */
	readonly home: string | null;
	/** Whether runs can be sandboxed; without it the plan says off, openly. */
	readonly hasSandbox: boolean;
};

/** A first plan, or null where nothing that is known was found; the notes say what a person should know. */
export type FirstPlan = {readonly plan: Plan | null; readonly notes: readonly string[]};

const maxOutputBytes = 1_048_576;

/**
 * A first plan for a checkout: every command that the known project files offer and whose tools are found, with the PATH that finds them.
 *
 * Source: R-PLAN-7.
 */
export function createFirstPlan(request: FirstPlanRequest): FirstPlan {
	const offered = findCommands(request.search.files);
	const tools = findTools(offered, request.search);
	const usable = offered.filter(({argv, helpers}) => [argv[0] ?? '', ...helpers].every(name => tools.has(name)));
	const notes = offered
		.filter(command => !usable.includes(command))
		.map(({argv, from, helpers}) => {
			const missing = [argv[0] ?? '', ...helpers].filter(name => !tools.has(name));
			return `${from} offers "${argv.join(' ')}", but ${missing.join(' and ')} cannot be found behind PATH: left out`;
		});
	if (usable.length === 0) {
		return {plan: null, notes};
	}

	const directories = usable.flatMap(({argv, helpers}) => [argv[0] ?? '', ...helpers]).flatMap(name => tools.get(name)?.directory ?? []);
	const read = [...new Set(directories.filter(directory => isHidden(directory, request.home)).map(directory => toolchainRoot(directory, request.home)))];
	const commands = usable.map(command => toPlanCommand(command, {read, hasSandbox: request.hasSandbox}));
	const plan: Plan = {
		schema: 'verification-plan/v3',
		owner: request.target.owner,
		repository: request.target.repository,
		issue: request.target.issue,
		source_sha: request.sourceSha,
		path: planPath(directories),
		sandbox: request.hasSandbox ? sandboxFor(read) : {mode: 'off'},
		commands,
	};
	return {plan, notes};
}

function findTools(commands: readonly FoundCommand[], search: ToolSearch): ReadonlyMap<string, FoundTool> {
	const names = new Set(commands.flatMap(({argv, helpers}) => [argv[0] ?? '', ...helpers]));
	const found = [...names].flatMap(name => findTool(name, search) ?? []);
	return new Map(found.map(tool => [tool.name, tool]));
}

/** Directories of the tools first, where the default has them not, then those of the default that exist here. */
function planPath(directories: readonly string[]): string {
	const usual = defaultPath.split(':').filter(directory => existsSync(directory));
	return [...new Set([...directories.filter(directory => !usual.includes(directory)), ...usual])].join(':');
}

function toPlanCommand(command: FoundCommand, options: {readonly read: readonly string[]; readonly hasSandbox: boolean}): PlanCommand {
	return {
		id: command.id,
		argv: [...command.argv],
		timeout_seconds: command.timeoutSeconds,
		max_output_bytes: maxOutputBytes,
		...(options.hasSandbox && command.needsNetwork ? {sandbox: {...sandboxFor(options.read), network: 'host' as const}} : {}),
	};
}

function sandboxFor(read: readonly string[]): SandboxProfile {
	return {mode: 'required', ...(read.length > 0 ? {filesystem: {read: [...read]}} : {})};
}

/** The sandbox hides the caller's home, /root and /home, and has temporary directories of its own. Source: S-PLAN. */
function isHidden(directory: string, home: string | null): boolean {
	return [home, '/root', '/home', ...privateDirectories].some(hidden => hidden !== null && isInside(directory, hidden));
}
