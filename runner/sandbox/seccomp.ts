import {sha256Hex} from '../../core/digest.ts';
import {assembleFilter, type Decision, type SyscallRule} from './bpf.ts';
import {auditArchitectures, type FilterArchitecture, highestSyscall, type SyscallName, syscallNumber} from './syscalls.ts';

/** What decides about a filter. */
export type FilterProfile = {
	readonly architecture: FilterArchitecture;
	readonly network: 'none' | 'loopback' | 'host';
	/** Namespaces and mounts inside are allowed (a sandbox within the sandbox). */
	readonly nested: boolean;
	/** The files that a command leaves belong to root of the host. */
	readonly isRoot: boolean;
	/** The user of the commands could write to control groups of the host: a namespace for them, in a nested profile, would let the command mount them anew. */
	readonly hasGroups: boolean;
};

/** A filter as it is handed to the kernel, and its digest (shapes.ts: filter_sha256). */
export type Filter = {readonly bytes: Buffer; readonly sha256: string};

const eperm = 1;
const enosys = 38;
const eprotonosupport = 93;
const eopnotsupp = 95;
const eafnosupport = 97;

const creates = 0x40_0040; // O_CREAT and __O_TMPFILE
const setuid = 0o4000;
const setgid = 0o2000;
const newNamespaces = 0x7e02_0000; // CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
const newControlGroups = 0x0200_0000;
const newTime = 0x80;
const firstProcess = 1;

/** Kernel interfaces that no build or test needs, each with a history of faults or with effects beyond the sandbox. Callers see EPERM, as without the privilege. */
const forbidden = [
	'acct',
	'add_key',
	'bpf',
	'clock_settime',
	'delete_module',
	'fanotify_init',
	'finit_module',
	'init_module',
	'ioperm',
	'iopl',
	'kexec_file_load',
	'kexec_load',
	'keyctl',
	'modify_ldt',
	'open_by_handle_at',
	'perf_event_open',
	'quotactl',
	'quotactl_fd',
	'reboot',
	'request_key',
	'settimeofday',
	'swapoff',
	'swapon',
	'syslog',
	'userfaultfd',
	'vhangup',
] as const satisfies readonly SyscallName[];

/** Calls whose callers know how to do without: they see an older kernel. clone3 and openat2 hide their flags in memory, where a filter cannot look. */
const absent = [
	'io_uring_enter',
	'io_uring_register',
	'io_uring_setup',
	'lookup_dcookie',
	'nfsservctl',
	'openat2',
	'sysfs',
	'_sysctl',
	'uselib',
	'ustat',
] as const satisfies readonly SyscallName[];

/** Mounts and namespaces: refused a second time, behind the dropped capabilities. Free only in a nested profile. */
const nesting = [
	'chroot',
	'fsconfig',
	'fsmount',
	'fsopen',
	'fspick',
	'mount',
	'mount_setattr',
	'move_mount',
	'open_tree',
	'open_tree_attr',
	'pivot_root',
	'setdomainname',
	'sethostname',
	'setns',
	'umount2',
] as const satisfies readonly SyscallName[];

/**
 * The filter of a profile: deterministic bytes and their digest.
 *
 * What it refuses, and why: mounts and namespaces (unless nested); kernel interfaces of `forbidden` and `absent`; reaching into the first process; typing into a terminal;
 * every socket family but unix, inet, inet6 and route netlink (a network namespace stops neither vsock nor raw packets of a foreign family); files with a set-user-ID bit, which
 * would outlive the sandbox in the checkout; other ABIs, and calls newer than our table.
 * Source: S-MECH-3.
 */
export function createFilter(profile: FilterProfile): Filter {
	const decisions: Array<readonly [SyscallName, Decision]> = [
		...forbidden.map(name => [name, eperm] as const),
		...absent.map(name => [name, enosys] as const),
		...(profile.nested ? (profile.hasGroups ? namespaceRules(newControlGroups, newControlGroups) : []) : nestingRules()),
		...firstProcessRules(),
		...modeRules(profile.isRoot ? setuid | setgid : setuid),
		...(profile.isRoot ? attributeRules() : []),
		['ioctl', terminalDecision],
		['socket', profile.network === 'none' ? noNetworkDecision : socketDecision],
		['socketpair', {argument: 0, cases: [[family.unix, 'allow']], otherwise: eafnosupport}],
	];
	const rules: SyscallRule[] = [];
	for (const [name, decision] of decisions) {
		const number = syscallNumber(name, profile.architecture);
		if (number !== null) {
			rules.push({number, decision});
		}
	}

	const bytes = assembleFilter({auditArch: auditArchitectures[profile.architecture], highestNumber: highestSyscall, rules});
	return {bytes, sha256: sha256Hex(bytes)};
}

