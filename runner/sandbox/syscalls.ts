/** The processor architectures for which a filter can be made, by the name that Node gives them. */
export const filterArchitectures = ['x64', 'arm64'] as const;
/** An architecture with a table of system calls. */
export type FilterArchitecture = (typeof filterArchitectures)[number];

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64: what the kernel reports for the native ABI. */
export const auditArchitectures: Readonly<Record<FilterArchitecture, number>> = {x64: 0xc000_003e, arm64: 0xc000_00b7};

/** The highest number of our table (file_setattr of Linux 6.17); both architectures share the numbers from 424 on. */
export const highestSyscall = 469;

const table = {
	acct: [163, 89],
	add_key: [248, 217],
	bpf: [321, 280],
	chmod: [90, null],
	chroot: [161, 51],
	clock_settime: [227, 112],
	clone: [56, 220],
	clone3: [435, 435],
	creat: [85, null],
	delete_module: [176, 106],
	fanotify_init: [300, 262],
	fchmod: [91, 52],
	fchmodat: [268, 53],
	fchmodat2: [452, 452],
	finit_module: [313, 273],
	fsconfig: [431, 431],
	fsetxattr: [190, 7],
	fsmount: [432, 432],
	fsopen: [430, 430],
	fspick: [433, 433],
	init_module: [175, 105],
	io_uring_enter: [426, 426],
	io_uring_register: [427, 427],
	io_uring_setup: [425, 425],
	ioctl: [16, 29],
	ioperm: [173, null],
	ioprio_set: [251, 30],
	iopl: [172, null],
	kexec_file_load: [320, 294],
	kexec_load: [246, 104],
	keyctl: [250, 219],
	lookup_dcookie: [212, 18],
	lsetxattr: [189, 6],
	mknod: [133, null],
	mknodat: [259, 33],
	modify_ldt: [154, null],
	mount: [165, 40],
	mount_setattr: [442, 442],
	move_mount: [429, 429],
	nfsservctl: [180, 42],
	open: [2, null],
	open_by_handle_at: [304, 265],
	open_tree: [428, 428],
	open_tree_attr: [467, 467],
	openat: [257, 56],
	openat2: [437, 437],
	perf_event_open: [298, 241],
	pivot_root: [155, 41],
	prlimit64: [302, 261],
	process_vm_readv: [310, 270],
	process_vm_writev: [311, 271],
	ptrace: [101, 117],
	quotactl: [179, 60],
	quotactl_fd: [443, 443],
	reboot: [169, 142],
	request_key: [249, 218],
	sched_setaffinity: [203, 122],
	sched_setattr: [314, 274],
	sched_setparam: [142, 118],
	sched_setscheduler: [144, 119],
	setdomainname: [171, 162],
	sethostname: [170, 161],
	setns: [308, 268],
	setpriority: [141, 140],
	settimeofday: [164, 170],
	setxattr: [188, 5],
	setxattrat: [463, 463],
	socket: [41, 198],
	socketpair: [53, 199],
	swapoff: [168, 225],
	swapon: [167, 224],
	syslog: [103, 116],
	sysfs: [139, null],
	_sysctl: [156, null],
	umount2: [166, 39],
	unshare: [272, 97],
	uselib: [134, null],
	userfaultfd: [323, 282],
	ustat: [136, null],
	vhangup: [153, 58],
} as const;

/** A system call that some rule names. */
export type SyscallName = keyof typeof table;

/** The number of a system call, or null where the architecture does not have it. Source: asm/unistd_64.h, asm-generic/unistd.h. */
export function syscallNumber(name: SyscallName, architecture: FilterArchitecture): number | null {
	const [x64, arm64] = table[name];
	return architecture === 'x64' ? x64 : arm64;
}
