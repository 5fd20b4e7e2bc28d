import {dirname} from 'node:path';
import type {HostView} from './host-view.ts';
import {isWithin, type Place, placeOrNull} from './places.ts';
import {type ResolvedProfile, type SandboxFacts, systemDirectories} from './profile.ts';

/** One step in the building of the root, in the order in which they are taken: a later one covers an earlier one. */
export type Mount =
	| {readonly kind: 'bind'; readonly path: string; readonly source: string; readonly isWritable: boolean}
	| {readonly kind: 'tmpfs'; readonly path: string; readonly maxBytes: number}
	| {readonly kind: 'link'; readonly path: string; readonly target: string}
	| {readonly kind: 'dev'; readonly path: '/dev'}
	| {readonly kind: 'proc'; readonly path: '/proc'}
	| {readonly kind: 'freeze'; readonly path: string};

/** What besides the profile decides about the mounts. */
export type MountPlan = {
	readonly profile: ResolvedProfile;
	readonly facts: SandboxFacts;
	readonly view: HostView;
	/** Of each private directory. */
	readonly tmpBytes: number;
	/** Our own program, the first process inside. */
	readonly supervisor: string;
};

/** Where our own program stands inside: on a private file system, so that no mount point is made in a tree of the host. */
export const innerSupervisor = '/run/bailiff-supervisor';

/** A directory that only hides what is below it: its mount points cost inodes, not bytes. */
const hidingBytes = 65_536;

/**
 * The mounts of a profile, in order.
 *
 * Order: root, devices, /proc and its guards, private directories, hidden homes and root of bailiff, read, write, pins, git, deny, our own program, sockets, freezes.
 * Source: S-PLAN, S-PLAN-1, S-MECH-1.
 */
export function planMounts(plan: MountPlan): Mount[] {
	const {profile, facts, view} = plan;
	const mounts: Mount[] = [...rootMounts(plan), ...deviceMounts(plan), ...processMounts(view)];
	for (const path of view.privateDirectories) {
		mounts.push({kind: 'tmpfs', path, maxBytes: plan.tmpBytes});
	}

	const shown = shownMounts(plan);
	const inside = [...shown, ...profile.links];
	const hidden = hiddenDirectories(plan).map(path => (inside.some(one => isWithin(one.path, path)) ? cover(path) : hide({path, kind: 'directory'}, facts)));
	mounts.push(...hidden, ...shown);
	mounts.push(...profile.links.filter(link => isPrivate(mounts, link.path)).map(link => ({kind: 'link', ...link}) as const));
	const denied = [...profile.deny, ...secretPlaces(plan)].filter(place => isVisible(mounts, place.path));
	const sockets = view.sockets.filter(path => isVisible(mounts, path));
	mounts.push(...pins(profile.write, [facts.git.dotGit, ...denied.map(place => place.path), ...sockets]));
	mounts.push(...gitGuards(plan, mounts));
	mounts.push(...denied.map(place => hide(place, facts)));
	mounts.push({kind: 'bind', path: innerSupervisor, source: plan.supervisor, isWritable: false});
	mounts.push(...sockets.filter(path => isVisible(mounts, path)).map(path => hide({path, kind: 'file'}, facts)));
	mounts.push(...hidden.filter(mount => mount.kind === 'tmpfs').map(({path}) => ({kind: 'freeze', path}) as const));
	return profile.root === 'minimal' ? [...mounts, {kind: 'freeze', path: '/'}] : mounts;
}

/**
 * Every directory between a writable place and something guarded in it, mounted on itself: a mount point cannot be renamed, a directory that merely holds one can.
 * Otherwise a command moves the guarded away with its directory and leaves a decoy, on which the next command's guard, or the git of the host, then falls.
 */
function pins(writable: readonly Place[], guarded: readonly string[]): Mount[] {
	const directories = guarded.flatMap(path => {
		const outermost = writable.find(place => isWithin(path, place.path));
		return outermost === undefined ? [] : directoriesBetween(outermost.path, path);
	});
	return [...new Set(directories)].toSorted((left, right) => left.length - right.length).map(path => bind(path, true));
}

/** The directories above `inner` that lie below `outer`; neither of the two is among them. */
function directoriesBetween(outer: string, inner: string): string[] {
	const between: string[] = [];
	for (let at = dirname(inner); at !== outer && isWithin(at, outer); at = dirname(at)) {
		between.push(at);
	}

	return between;
}

/** True where a private file system is what one sees at this path. */
function isPrivate(mounts: readonly Mount[], path: string): boolean {
	return mounts.findLast(mount => isWithin(path, mount.path))?.kind === 'tmpfs';
}

