import {mkdirSync, mkdtempSync, readlinkSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {BailiffError} from '../../core/errors.ts';
import {type Layer, resolvePlan} from '../../evidence/index.ts';
import {supervisorPath} from '../../native/index.ts';
import type {CommandRequest, SandboxVerdict} from '../outcome.ts';
import {type Probe, sound, wanting} from '../probe.ts';
import {startSupervisor} from '../supervisor.ts';
import {mendFor} from './mends.ts';
import {namespaceNames, type Observation, parseObservation} from './observation.ts';
import type {SandboxFacts} from './profile.ts';
import {openRunSandbox, type RunSandbox} from './sandbox.ts';

type Trial = {
	readonly observation: Observation | null;
	readonly verdict: SandboxVerdict | null;
	readonly problems: readonly string[];
	readonly hasEnded: boolean;
};

/**
 * Builds the default sandbox once, asks it what it holds, tries the forbidden inside and runs a command to its end.
 *
 * Changes nothing that outlasts the call. Source: S-DOC.
 */
export async function probeSandbox(): Promise<Probe[]> {
	const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'bailiff-doctor-')));
	try {
		return await probeIn(trialFacts(base));
	} catch (error) {
		if (!(error instanceof BailiffError)) {
			throw error;
		}

		const mend = error.code === 'RUN_SANDBOX_UNAVAILABLE' ? 'install bubblewrap 0.8 or later (apt-get install bubblewrap)' : mendFor(error.message);
		return [wanting('sandbox', 'fail', {seen: error.message, mend})];
	} finally {
		rmSync(base, {recursive: true, force: true});
	}
}

async function probeIn(facts: SandboxFacts): Promise<Probe[]> {
	const commands = trialCommands();
	const sandbox = await openRunSandbox({facts, commands, supervisor: realpathSync(supervisorPath())});
	try {
		const {tool} = sandbox;
		const trial = await tryOut(sandbox, facts);
		const found = sound(
			'bubblewrap',
			`${tool?.path ?? ''} ${tool?.version ?? ''}${tool?.setuid === true ? ' (set-user-ID)' : ''} sha256 ${tool?.sha256 ?? ''}`,
		);
		return [found, probeBuilding(trial), ...probeNamespaces(trial), ...probeLayers(trial, facts.userId), ...probeGuards(trial)];
	} finally {
		await sandbox.close();
	}
}

function trialFacts(base: string): SandboxFacts {
	const at = (name: string): string => {
		mkdirSync(path.join(base, name));
		return path.join(base, name);
	};
	const checkout = at('checkout');
	return {
		checkout,
		git: {dotGit: path.join(checkout, '.git'), commonDir: path.join(checkout, '.git'), alternates: []},
		root: at('root'),
		evidence: path.join(base, 'root/evidence'),
		install: at('install'),
		home: at('user'),
		environmentHome: path.join(base, 'user'),
		privateHome: at('home'),
		privateTmp: at('tmp'),
		emptyDirectory: at('empty'),
		secrets: [],
		userId: process.geteuid?.() ?? -1,
	};
}

function trialCommands(): ReturnType<typeof resolvePlan>['commands'] {
	return resolvePlan({
		schema: 'verification-plan/v3',
		owner: 'bailiff',
		repository: 'doctor',
		issue: 1,
		source_sha: '0'.repeat(40),
		commands: [{id: 'trial', argv: ['true'], timeout_seconds: 10, max_output_bytes: 0}],
	}).commands;
}

async function tryOut(sandbox: RunSandbox, facts: SandboxFacts): Promise<Trial> {
	const trial: {-readonly [Key in keyof Trial]: Trial[Key]} = {observation: null, verdict: null, problems: [], hasEnded: false};
	const [command] = trialCommands();
	const containment = command === undefined ? null : sandbox.prepare(command);
	if (containment === null || containment.sandbox === null) {
		return trial;
	}

	const {judge} = containment.sandbox;
	const request: CommandRequest = {
		executable: '/bin/sh',
		argv: ['sh', '-c', ':'],
		checkout: facts.checkout,
		cwd: '.',
		env: {},
		timeoutNs: 10_000_000_000n,
		leakTimeoutNs: null,
		maxOutputBytes: 0,
		streams: 'combined',
		limits: containment.limits,
		sandbox: {
			...containment.sandbox,
			judge(observed) {
				trial.observation = parseObservation(observed.parts);
				trial.verdict = judge(observed);
				return trial.verdict;
			},
		},
	};
	const supervisor = await startSupervisor();
	try {
		trial.problems = await supervisor.rehearse(request);
		const outcome = trial.problems.length === 0 ? await supervisor.run(request) : null;
		trial.hasEnded = outcome?.kind === 'ended' && outcome.status === 'completed' && outcome.waitStatus === 0 && outcome.sandbox?.quiet === true;
		return trial;
	} finally {
		await supervisor.close();
	}
}

