import {BailiffError} from '../../core/errors.ts';
import type {Layer} from '../../evidence/index.ts';
import {absolutePath, findPlace, isWithin, linksTo, type Place, type PlaceLink, placeOrNull} from './places.ts';

/** What the run knows of this machine. Every path is absolute and resolved. */
export type SandboxFacts = {
	readonly checkout: string;
	/** The checkout's own .git, the common git directory (a mirror, or .git itself), and the object stores it borrows from. */
	readonly git: {readonly dotGit: string; readonly commonDir: string; readonly alternates: readonly string[]};
	/** bailiff's root and the evidence directory below it (which may not exist yet). */
	readonly root: string;
	readonly evidence: string;
	/** The directory of this bailiff. */
	readonly install: string;
	/** HOME of the user who runs bailiff, from the user database. */
	readonly home: string;
	/** HOME of bailiff's own environment, which programs may have filled instead; the same as `home` where there is no other. */
	readonly environmentHome: string;
	/** The private pair of this run (R-START-1). */
	readonly privateHome: string;
	readonly privateTmp: string;
	/** An empty directory that commands cannot reach: it stands for everything that is hidden. */
	readonly emptyDirectory: string;
	/** Never visible inside: profile directory, sensitive files. */
	readonly secrets: readonly string[];
	readonly userId: number;
};

/** A profile with every default filled in and every path resolved. */
export type ResolvedProfile = {
	readonly root: 'host-ro' | 'minimal';
	readonly read: readonly Place[];
	readonly write: readonly Place[];
	/** Links by which the plan names what it reads or writes. */
	readonly links: readonly PlaceLink[];
	/** Of the plan; bailiff's own secrets come on top. */
	readonly deny: readonly Place[];
	readonly git: 'readonly' | 'hidden';
	readonly network: 'none' | 'loopback' | 'host';
	readonly nested: boolean;
	readonly require: readonly Layer[];
};

/** A profile as a plan writes it, or with its defaults already in place. */
export type ProfileWish = {
	readonly filesystem?: {
		readonly root?: 'host-ro' | 'minimal';
		readonly read?: readonly string[];
		readonly write?: readonly string[];
		readonly deny?: readonly string[];
		readonly git?: 'readonly' | 'hidden';
	};
	readonly network?: 'none' | 'loopback' | 'host';
	readonly nested?: boolean;
	readonly require?: readonly Layer[];
};

type Problem = {readonly pointer: string; readonly message: string};

/** Always private inside, so that nothing of the host is ever shown or written there. */
export const privateDirectories = ['/tmp', '/var/tmp', '/run', '/dev/shm'] as const;

/** Where a writable mount would hand over the machine itself. */
export const systemDirectories = ['/bin', '/boot', '/dev', '/etc', '/lib', '/lib32', '/lib64', '/libx32', '/proc', '/run', '/sbin', '/sys', '/usr'] as const;
const defaultRequired = ['fs_write', 'network', 'pid', 'env', 'syscalls'] as const satisfies readonly Layer[];

/**
 * Fills in a profile of mode required and resolves its paths on this machine.
 *
 * Shape: deny wins over write, write over read, by the order of mounts (mounts.ts); a denied path that does not exist is left out.
 * Refuses: RUN_SANDBOX_PATH with every path at fault (`details.problems`), RUN_SANDBOX_UNMET for a layer that the profile itself switches off.
 * Source: S-PLAN, S-PLAN-1, shapes.ts: SandboxProfile.
 */
export function resolveProfile(profile: ProfileWish, facts: SandboxFacts): ResolvedProfile {
	const problems: Problem[] = [];
	const {filesystem = {}, network = 'loopback', nested = false} = profile;
	refuseSwitchedOff(profile.require ?? [], network);
	const {root = 'host-ro', read = [], write = ['.'], deny = [], git = 'readonly'} = filesystem;
	const readPlaces = resolveAll('read', read, {facts, problems});
	const writePlaces = resolveAll('write', write, {facts, problems});
	refuseProblems(problems);
	return {
		root,
		read: readPlaces,
		write: writePlaces,
		links: [...read, ...write].flatMap(written => linksTo(absolutePath(written, facts))),
		deny: deny.map(written => placeOrNull(absolutePath(written, facts))).filter(place => place !== null),
		git,
		network,
		nested,
		require: profile.require ?? requiredFor(network),
	};
}

