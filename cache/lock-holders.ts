import {readFileSync} from 'node:fs';

/** Who holds a lock, as far as the kernel shows it. For display only, never a ground for a decision (C-LOCK-7). */
export type LockHolder = {readonly pid: number; readonly command: string | null};

/** The holders of the flock on the file with this inode (decimal). Empty where the system does not show them. Source: C-LOCK-7. */
export function lockHolders(inode: bigint): readonly LockHolder[] {
	return holdersInText(readText('/proc/locks') ?? '', inode).map(pid => ({pid, command: readText(`/proc/${pid}/comm`)?.replace(/\n$/, '') ?? null}));
}

/** The pids in the text of /proc/locks that hold, not wait for, a flock on this inode. */
export function holdersInText(text: string, inode: bigint): readonly number[] {
	const found = new Set<number>();
	for (const line of text.split('\n')) {
		const match = /^\d+: FLOCK +\S+ +\S+ +(\d+) +[0-9a-f]+:[0-9a-f]+:(\d+) /.exec(line);
		if (match?.[2] === inode.toString()) {
			found.add(Number(match[1]));
		}
	}

	return [...found];
}

/** `held by process 4711 ("node")`; a process that ended left the lock to one that it had started. */
export function holdersText(holders: readonly LockHolder[]): string {
	if (holders.length === 0) {
		return 'held by a process that this system does not show';
	}

	const words = holders.map(holder =>
		holder.command === null ? `${holder.pid} (ended; a process that it started still has the lock)` : `${holder.pid} (${JSON.stringify(holder.command)})`,
	);
	return `held by process ${words.join(', ')}`;
}

function readText(file: string): string | null {
	try {
		return readFileSync(file, 'utf8');
	} catch {
		return null;
	}
}
