import {accessSync, constants, readFileSync} from 'node:fs';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {loadNative, type NativeParts} from '../native/index.ts';
import type {CommandOutcome, CommandRequest} from './outcome.ts';
import {type Probe, sound, wanting} from './probe.ts';
import {startSupervisor} from './supervisor.ts';

const oldestNode = [20, 19] as const;
const build = 'run "make native" in the directory of bailiff; it needs a C compiler and make';

/**
 * Looks at everything that the runner needs of this machine, by doing it: platform, Node, native parts, custody, /proc and ps.
 *
 * Changes nothing that outlasts the call. Source: R-MECH-3, R-MECH-4, R-MECH-6.
 */
export async function probeRunner(): Promise<Probe[]> {
	const native = probeAddon();
	return [
		probeNode(process.versions.node),
		probePlatform(process.platform, process.arch),
		native.probe,
		...(native.parts === null ? [] : [probeSubreaper(native.parts), ...probeProcesses(native.parts)]),
		await probeSupervisor(),
		probeProcMount(readText('/proc/self/mountinfo') ?? ''),
		probeChildrenFile(),
		probeSshKeygen(['/usr/local/bin/ssh-keygen', '/usr/bin/ssh-keygen', '/bin/ssh-keygen'].find(isProgram) ?? null),
		probePs(['/usr/local/bin/ps', '/usr/bin/ps', '/bin/ps'].find(isProgram) ?? null),
	];
}

/** Node is at least 20.19. */
export function probeNode(version: string): Probe {
	const [major = 0, minor = 0] = version.split('.').map(Number);
	const isRecent = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
	return isRecent ? sound('node', version) : wanting('node', 'fail', {seen: version, mend: `install Node ${oldestNode.join('.')} or later`});
}

/** Custody rests on Linux. */
export function probePlatform(platform: string, arch: string): Probe {
	const seen = `${platform} ${arch}`;
	return platform === 'linux' ? sound('platform', seen) : wanting('platform', 'fail', {seen, mend: 'bailiff runs on Linux only: its custody rests on /proc'});
}

/** /proc as this process sees it shows everybody's processes (no hidepid), or custody cannot be witnessed. */
export function probeProcMount(mountInfo: string): Probe {
	const mount = mountInfo.split('\n').findLast(line => / \/proc [^ ]* (?:.*? )?- proc /.test(line));
	const hidden = mount === undefined ? null : (/\bhidepid=(\w+)/.exec(mount)?.[1] ?? null);
	if (mount === undefined) {
		return wanting('proc-mount', 'fail', {seen: 'no proc filesystem at /proc', mend: 'mount it: mount -t proc proc /proc'});
	}

	return hidden === null || hidden === '0' || hidden === 'off'
		? sound('proc-mount', 'everybody is visible')
		: wanting('proc-mount', 'fail', {
				seen: `mounted with hidepid=${hidden}`,
				mend: 'a process of another user would be invisible: mount -o remount,hidepid=0 /proc',
			});
}

/** ps is there: tree-kill asks it when a supervisor no longer answers. */
export function probePs(program: string | null): Probe {
	const mend = 'install procps; until then the descendants of a supervisor that hangs are found by the native addon alone';
	return program === null ? wanting('ps', 'warn', {seen: 'not found', mend}) : sound('ps', program);
}

/** ssh-keygen is there: it signs attestations. */
export function probeSshKeygen(program: string | null): Probe {
	return program === null
		? wanting('ssh-keygen', 'warn', {seen: 'not found', mend: 'install openssh-client; until then evidence cannot be signed or its signatures verified'})
		: sound('ssh-keygen', program);
}

function probeAddon(): {readonly probe: Probe; readonly parts: NativeParts | null} {
	try {
		return {parts: loadNative(), probe: sound('native-addon', 'loaded')};
	} catch (error) {
		return {parts: null, probe: wanting('native-addon', 'fail', {seen: messageOf(error), mend: build})};
	}
}

function probeSubreaper(native: NativeParts): Probe {
	const before = native.isSubreaper();
	try {
		native.setSubreaper(true);
		const isOn = native.isSubreaper();
		native.setSubreaper(before);
		return isOn
			? sound('subreaper', 'orphans come to bailiff')
			: wanting('subreaper', 'fail', {seen: 'not granted', mend: 'the kernel must allow PR_SET_CHILD_SUBREAPER'});
	} catch (error) {
		return wanting('subreaper', 'fail', {
			seen: messageOf(error),
			mend: 'the kernel must allow PR_SET_CHILD_SUBREAPER: look for a seccomp profile around bailiff',
		});
	}
}

function probeProcesses(native: NativeParts): Probe[] {
	try {
		const {unreadable} = native.scan({ancestors: [process.pid]});
		return [
			unreadable.length === 0
				? sound('proc-scan', 'every process can be read')
				: wanting('proc-scan', 'fail', {
						seen: `${unreadable.length} processes cannot be read`,
						mend: 'mount /proc without hidepid: mount -o remount,hidepid=0 /proc',
					}),
		];
	} catch (error) {
		return [wanting('proc-scan', 'fail', {seen: messageOf(error), mend: '/proc must be that of the pid namespace of bailiff: mount -t proc proc /proc'})];
	}
}

async function probeSupervisor(): Promise<Probe> {
	try {
		const supervisor = await startSupervisor();
		try {
			return custodyProbe(await supervisor.run(trialCommand));
		} finally {
			await supervisor.close();
		}
	} catch (error) {
		if (!(error instanceof BailiffError)) {
			throw error;
		}

		return wanting('supervisor', 'fail', {seen: error.message, mend: build});
	}
}

/** Ends at once by itself: what is tried is the custody around it. */
const trialCommand: CommandRequest = {
	executable: '/bin/sh',
	argv: ['sh', '-c', ':'],
	checkout: '/',
	cwd: '.',
	env: {PATH: '/usr/bin:/bin'},
	timeoutNs: 5_000_000_000n,
	leakTimeoutNs: null,
	maxOutputBytes: 0,
	streams: 'combined',
	limits: {openFiles: 256, memoryBytes: null, cpuSeconds: null, processes: null, fileSizeBytes: null},
};

function custodyProbe(outcome: CommandOutcome): Probe {
	if (outcome.kind === 'ended' && outcome.status === 'completed' && outcome.waitStatus === 0) {
		return sound('supervisor', 'ran a command to its proven end');
	}

	const seen =
		outcome.kind === 'ended'
			? `a trial command ended as ${outcome.status}, wait status ${outcome.waitStatus}`
			: `a trial command did not run (${outcome.kind})`;
	return wanting('supervisor', 'fail', {seen, mend: 'the proof of an empty process group failed here: see the other lines, and report it with them'});
}

function probeChildrenFile(): Probe {
	const file = `/proc/self/task/${process.pid}/children`;
	return readText(file) === null
		? wanting('proc-children', 'warn', {seen: `${file} is not there`, mend: 'a kernel with CONFIG_PROC_CHILDREN finds descendants faster'})
		: sound('proc-children', 'there');
}

function isProgram(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}

function readText(file: string): string | null {
	try {
		return readFileSync(file, 'utf8');
	} catch {
		return null;
	}
}

function messageOf(error: unknown): string {
	return error instanceof Error ? (errnoOf(error) === null ? error.message : `${error.message} (${errnoOf(error)})`) : String(error);
}
