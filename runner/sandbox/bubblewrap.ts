import {createHash} from 'node:crypto';
import {lstatSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {BailiffError} from '../../core/errors.ts';
import {spawnProgram} from '../spawn.ts';
import {innerSupervisor, type Mount} from './mounts.ts';
import {findPlace, isWithin} from './places.ts';
import type {ResolvedProfile} from './profile.ts';

/** The bubblewrap of this machine (shapes.ts: environment.sandbox.tool). */
export type SandboxTool = {readonly path: string; readonly version: string; readonly sha256: string; readonly setuid: boolean};

/** Debian's place first: AppArmor profiles that allow user namespaces name it by path. */
const candidates = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap'] as const;
const leastVersion = [0, 8] as const;

/** What may be tried instead of the usual places, and where the tool must not lie. */
export type ToolSearch = {readonly candidates?: readonly string[]; readonly untrusted: readonly string[]; readonly userId: number};

/**
 * Finds bubblewrap, looks at who could have changed it, asks it for its version and digests it.
 *
 * Refuses: RUN_SANDBOX_UNAVAILABLE where it is missing, older than 0.8, in a writable place, or not asked successfully; the message names the mend.
 * Source: S-MECH, S-PLAN-3.
 */
export async function findSandboxTool(search: ToolSearch): Promise<SandboxTool> {
	const tried = search.candidates ?? candidates;
	const place = tried.map(candidate => findPlace(candidate)).find(found => 'kind' in found);
	if (place === undefined || 'reason' in place || place.kind !== 'file') {
		throw unavailable(`bubblewrap is not installed (looked at ${tried.join(', ')}): apt-get install bubblewrap, or the same package of your distribution`);
	}

	const fault = ownershipFault(place.path, search);
	if (fault !== null) {
		throw unavailable(`${place.path} ${fault}: only a bubblewrap that commands cannot change is used`);
	}

	const version = await askVersion(place.path);
	const sha256 = createHash('sha256').update(readFileSync(place.path)).digest('hex');
	return {path: place.path, version, sha256, setuid: (lstatSync(place.path).mode & 0o4000) !== 0};
}

/** A fault of the file or of a directory above it: someone but its owner, root or we ourselves, could replace it. */
function ownershipFault(file: string, search: ToolSearch): string | null {
	if (search.untrusted.some(directory => isWithin(file, directory))) {
		return 'lies where commands may write';
	}

	for (let at = file; ; at = path.dirname(at)) {
		const {uid, mode} = lstatSync(at);
		const isShared = (mode & 0o022) !== 0 && (mode & 0o1000) === 0;
		if (isShared || (uid !== 0 && uid !== search.userId)) {
			return at === file ? 'can be changed by others' : `lies in ${at}, which others can change`;
		}

		if (at === '/') {
			return null;
		}
	}
}

async function askVersion(file: string): Promise<string> {
	const answer = await spawnProgram({
		file,
		args: ['--version'],
		cwd: '/',
		env: {},
		maxStdoutBytes: 4096,
		maxStderrBytes: 4096,
		timeoutMs: 5000,
		graceMs: 100,
	});
	const match = /^bubblewrap (\d+)\.(\d+)(?:\.\d+)*\s*$/.exec(answer.stdout.toString('utf8'));
	const version = match?.[0].trim().slice('bubblewrap '.length);
	if (answer.exitCode !== 0 || version === undefined) {
		throw unavailable(`${file} does not name its version as bubblewrap does`);
	}

	const [major, minor] = [Number(match?.[1]), Number(match?.[2])];
	if (major < leastVersion[0] || (major === leastVersion[0] && minor < leastVersion[1])) {
		throw unavailable(`${file} is bubblewrap ${version}, at least ${leastVersion.join('.')} is needed: upgrade the package`);
	}

	return version;
}

function unavailable(message: string): BailiffError {
	return new BailiffError('RUN_SANDBOX_UNAVAILABLE', message);
}

/** What the argument vector is made of. */
export type ArgumentPlan = {
	readonly profile: Pick<ResolvedProfile, 'network' | 'nested'>;
	readonly mounts: readonly Mount[];
	readonly userId: number;
	/** Where the supervisor opens the bytes of the filter; the protocol stays on 3 and 4, as outside. */
	readonly filterDescriptor: number;
};

/**
 * The argument vector of bubblewrap (argv[0] included) that ends in our own program as the first process.
 *
 * There is no --die-with-parent: a bubblewrap killed in its first milliseconds leaves its child waiting for ever; our program ends by the end of its control pipe instead.
 * There is no --clearenv or --setenv: bubblewrap itself is started with an empty environment, and the command's goes through the control pipe.
 * Source: S-MECH-1, S-MECH-2, S-MECH-6.
 */
export function sandboxArguments(plan: ArgumentPlan): string[] {
	const {profile} = plan;
	return [
		'bwrap',
		'--unshare-user',
		'--unshare-pid',
		'--unshare-ipc',
		'--unshare-uts',
		'--unshare-cgroup',
		...(profile.network === 'host' ? [] : ['--unshare-net']),
		...(profile.nested ? [] : ['--disable-userns']),
		'--cap-drop',
		'ALL',
		...(profile.nested && plan.userId === 0 ? ['--cap-add', 'CAP_SETFCAP'] : []),
		'--new-session',
		'--as-pid-1',
		...plan.mounts.flatMap(mount => mountArguments(mount)),
		'--chdir',
		'/',
		'--seccomp',
		String(plan.filterDescriptor),
		'--',
		innerSupervisor,
		'--init',
	];
}

function mountArguments(mount: Mount): string[] {
	if (mount.kind === 'bind') {
		return [mount.isWritable ? '--bind' : '--ro-bind', mount.source, mount.path];
	}

	if (mount.kind === 'tmpfs') {
		return ['--size', String(mount.maxBytes), '--tmpfs', mount.path];
	}

	return mount.kind === 'link' ? ['--symlink', mount.target, mount.path] : [mountFlags[mount.kind], mount.path];
}

const mountFlags = {dev: '--dev', proc: '--proc', freeze: '--remount-ro'} as const;