const family = {unix: 1, inet: 2, inet6: 10, netlink: 16} as const;

const netlinkDecision: Decision = {argument: 2, cases: [[0, 'allow']], otherwise: eprotonosupport}; // NETLINK_ROUTE: getifaddrs

/** IP, ICMP, TCP, UDP, ICMPv6, MPTCP: others load protocol modules into the kernel. */
const protocolDecision: Decision = {
	argument: 2,
	cases: [0, 1, 6, 17, 58, 262].map(protocol => [protocol, 'allow'] as const),
	otherwise: eprotonosupport,
};

/** Streams and datagrams; raw and packet sockets are refused as without privilege. The upper bits are SOCK_CLOEXEC and SOCK_NONBLOCK. */
const internetDecision: Decision = {
	argument: 1,
	mask: 0xf,
	cases: [
		[1, protocolDecision],
		[2, protocolDecision],
	],
	otherwise: eperm,
};

const socketDecision: Decision = {
	argument: 0,
	cases: [
		[family.unix, 'allow'],
		[family.inet, internetDecision],
		[family.inet6, internetDecision],
		[family.netlink, netlinkDecision],
	],
	otherwise: eafnosupport,
};

const noNetworkDecision: Decision = {argument: 0, cases: [[family.netlink, netlinkDecision]], otherwise: eafnosupport};

/** TIOCSTI and TIOCLINUX type into a terminal, TIOCSETD loads a line discipline. */
const terminalDecision: Decision = {
	argument: 1,
	cases: [
		[0x5412, eperm],
		[0x541c, eperm],
		[0x5423, eperm],
	],
	otherwise: 'allow',
};

function nestingRules(): Array<readonly [SyscallName, Decision]> {
	return [...nesting.map(name => [name, eperm] as const), ...namespaceRules(newNamespaces, newNamespaces | newTime)];
}

/** The low bits of clone are a signal, so that it and unshare are not asked for the same. */
function namespaceRules(cloneBits: number, unshareBits: number): Array<readonly [SyscallName, Decision]> {
	return [
		['clone', {argument: 0, mask: cloneBits, cases: [[0, 'allow']], otherwise: eperm}],
		['clone3', enosys],
		['unshare', {argument: 0, mask: unshareBits, cases: [[0, 'allow']], otherwise: eperm}],
	];
}

/** Debuggers and schedulers may reach what the command started, never our init: its limits, its priority and its memory are its own. */
function firstProcessRules(): Array<readonly [SyscallName, Decision]> {
	return [['ptrace', notFirst(1)], ['setpriority', notFirst(1)], ['ioprio_set', notFirst(1)], ...firstArgument.map(name => [name, notFirst(0)] as const)];
}

/** Calls whose first argument is a process. */
const firstArgument = [
	'prlimit64',
	'process_vm_readv',
	'process_vm_writev',
	'sched_setaffinity',
	'sched_setattr',
	'sched_setparam',
	'sched_setscheduler',
] as const satisfies readonly SyscallName[];

function notFirst(argument: number): Decision {
	return {argument, cases: [[firstProcess, eperm]], otherwise: 'allow'};
}

/** Every way to give a file a set-user-ID bit (set-group-ID too for root): by changing its mode and by creating it so. */
function modeRules(bits: number): Array<readonly [SyscallName, Decision]> {
	const plainMode = (argument: number): Decision => ({argument, mask: bits, cases: [[0, 'allow']], otherwise: eperm});
	const plainCreation = (flags: number): Decision => ({argument: flags, mask: creates, cases: [[0, 'allow']], otherwise: plainMode(flags + 1)});
	return [
		['chmod', plainMode(1)],
		['fchmod', plainMode(1)],
		['fchmodat', plainMode(2)],
		['fchmodat2', plainMode(2)],
		['creat', plainMode(1)],
		['open', plainCreation(1)],
		['openat', plainCreation(2)],
		['mknod', plainMode(1)],
		['mknodat', plainMode(2)],
	];
}

/** File capabilities of root's files would hold on the host; a filter cannot read the attribute's name, so none is set. */
function attributeRules(): Array<readonly [SyscallName, Decision]> {
	return (['setxattr', 'lsetxattr', 'fsetxattr', 'setxattrat'] as const).map(name => [name, eopnotsupp] as const);
}
