import {BailiffError} from '../../core/errors.ts';

/** One line of mountinfo. */
export type MountRow = {
	readonly path: string;
	/** What of the file system is mounted. */
	readonly root: string;
	readonly filesystem: string;
	readonly isWritable: boolean;
	readonly options: readonly string[];
	readonly superOptions: readonly string[];
};

/** The namespaces that are looked at, in the order of the names that the kernel gives them. */
export const namespaceNames = ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user', 'uts'] as const;
/** One kind of namespace. */
export type NamespaceName = (typeof namespaceNames)[number];

/** What the first process inside read of itself and tried, after everything was in force (S-MECH-4). */
export type Observation = {
	/** Fields of /proc/self/status. */
	readonly status: ReadonlyMap<string, string>;
	readonly mounts: readonly MountRow[];
	readonly namespaces: Readonly<Record<NamespaceName, string>>;
	readonly environmentNames: readonly string[];
	/** What the kernel answered: errno by name of the attempt, 0 for what worked; `landlock` is the version in force, 0 for none. */
	readonly probes: ReadonlyMap<string, number>;
};

/**
 * Reads the parts of an observed event (native/src/supervisor/init.c).
 *
 * Refuses: RUN_SUPERVISOR_FAILED for parts of another form.
 */
export function parseObservation(parts: readonly Buffer[]): Observation {
	const [status, mounts, namespaces, , environment, probes] = parts.map(part => part.toString('utf8'));
	if (status === undefined || mounts === undefined || namespaces === undefined || environment === undefined || probes === undefined) {
		throw new BailiffError('RUN_SUPERVISOR_FAILED', `the sandbox sent an observation of ${parts.length} parts: rebuild the native parts`);
	}

	return {
		status: new Map(lines(status).map(line => splitOnce(line, ':'))),
		mounts: lines(mounts).map(parseMount),
		namespaces: parseNamespaces(namespaces),
		environmentNames: environment
			.split('\0')
			.filter(entry => entry !== '')
			.map(entry => splitOnce(entry, '=')[0]),
		probes: new Map(
			lines(probes)
				.map(line => splitOnce(line, ' '))
				.map(([name, errno]) => [name, Number(errno)] as const),
		),
	};
}

/** The names of the namespaces from their links, such as `mnt:[4026531840]`. */
export function parseNamespaces(links: string): Record<NamespaceName, string> {
	const found = new Map(lines(links).map(line => [splitOnce(line, ':')[0], line]));
	const of = (name: NamespaceName): string => found.get(name) ?? '';
	return {cgroup: of('cgroup'), ipc: of('ipc'), mnt: of('mnt'), net: of('net'), pid: of('pid'), user: of('user'), uts: of('uts')};
}

function lines(text: string): string[] {
	return text.split('\n').filter(line => line !== '');
}

function splitOnce(text: string, separator: string): [string, string] {
	const at = text.indexOf(separator);
	return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length).trim()];
}

/** Source: proc_pid_mountinfo(5): optional fields end at a single hyphen. */
function parseMount(line: string): MountRow {
	const [before = '', after = ''] = line.split(' - ');
	const [, , , root = '', path = '', options = ''] = before.split(' ');
	const [filesystem = '', , superOptions = ''] = after.split(' ');
	const flags = options.split(',');
	return {
		path: unescape(path),
		root: unescape(root),
		filesystem,
		isWritable: !flags.includes('ro'),
		options: flags,
		superOptions: superOptions.split(','),
	};
}

/** The mount point of a line of mountinfo, or nothing for an empty line. */
export function mountPointOf(line: string): string {
	return unescape(line.split(' ')[4] ?? '');
}

/** Blank, tab, line feed and backslash stand as three octal digits; bytes beyond ASCII stand as they are. */
function unescape(text: string): string {
	return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCodePoint(Number.parseInt(digits, 8)));
}
