import {existsSync, realpathSync} from 'node:fs';
import {BailiffError} from '../../core/errors.ts';
import type {Limits, ResolvedLimits, ResolvedSandbox} from '../../evidence/index.ts';
import type {CommandRequest, ResourceLimits, SandboxRequest, Supervisor} from '../outcome.ts';
import {findAliases, refuseAliases} from './aliases.ts';
import {findSandboxTool, type SandboxTool, sandboxArguments} from './bubblewrap.ts';
import {openRunCgroup, type RunCgroup} from './cgroup.ts';
import {lookFromHost} from './host-sight.ts';
import {type HostView, readHostView} from './host-view.ts';
import {defaultLimits, type LimitPlan, planLimits} from './limits.ts';
import {isVisible, type Mount, planMounts} from './mounts.ts';
import {parseObservation} from './observation.ts';
import {judgeObservation} from './observe.ts';
import {placeOrNull} from './places.ts';
import {type ResolvedProfile, resolveProfile, type SandboxFacts} from './profile.ts';
import {createFilter} from './seccomp.ts';
import {filterArchitectures} from './syscalls.ts';

export type {SandboxTool} from './bubblewrap.ts';

/** The part of a resolved command that decides about its sandbox. */
export type SandboxedCommand = {readonly sandbox: ResolvedSandbox; readonly limits: ResolvedLimits};

/** How one command is started: in which sandbox (null with mode off), and with which rlimits. */
export type Containment = {readonly sandbox: SandboxRequest | null; readonly limits: ResourceLimits};

/** The sandbox of one run. */
export type RunSandbox = {
	/** For the manifest; null where no command of the plan asks for a sandbox. */
	readonly tool: SandboxTool | null;
	/**
	 * Makes ready for the next command. Commands come one after the other.
	 *
	 * Refuses: RUN_SANDBOX_PATH, RUN_SANDBOX_LIMIT, RUN_SANDBOX_UNMET.
	 */
	readonly prepare: (command: SandboxedCommand) => Containment;
	/** Whether a path of the host, through all of its links, is seen by this command. Always true with mode off. */
	readonly shows: (command: SandboxedCommand, path: string) => boolean;
	/**
	 * Builds each different sandbox of the plan once and lets it be judged, before anything starts (S-PLAN-3).
	 *
	 * Refuses: RUN_SANDBOX_UNMET with every reason; what `prepare` refuses.
	 */
	readonly rehearse: (supervisor: Pick<Supervisor, 'rehearse'>, commands: readonly SandboxedCommand[]) => Promise<void>;
	/** Removes the control groups; false where something is left. */
	readonly close: () => Promise<boolean>;
};

/** What the run hands in. */
export type RunSandboxOptions = {
	readonly facts: SandboxFacts;
	readonly commands: readonly SandboxedCommand[];
	/** Our native program, absolute and resolved. */
	readonly supervisor: string;
	/** Where to look for bubblewrap; for tests that put another in its place. */
	readonly toolCandidates?: readonly string[];
};

/** The descriptor on which the supervisor hands the filter to bubblewrap (native/src/supervisor/supervisor.h). */
const filterDescriptor = 5;

/**
 * Finds what the sandboxes of a plan need and refuses what cannot be met, before anything starts.
 *
 * Refuses: RUN_SANDBOX_UNAVAILABLE, RUN_SANDBOX_PATH, RUN_SANDBOX_LIMIT, RUN_SANDBOX_ALIAS, RUN_SANDBOX_UNMET.
 * Source: S-PLAN, S-MECH.
 */
export async function openRunSandbox(options: RunSandboxOptions): Promise<RunSandbox> {
	const {facts, commands} = options;
	const sandboxed = commands.filter(command => command.sandbox.mode === 'required');
	if (sandboxed.length === 0) {
		return unconfined(facts.userId, commands);
	}

	const candidates = options.toolCandidates === undefined ? {} : {candidates: options.toolCandidates};
	const tool = await findSandboxTool({untrusted: [facts.checkout, facts.root, facts.privateHome, facts.privateTmp], userId: facts.userId, ...candidates});
	const profiles = new Map(sandboxed.map(({sandbox}) => [JSON.stringify(sandbox), resolveProfile(sandbox, facts)]));
	const writable = [...profiles.values()].flatMap(profile => profile.write);
	const aliases = findAliases(writable, {except: facts.git.dotGit, userId: facts.userId});
	refuseAliases(aliases);
	const cgroup = await openRunCgroup();
	const maker = new ContainmentMaker({options, tool, profiles, cgroup, sockets: aliases.sockets});
	try {
		for (const command of commands) {
			maker.planLimits(command);
		}
	} catch (error) {
		await cgroup.remove();
		throw error;
	}

	return {
		tool,
		prepare: command => maker.prepare(command),
		shows: (command, path) => maker.shows(command, path),
		async rehearse(supervisor, all) {
			await rehearseAll(supervisor, all, {maker, facts});
		},
		close: async () => cgroup.remove(),
	};
}

function unconfined(userId: number, commands: readonly SandboxedCommand[]): RunSandbox {
	const cgroup = {memory: null, processes: null};
	const prepare = (command: SandboxedCommand): Containment => ({
		sandbox: null,
		limits: planLimits(askedLimits(command.limits), {mode: 'off', userId, cgroup}).resource,
	});
	for (const command of commands) {
		prepare(command);
	}

	return {tool: null, prepare, shows: () => true, rehearse: async () => undefined, close: async () => true};
}

function askedLimits(limits: ResolvedLimits): Limits {
	const entries = limits.asked.map(name => [name, limits[name]] as const).filter(([, value]) => value !== null);
	return Object.fromEntries(entries);
}

