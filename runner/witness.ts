import {setTimeout as sleep} from 'node:timers/promises';
import type {Clock} from '../core/clock.ts';
import type {NativeParts, ProcessRow, ReapedChild} from '../native/index.ts';
import {isStartedHere} from './spawn.ts';

/** Whom the witness looks for: the command's group and session (the leader's pid; null before it is known) and the descent of its supervisor. */
export type Suspects = {readonly leader: number | null; readonly supervisor: number};

/** What the witness saw. `isUnreadable`: nothing is proved. */
export type Testimony = {readonly alive: readonly ProcessRow[]; readonly isUnreadable: boolean};

const sigkill = 9;
/** After KILL everything has half a second and a tenth to be gone (R-END-2); nobody else is there to do it. */
const endingNs = 600_000_000n;
const stepMs = 2;

/**
 * Looks into /proc from outside the supervisor: who of group, session and descent lives (R-MECH-3). Never throws: what cannot be read is no proof.
 */
export function testify(native: NativeParts, suspects: Suspects): Testimony {
	const own = suspects.leader === null ? [] : [suspects.leader];
	try {
		const result = native.scan({groups: own, sessions: own, ancestors: [suspects.supervisor]});
		return {alive: result.rows.filter(row => row.isLive && row.pid !== suspects.supervisor), isUnreadable: result.unreadable.length > 0};
	} catch {
		return {alive: [], isUnreadable: true};
	}
}

/** KILL to each of `rows`, by pid and start time. How many got it. */
export function killRows(native: NativeParts, rows: readonly ProcessRow[]): number {
	return rows.filter(row => trySignal(native, row)).length;
}

function trySignal(native: NativeParts, row: ProcessRow): boolean {
	try {
		return native.signalProcess(row.pid, row.startTime, sigkill);
	} catch {
		return false;
	}
}

/** What the independent witness says after the supervisor's own proof (R-MECH-3): nobody is left, or who was and whether bailiff had to KILL. */
export type Agreement = {readonly isAgreed: boolean; readonly wasKillSent: boolean};

/**
 * Looks again after the supervisor said that nobody is left. Whoever is found spoils the agreement; KILL goes to those alone who descend from the
 * supervisor, since by now the leader's number may be the group of strangers (R-MECH-5).
 */
export function agree(native: NativeParts, suspects: Suspects): Agreement {
	const {alive, isUnreadable} = testify(native, suspects);
	if (alive.length === 0) {
		return {isAgreed: !isUnreadable, wasKillSent: false};
	}

	return {isAgreed: false, wasKillSent: killRows(native, testify(native, {leader: null, supervisor: suspects.supervisor}).alive) > 0};
}

/** What became of the orphans of a dead supervisor. `leader` is null when bailiff could not reap it. */
export type OrphanEnding = {readonly wasKillSent: boolean; readonly leader: ReapedChild | null; readonly found: number; readonly isEmpty: boolean};

/** The command of a supervisor that is gone; `others` are the children that bailiff had before (presentChildren). */
export type Orphaned = {readonly leader: number | null; readonly others: ReadonlySet<string>; readonly clock: Clock};

/**
 * Ends and reaps what a dead supervisor left: its children became ours (R-MECH-4). Looks again until nobody is left, at most 0.6 s. Never throws.
 *
 * Order: the supervisor must be dead. Children that spawn.ts started, and `others`, are left alone with their descent.
 */
export async function endOrphans(native: NativeParts, orphaned: Orphaned): Promise<OrphanEnding> {
	const {leader, others, clock} = orphaned;
	const ending = {wasKillSent: false, leader: null as ReapedChild | null, found: 0, isEmpty: false};
	const giveUp = clock.monotonicNs() + endingNs;
	for (let isOver = false; !isOver; ) {
		const orphans = tryFindOrphans(native, others);
		ending.found = Math.max(ending.found, orphans?.length ?? 0);
		ending.isEmpty = orphans?.length === 0;
		isOver = orphans === null || ending.isEmpty || clock.monotonicNs() > giveUp;
		const rows = orphans ?? [];
		ending.wasKillSent =
			killRows(
				native,
				rows.filter(row => row.isLive),
			) > 0 || ending.wasKillSent;
		for (const row of rows.filter(orphan => orphan.ppid === process.pid)) {
			const reaped = tryReap(native, row.pid);
			ending.leader = row.pid === leader ? reaped : ending.leader;
		}

		await sleep(isOver ? 0 : stepMs);
	}

	return ending;
}

/** Null: still running, or not ours to reap. */
function tryReap(native: NativeParts, pid: number): ReapedChild | null {
	try {
		return native.reapChild(pid);
	} catch {
		return null;
	}
}

/** Null: /proc cannot be read, so that nothing more can be found. */
function tryFindOrphans(native: NativeParts, others: ReadonlySet<string>): ProcessRow[] | null {
	try {
		return findOrphans(native, others);
	} catch {
		return null;
	}
}

/** Pid and start time: who a process is. */
function identity(row: ProcessRow): string {
	return `${row.pid}:${row.startTime}`;
}

/** The children that this process has now, for endOrphans to leave alone. */
export function presentChildren(native: NativeParts): ReadonlySet<string> {
	const {rows} = native.scan({ancestors: [process.pid]});
	return new Set(rows.filter(row => row.ppid === process.pid).map(identity));
}

/** All of our descent but what others started. The leader's number is not asked for: once it is reaped it may mean strangers. */
function findOrphans(native: NativeParts, others: ReadonlySet<string>): ProcessRow[] {
	const {rows} = native.scan({ancestors: [process.pid]});
	const byPid = new Map(rows.map(row => [row.pid, row]));
	return rows.filter(row => {
		const top = topOf(row, byPid);
		return row.pid !== process.pid && top !== null && !isStartedHere(top.pid) && !others.has(identity(top));
	});
}

/** The child of ours that `row` descends from, or null when it is no descendant. */
function topOf(row: ProcessRow, byPid: ReadonlyMap<number, ProcessRow>): ProcessRow | null {
	let current: ProcessRow | undefined = row;
	for (let steps = 0; current !== undefined && steps < byPid.size; steps++) {
		if (current.ppid === process.pid) {
			return current;
		}

		current = byPid.get(current.ppid);
	}

	return null;
}