function probeBuilding({problems, verdict, hasEnded}: Trial): Probe {
	const said = problems.join('; ').replace('; run "bailiff doctor"', '');
	if (verdict === null) {
		return wanting('sandbox', 'fail', {seen: said, mend: mendFor(said)});
	}

	if (problems.length > 0) {
		return wanting('sandbox', 'fail', {seen: said, mend: 'the lines below say which layer is wanting'});
	}

	return hasEnded
		? sound('sandbox', 'the default profile holds, and a command ran inside to its proven end')
		: wanting('sandbox', 'fail', {seen: 'a trial command did not end as it should inside', mend: 'see the other lines, and report it with them'});
}

function probeNamespaces({observation}: Trial): Probe[] {
	if (observation === null) {
		return [];
	}

	const shared = namespaceNames.filter(name => observation.namespaces[name] === readlinkSync(`/proc/self/ns/${name}`));
	return [
		shared.length === 0
			? sound('namespaces', `${namespaceNames.join(', ')}: each one apart`)
			: wanting('namespaces', 'fail', {seen: `shared with the host: ${shared.join(', ')}`, mend: 'reinstall bubblewrap, and look for a wrapper around it'}),
	];
}

const layerMends: Readonly<Record<Layer, string>> = {
	fs_write: 'mount namespaces or dropped capabilities are missing: see the line "sandbox"',
	fs_read: 'plans that must not read the host ask for "root": "minimal"',
	network: 'network namespaces or the filter are missing: see the line "sandbox"',
	pid: 'process namespaces are missing: see the line "sandbox"',
	env: 'the environment leaks into the sandbox: reinstall bubblewrap',
	memory: 'no cgroup with the memory controller can be written: run as root, or in a delegated cgroup (systemd-run --user --scope -p Delegate=yes)',
	processes: 'root is bound by a pids cgroup only: run as an ordinary user, or where a cgroup can be written',
	syscalls: 'the kernel must support seccomp filters (CONFIG_SECCOMP_FILTER)',
};
const softLayers: ReadonlySet<Layer> = new Set(['memory', 'processes']);

function probeLayers({verdict}: Trial, userId: number): Probe[] {
	const record = verdict?.record ?? null;
	if (record === null) {
		return [];
	}

	return (['fs_write', 'fs_read', 'network', 'pid', 'env', 'syscalls', 'memory', 'processes'] as const).map(layer => {
		const id = `sandbox-${layer.replace('_', '-')}`;
		const strength = record.layers[layer];
		const by = layer === 'memory' ? ` (${record.limits.memory_bytes})` : layer === 'processes' ? ` (${record.limits.processes})` : '';
		const isMet = strength === 'kernel' || layer === 'fs_read';
		const seen = `${strength}${by}${userId === 0 && layer === 'fs_read' ? ', as root' : ''}`;
		return isMet ? sound(id, seen) : wanting(id, softLayers.has(layer) ? 'warn' : 'fail', {seen, mend: layerMends[layer]});
	});
}

function probeGuards({observation}: Trial): Probe[] {
	if (observation === null) {
		return [];
	}

	const answer = (name: string): number => observation.probes.get(name) ?? 0;
	const open = ['remount', 'sysctl', 'vsock', 'io_uring', 'keyctl'].filter(name => answer(name) === 0);
	const guards =
		open.length === 0
			? sound('sandbox-guards', 'remount, sysctl, vsock, io_uring and keyctl are denied')
			: wanting('sandbox-guards', 'fail', {seen: `${open.join(', ')} worked inside`, mend: 'do not run commands here that you do not trust, and report it'});
	const version = answer('landlock');
	const landlock =
		version > 0
			? sound('landlock', `version ${version}`)
			: wanting('landlock', 'warn', {
					seen: 'not there',
					mend: 'named pipes of the host that everyone may write stay reachable: boot a kernel with Landlock, or ask for "root": "minimal"',
				});
	return [guards, landlock];
}