type MakerParts = {
	readonly options: RunSandboxOptions;
	readonly tool: SandboxTool;
	readonly profiles: ReadonlyMap<string, ResolvedProfile>;
	readonly cgroup: RunCgroup;
	readonly sockets: readonly string[];
};

class ContainmentMaker {
	readonly #parts: MakerParts;

	constructor(parts: MakerParts) {
		this.#parts = parts;
	}

	planLimits({sandbox, limits}: SandboxedCommand): LimitPlan {
		const {options, cgroup} = this.#parts;
		const abilities = sandbox.mode === 'required' ? cgroup.abilities : {memory: null, processes: null};
		return planLimits(askedLimits(limits), {mode: sandbox.mode, userId: options.facts.userId, cgroup: abilities});
	}

	prepare(command: SandboxedCommand): Containment {
		const {cgroup} = this.#parts;
		const limits = this.planLimits(command);
		if (command.sandbox.mode === 'off') {
			return {sandbox: null, limits: limits.resource};
		}

		if (!cgroup.setLimits(limits.cgroup)) {
			throw new BailiffError('RUN_SANDBOX_LIMIT', 'the kernel did not take the limits of the control group: run "bailiff doctor"');
		}

		return {sandbox: this.#request(this.#profile(command), limits, askedLimits(command.limits)), limits: limits.resource};
	}

	shows(command: SandboxedCommand, path: string): boolean {
		if (command.sandbox.mode === 'off') {
			return true;
		}

		const mounts = this.#mounts(this.#profile(command), defaultLimits.tmp_bytes).mounts;
		return isVisible(mounts, path) && isVisible(mounts, realpathSync(path));
	}

	#profile(command: SandboxedCommand): ResolvedProfile {
		return this.#parts.profiles.get(JSON.stringify(command.sandbox)) ?? resolveProfile(command.sandbox, this.#parts.options.facts);
	}

	#mounts(profile: ResolvedProfile, tmpBytes: number): {readonly view: HostView; readonly mounts: readonly Mount[]} {
		const {facts, supervisor} = this.#parts.options;
		const view = this.#view(profile);
		return {view, mounts: planMounts({profile, facts, view, tmpBytes, supervisor})};
	}

	#request(profile: ResolvedProfile, limits: LimitPlan, asked: Limits): SandboxRequest {
		const {options, tool, cgroup} = this.#parts;
		const {facts} = options;
		const {view, mounts} = this.#mounts(profile, limits.tmpBytes);
		const writable = [...profile.write.map(place => place.path), facts.privateHome, facts.privateTmp, ...view.privateDirectories];
		const dotGit = placeOrNull(facts.git.dotGit);
		const joinFiles = limits.cgroup.memoryBytes === null && limits.cgroup.processes === null ? [] : cgroup.joinFiles;
		const filter = createFilter({
			architecture: architecture(),
			network: profile.network,
			nested: profile.nested,
			isRoot: facts.userId === 0,
			hasGroups: facts.userId === 0 || cgroup.joinFiles.length > 0,
		});
		return {
			program: tool.path,
			argv: sandboxArguments({profile, mounts, userId: facts.userId, filterDescriptor}),
			joinFiles,
			filter: filter.bytes,
			isLandlocked: !profile.nested,
			writable: [...writable, '/dev', '/proc'],
			judge: ({parts, bubblewrap}) =>
				judgeObservation(parseObservation(parts), {
					...profile,
					userId: facts.userId,
					writable,
					places: profile.write.map(place => place.path),
					gitGuard: profile.git === 'readonly' ? (dotGit?.path ?? null) : null,
					asked,
					how: limits.how,
					tmpBytes: limits.tmpBytes,
					filterSha256: filter.sha256,
					host: lookFromHost({bubblewrap, memberships: joinFiles.length === 0 ? [] : cgroup.memberships, places: profile.write}),
				}),
		};
	}

	#view(profile: ResolvedProfile): HostView {
		const view = readHostView({userId: this.#parts.options.facts.userId, network: profile.network, root: profile.root});
		return {...view, sockets: [...new Set([...view.sockets, ...this.#parts.sockets.filter(socket => existsSync(socket))])]};
	}
}

function architecture(): (typeof filterArchitectures)[number] {
	const known = filterArchitectures.find(name => name === process.arch);
	if (known === undefined) {
		throw new BailiffError(
			'RUN_SANDBOX_UNAVAILABLE',
			`there is no table of system calls for ${process.arch}: only ${filterArchitectures.join(' and ')} are known`,
		);
	}

	return known;
}

async function rehearseAll(
	supervisor: Pick<Supervisor, 'rehearse'>,
	commands: readonly SandboxedCommand[],
	context: {readonly maker: ContainmentMaker; readonly facts: SandboxFacts},
): Promise<void> {
	const different = new Map(
		commands.filter(({sandbox}) => sandbox.mode === 'required').map(command => [JSON.stringify([command.sandbox, command.limits]), command]),
	);
	for (const command of different.values()) {
		const problems = await supervisor.rehearse(rehearsal(context.facts, context.maker.prepare(command)));
		if (problems.length > 0) {
			throw new BailiffError('RUN_SANDBOX_UNMET', `the sandbox cannot be had here as the plan asks: ${problems.join('; ')}`, {
				details: {problems: [...problems]},
			});
		}
	}
}

/** A command that is never started. */
function rehearsal(facts: SandboxFacts, {sandbox, limits}: Containment): CommandRequest {
	return {
		executable: '/',
		argv: ['rehearsal'],
		checkout: facts.checkout,
		cwd: '.',
		env: {},
		timeoutNs: 1_000_000_000n,
		leakTimeoutNs: null,
		maxOutputBytes: 0,
		streams: 'combined',
		limits,
		sandbox,
	};
}