function refuseSwitchedOff(required: readonly Layer[], network: ResolvedProfile['network']): void {
	if (network === 'host' && required.includes('network')) {
		throw new BailiffError(
			'RUN_SANDBOX_UNMET',
			'the profile requires the layer network and shares the network of the host: take one of the two out of the plan',
		);
	}
}

function requiredFor(network: ResolvedProfile['network']): Layer[] {
	return defaultRequired.filter(layer => layer !== 'network' || network !== 'host');
}

function refuseProblems(problems: readonly Problem[]): void {
	if (problems.length > 0) {
		const lines = problems.map(({pointer, message}) => `${pointer}: ${message}`);
		throw new BailiffError('RUN_SANDBOX_PATH', `the sandbox cannot be built as the plan asks: ${lines.join('; ')}`, {
			details: {problems: problems.map(problem => ({...problem}))},
		});
	}
}

function resolveAll(list: 'read' | 'write', written: readonly string[], context: {readonly facts: SandboxFacts; readonly problems: Problem[]}): Place[] {
	const places: Place[] = [];
	for (const [index, entry] of written.entries()) {
		const found = findPlace(absolutePath(entry, context.facts));
		const reason = 'reason' in found ? found.reason : list === 'write' ? writeFault(found.path, context.facts) : readFault(found.path);
		if (reason !== null) {
			context.problems.push({pointer: `/sandbox/filesystem/${list}/${index}`, message: `${JSON.stringify(entry)} ${reason}`});
		} else if (!('reason' in found)) {
			places.push(found);
		}
	}

	// Parents first: a place inside another is mounted on top of it.
	return places.toSorted((left, right) => left.path.split('/').length - right.path.split('/').length);
}

function readFault(real: string): string | null {
	if (privateDirectories.some(directory => isWithin(directory, real))) {
		return real === '/' ? 'is the whole machine: root "host-ro" shows it without its private parts' : 'is private inside, or holds what is';
	}

	return ['/proc', '/dev'].some(directory => isWithin(real, directory)) ? 'belongs to the sandbox itself' : null;
}

function writeFault(real: string, facts: SandboxFacts): string | null {
	const guarded: ReadonlyArray<readonly [place: string, name: string]> = [
		[facts.home, 'the home directory'],
		[facts.root, 'the root of bailiff'],
		[facts.evidence, 'the evidence directory'],
		[facts.git.commonDir, 'the git directory'],
		[facts.install, 'the installation of bailiff'],
		...facts.git.alternates.map(store => [store, 'a store of git objects'] as const),
	];
	if (real === '/') {
		return 'is the whole machine';
	}

	for (const [place, name] of guarded) {
		// The git directory of a plain clone lies in its checkout and is mounted read-only on top of it.
		const isOwnGit = isWithin(place, facts.git.dotGit);
		if (isWithin(place, real) && !isOwnGit) {
			return `is ${name} or holds it`;
		}
	}

	for (const [place, name] of guarded.slice(2)) {
		if (isWithin(real, place)) {
			return `lies in ${name}`;
		}
	}

	return systemFault(real);
}

function systemFault(real: string): string | null {
	if (privateDirectories.some(directory => isWithin(directory, real))) {
		return 'is private inside, or holds what is';
	}

	// What is bound below the private /dev/shm is the checkout's own, as below /tmp.
	const isShared = isWithin(real, '/dev/shm');
	return !isShared && systemDirectories.some(directory => isWithin(real, directory)) ? 'belongs to the system: choose a place elsewhere' : null;
}