/** What of the host is shown on top of what is hidden: read first, then what may be written. */
function shownMounts(plan: MountPlan): Mount[] {
	const {profile, facts, view} = plan;
	const isCheckoutWritable = profile.write.some(place => isWithin(facts.checkout, place.path));
	return [
		...gitSources(plan).map(place => bind(place.path, false)),
		...view.networkFiles.map(path => bind(path, false)),
		...profile.read.map(place => bind(place.path, false)),
		...(isCheckoutWritable ? [] : [bind(facts.checkout, false)]),
		...profile.write.map(place => bind(place.path, true)),
		bind(facts.privateHome, true),
		bind(facts.privateTmp, true),
	];
}

/** True where a path of the host is seen inside after these mounts. */
export function isVisible(mounts: readonly Mount[], path: string): boolean {
	const top = mounts.findLast(mount => mount.kind !== 'freeze' && isWithin(path, mount.path));
	return top !== undefined && (top.kind === 'link' || (top.kind === 'bind' && top.source === top.path));
}

function rootMounts({profile, view}: MountPlan): Mount[] {
	if (profile.root === 'host-ro') {
		return [bind('/', false)];
	}

	const links = view.systemLinks.map(({path, target}) => ({kind: 'link', path, target}) as const);
	return [...view.systemDirectories.map(path => bind(path, false)), ...links, ...view.loaderFiles.map(path => bind(path, false))];
}

/** The private /dev would be an unbounded place to write to: it is frozen, its own /dev/shm is not. */
function deviceMounts({tmpBytes}: MountPlan): Mount[] {
	return [
		{kind: 'dev', path: '/dev'},
		{kind: 'tmpfs', path: '/dev/shm', maxBytes: tmpBytes},
		{kind: 'freeze', path: '/dev'},
	];
}

/** As root, what /proc holds beside processes stays that of the host and writable without any capability. */
function processMounts(view: HostView): Mount[] {
	return [{kind: 'proc', path: '/proc'}, ...view.processReadonly.map(path => bind(path, false))];
}

function hiddenDirectories({profile, facts, view}: MountPlan): string[] {
	const homes = directoriesAt([facts.home, facts.environmentHome, '/root', '/home']).filter(isOwnHome);
	const others = directoriesAt([facts.root, ...facts.secrets, ...view.unreachable]);
	const paths = [...new Set([...homes, ...others])].filter(path => path !== '/');
	const isCovered = (path: string): boolean =>
		view.privateDirectories.some(directory => isWithin(path, directory)) || paths.some(other => other !== path && isWithin(path, other));
	return profile.root === 'minimal' ? [] : paths.filter(path => !isCovered(path));
}

function directoriesAt(candidates: readonly string[]): string[] {
	return candidates.flatMap(candidate => {
		const place = placeOrNull(candidate);
		return place?.kind === 'directory' ? [place.path] : [];
	});
}

/** The home of some accounts is a directory of the system, without which nothing runs. */
function isOwnHome(path: string): boolean {
	return !systemDirectories.some(directory => isWithin(path, directory));
}

function secretPlaces({facts, view}: MountPlan): Place[] {
	return [...facts.secrets, ...view.systemSecrets, facts.evidence].map(candidate => placeOrNull(candidate)).filter(place => place !== null);
}

function gitSources({profile, facts}: MountPlan): Place[] {
	if (profile.git === 'hidden') {
		return [];
	}

	return [facts.git.commonDir, ...facts.git.alternates].map(candidate => placeOrNull(candidate)).filter(place => place !== null);
}

/** On top of the writable checkout: otherwise the git of the host runs what a command planted. */
function gitGuards({profile, facts}: MountPlan, mounts: readonly Mount[]): Mount[] {
	const dotGit = placeOrNull(facts.git.dotGit);
	const guards: Mount[] = [];
	if (dotGit !== null) {
		guards.push(profile.git === 'readonly' ? bind(dotGit.path, false) : hide(dotGit, facts));
	}

	const common = placeOrNull(facts.git.commonDir);
	if (profile.git === 'hidden' && common !== null && common.path !== dotGit?.path && isVisible(mounts, common.path)) {
		guards.push(hide(common, facts));
	}

	return guards;
}

function bind(path: string, isWritable: boolean): Mount {
	return {kind: 'bind', path, source: path, isWritable};
}

/** An empty private directory in which mount points can be made; it is frozen at the end. */
function cover(path: string): Mount {
	return {kind: 'tmpfs', path, maxBytes: hidingBytes};
}

/** Something empty on top: each private file system costs more than all other mounts together. */
function hide(place: Pick<Place, 'path' | 'kind'>, facts: SandboxFacts): Mount {
	return {kind: 'bind', path: place.path, source: place.kind === 'directory' ? facts.emptyDirectory : '/dev/null', isWritable: false};
}
