import {mkdirSync, renameSync, symlinkSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import type {ExecutionContext} from 'ava';
import {type Layer, type Plan, resolvePlan} from '../../../evidence/index.ts';
import {supervisorPath} from '../../../native/index.ts';
import type {CommandOutcome, SandboxRequest, SandboxVerdict} from '../../../runner/outcome.ts';
import {assembleFilter} from '../../../runner/sandbox/bpf.ts';
import {openRunSandbox} from '../../../runner/sandbox/sandbox.ts';
import {auditArchitectures, filterArchitectures, highestSyscall} from '../../../runner/sandbox/syscalls.ts';
import {startSupervisor} from '../../../runner/supervisor.ts';
import {sandboxTest as test} from '../../helpers/sandbox-ability.ts';
import {createWorld, type World} from './world.ts';

// Each layer is taken out of the request in turn, behind the back of what judges: its record must flip, and what is required must refuse.
const userId = process.getuid?.() ?? 0;
const filterArchitecture = filterArchitectures.find(name => name === process.arch) ?? 'x64';

type Hook = (sandbox: SandboxRequest, world: World) => SandboxRequest;
type Result = {readonly outcome: CommandOutcome; readonly verdict: SandboxVerdict | null; readonly problems: readonly string[]};

async function runHooked(t: ExecutionContext, hook: Hook, options: {readonly require?: Layer[]; readonly limits?: Plan['limits']} = {}): Promise<Result> {
	const world = createWorld(userId);
	t.teardown(world.remove);
	const {facts} = world;
	const {commands} = resolvePlan({
		schema: 'verification-plan/v3',
		owner: 'owner',
		repository: 'repository',
		issue: 1,
		source_sha: '0'.repeat(40),
		commands: [{id: 'one', argv: ['/bin/true'], timeout_seconds: 10, max_output_bytes: 10}],
		sandbox: {mode: 'required', ...(options.require === undefined ? {} : {require: options.require})},
		...(options.limits === undefined ? {} : {limits: options.limits}),
	});
	const [command] = commands;
	if (command === undefined) {
		throw new Error('the plan has a command');
	}

	const supervisor = await startSupervisor();
	const sandbox = await openRunSandbox({facts, commands, supervisor: supervisorPath()});
	try {
		const containment = sandbox.prepare(command);
		if (containment.sandbox === null) {
			throw new Error('the command has a sandbox');
		}

		let verdict: SandboxVerdict | null = null;
		const {judge} = containment.sandbox;
		const hooked = hook(
			{
				...containment.sandbox,
				judge(observed) {
					verdict = judge(observed);
					return verdict;
				},
			},
			world,
		);
		const request = {
			executable: '/bin/true',
			argv: ['true'],
			checkout: facts.checkout,
			cwd: '.',
			env: {},
			timeoutNs: 10_000_000_000n,
			leakTimeoutNs: null,
			maxOutputBytes: 10,
			streams: 'combined',
			limits: containment.limits,
			sandbox: hooked,
		} as const;
		const problems = await supervisor.rehearse(request);
		return {outcome: await supervisor.run(request), verdict, problems};
	} finally {
		await sandbox.close();
		await supervisor.close();
	}
}

function without(...flags: string[]): Hook {
	return sandbox => ({...sandbox, argv: sandbox.argv.filter(argument => !flags.includes(argument))});
}

/** Takes a flag and the value behind it out. */
function withoutPair(flag: string): Hook {
	return sandbox => {
		const at = sandbox.argv.indexOf(flag);
		return {...sandbox, argv: sandbox.argv.toSpliced(at, 2)};
	};
}

/** Puts arguments in front of the filter's. */
function withMount(...args: string[]): Hook {
	return sandbox => ({...sandbox, argv: sandbox.argv.toSpliced(sandbox.argv.indexOf('--chdir'), 0, ...args)});
}

const resized: Hook = sandbox => ({...sandbox, argv: sandbox.argv.map(argument => (argument === '4194304' ? '8388608' : argument))});

const openFilter = assembleFilter({auditArch: auditArchitectures[filterArchitecture], highestNumber: highestSyscall, rules: []});

const rows: ReadonlyArray<readonly [title: string, layer: Layer, seen: string, hook: Hook]> = [
	['a root that is writable', 'fs_write', 'partial', withMount('--bind', '/usr', '/usr')],
	['a .git that is writable', 'fs_write', 'partial', (sandbox, world) => withMount('--bind', world.facts.git.dotGit, world.facts.git.dotGit)(sandbox, world)],
	['a network that is the host’s', 'network', 'none', without('--unshare-net')],
	['a filter that allows everything', 'syscalls', 'partial', sandbox => ({...sandbox, filter: openFilter})],
	['a filter that allows everything lets vsock through', 'network', 'partial', sandbox => ({...sandbox, filter: openFilter})],
	['no filter at all', 'syscalls', 'none', withoutPair('--seccomp')],
	['an environment that is set by bubblewrap', 'env', 'none', withMount('--setenv', 'SECRET', 'value')],
	...(userId === 0 ? [['capabilities that are kept', 'fs_write', 'partial', withoutPair('--cap-drop')] as const] : []),
];

for (const [title, layer, seen, hook] of rows) {
	test(`${title}: the record says ${layer} ${seen}, and nothing is started`, async t => {
		const {outcome, verdict, problems} = await runHooked(t, hook);
		t.is(verdict?.record?.layers[layer], seen as 'partial', JSON.stringify(problems));
		t.true(
			problems.some(problem => problem.includes(`the layer ${layer} is ${seen}`)),
			JSON.stringify(problems),
		);
		t.is(outcome.kind, 'internal');
	});
}

test('a process namespace that is the host’s is refused by the first process itself', async t => {
	const {problems, outcome} = await runHooked(t, without('--unshare-pid', '--as-pid-1'));
	t.true(problems.length > 0);
	t.is(outcome.kind, 'internal');
});

test('without anything taken out nothing is refused, and the same mounts give the same digest', async t => {
	const {outcome, problems, verdict} = await runHooked(t, sandbox => sandbox);
	t.deepEqual(problems, []);
	t.like(outcome, {kind: 'ended', status: 'completed', sandbox: {quiet: true, leftovers: 0}});
	t.is(verdict?.record?.layers.fs_read, 'partial');
});

test('a layer that is not required may be missing, and the record says so', async t => {
	const {outcome, verdict} = await runHooked(t, without('--unshare-net'), {require: ['fs_write', 'pid']});
	t.is(verdict?.record?.layers.network, 'none');
	t.is(verdict?.record?.network, 'host');
	t.like(outcome, {kind: 'ended', sandbox: {layers: {network: 'none'}}});
});

test('groups that are not joined flip memory and processes', async t => {
	const full = await runHooked(t, sandbox => sandbox);
	const hooked = await runHooked(t, sandbox => ({...sandbox, joinFiles: []}));
	const isBound = full.verdict?.record?.limits.memory_bytes.startsWith('cgroup') === true;
	t.is(hooked.verdict?.record?.layers.memory, 'none');
	t.is(full.verdict?.record?.layers.memory, isBound ? 'kernel' : 'none');
});

test('private directories of another size flip the limit of tmp, which refuses where it was asked for', async t => {
	const {verdict, problems} = await runHooked(t, resized, {limits: {tmp_bytes: 4_194_304}});
	t.is(verdict?.record?.limits.tmp_bytes, 'none');
	t.true(problems.includes('the limit tmp_bytes does not bind'));
});

test('a path that is swapped between the look and the mount is refused', async t => {
	const {problems} = await runHooked(t, (sandbox, world) => {
		const {checkout} = world.facts;
		renameSync(checkout, `${checkout}.gone`);
		mkdirSync(path.join(world.base, 'other/.git'), {recursive: true});
		symlinkSync(path.join(world.base, 'other'), checkout);
		return sandbox;
	});
	t.true(problems.length > 0);
	t.notDeepEqual(problems, []);
});
