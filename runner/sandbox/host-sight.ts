import {readFileSync, readlinkSync, statSync} from 'node:fs';
import {loadNative} from '../../native/index.ts';
import {type NamespaceName, namespaceNames, parseNamespaces} from './observation.ts';
import type {HostSight} from './observe.ts';
import type {Place} from './places.ts';

/** What is looked at from the host, while the first process inside holds. */
export type SightQuery = {
	/** The pid of bubblewrap. */
	readonly bubblewrap: number;
	readonly memberships: readonly string[];
	/** Places as they were validated. */
	readonly places: readonly Place[];
};

/** Looks at the first process inside from outside, through the kernel's own files about it. Never throws: what cannot be seen is null, false or swapped. */
export function lookFromHost(query: SightQuery): HostSight {
	const first = firstInside(query.bubblewrap);
	return {
		ownNamespaces: readNamespaces('self') ?? parseNamespaces(''),
		namespaces: first === null ? null : readNamespaces(String(first)),
		isInGroups: first !== null && isMember(first, query.memberships),
		swapped: query.places.filter(place => first === null || !isSamePlace(first, place)).map(place => place.path),
	};
}

/** The only child of bubblewrap. */
function firstInside(bubblewrap: number): number | null {
	try {
		const children = readFileSync(`/proc/${bubblewrap}/task/${bubblewrap}/children`, 'utf8').trim().split(' ');
		return children.length === 1 && children[0] !== '' ? Number(children[0]) : null;
	} catch {
		// Kernels without that file: the scan knows it as well.
		return (
			loadNative()
				.scan({ancestors: [bubblewrap]})
				.rows.find(row => row.ppid === bubblewrap)?.pid ?? null
		);
	}
}

function readNamespaces(process: string): Record<NamespaceName, string> | null {
	try {
		return parseNamespaces(namespaceNames.map(name => readlinkSync(`/proc/${process}/ns/${name}`)).join('\n'));
	} catch {
		return null;
	}
}

function isMember(pid: number, memberships: readonly string[]): boolean {
	try {
		const lines = readFileSync(`/proc/${pid}/cgroup`, 'utf8')
			.split('\n')
			.map(line => line.split(':').slice(2).join(':'));
		return memberships.every(membership => lines.includes(membership));
	} catch {
		return false;
	}
}

function isSamePlace(pid: number, place: Place): boolean {
	try {
		const stats = statSync(`/proc/${pid}/root${place.path}`, {bigint: true});
		return stats.dev === place.device && stats.ino === place.inode;
	} catch {
		return false;
	}
}
