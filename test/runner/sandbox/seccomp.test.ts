import {execFileSync, spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import test from 'ava';
import {createFilter, type FilterProfile} from '../../../runner/sandbox/seccomp.ts';
import {type FilterArchitecture, filterArchitectures, type SyscallName, syscallNumber} from '../../../runner/sandbox/syscalls.ts';

const directory = mkdtempSync(join(tmpdir(), 'bailiff-seccomp-'));
const probe = join(directory, 'probe');
const source = fileURLToPath(new URL('../../../../test/fixtures/bin/syscall-probe.c', import.meta.url));
const architecture = filterArchitectures.find(name => name === process.arch);

test.before(() => {
	execFileSync('cc', ['-O1', '-Wall', '-Werror', '-o', probe, source]);
});
test.after.always(() => {
	rmSync(directory, {recursive: true, force: true});
});

type Row = readonly [title: string, call: SyscallName | number | 'int80', args: ReadonlyArray<number | string>, expected: string];

const above = (value: number): string => `0x1${value.toString(16).padStart(8, '0')}`;
const notForbidden = (profile: Partial<FilterProfile>): FilterProfile => ({
	architecture: architecture ?? 'x64',
	network: 'loopback',
	nested: false,
	isRoot: false,
	hasGroups: false,
	...profile,
});

const refusedEverywhere: readonly Row[] = [
	['socket() of AF_VSOCK is unknown', 'socket', [40, 1, 0], '97'],
	['socket() of AF_VSOCK with high bits set is unknown', 'socket', [above(40), 1, 0], '97'],
	['socket() of AF_PACKET is unknown', 'socket', [17, 3, 768], '97'],
	['socket() of AF_ALG is unknown', 'socket', [38, 5, 0], '97'],
	['socket() of AF_BLUETOOTH is unknown', 'socket', [31, 1, 0], '97'],
	['socket() of AF_XDP is unknown', 'socket', [44, 3, 0], '97'],
	['socket() of netlink audit is no protocol', 'socket', [16, 3, 9], '93'],
	['socket() of netlink kobject events is no protocol', 'socket', [16, 2, 15], '93'],
	['socketpair() of AF_TIPC is unknown', 'socketpair', [30, 1, 0, 'path'], '97'],
	['io_uring_setup is an absent call', 'io_uring_setup', [8, 'path'], '38'],
	['io_uring_enter is an absent call', 'io_uring_enter', [0, 0, 0, 0, 0, 0], '38'],
	['io_uring_register is an absent call', 'io_uring_register', [0, 0, 0, 0], '38'],
	['openat2 is an absent call', 'openat2', [0, 'path', 0, 24], '38'],
	['keyctl is not permitted', 'keyctl', [0, -3, 0], '1'],
	['add_key is not permitted', 'add_key', ['path', 'path', 0, 0, -3], '1'],
	['request_key is not permitted', 'request_key', ['path', 'path', 0, 0], '1'],
	['bpf is not permitted', 'bpf', [5, 0, 0], '1'],
	['userfaultfd is not permitted', 'userfaultfd', [1], '1'],
	['perf_event_open is not permitted', 'perf_event_open', ['path', 0, -1, -1, 0], '1'],
	['open_by_handle_at is not permitted', 'open_by_handle_at', [0, 'path', 0], '1'],
	['fanotify_init is not permitted', 'fanotify_init', [0, 0], '1'],
	['kexec_load is not permitted', 'kexec_load', [0, 0, 0, 0], '1'],
	['init_module is not permitted', 'init_module', [0, 0, 'path'], '1'],
	['finit_module is not permitted', 'finit_module', [0, 'path', 0], '1'],
	['quotactl is not permitted', 'quotactl', [0, 'path', 0, 0], '1'],
	['syslog is not permitted', 'syslog', [3, 0, 0], '1'],
	['TIOCSTI is not permitted', 'ioctl', [0, 0x5412, 'path'], '1'],
	['TIOCSTI + 2^32 is not permitted', 'ioctl', [0, above(0x5412), 'path'], '1'],
	['TIOCLINUX is not permitted', 'ioctl', [0, 0x541c, 'path'], '1'],
	['TIOCSETD is not permitted', 'ioctl', [0, 0x5423, 'path'], '1'],
	['ptrace of the first process is not permitted', 'ptrace', [16, 1, 0, 0], '1'],
	['ptrace of the first process with high bits set is not permitted', 'ptrace', [0x4206, above(1), 0, 0], '1'],
	['process_vm_readv of the first process is not permitted', 'process_vm_readv', [1, 0, 0, 0, 0, 0], '1'],
	['process_vm_writev of the first process is not permitted', 'process_vm_writev', [above(1), 0, 0, 0, 0, 0], '1'],
	['prlimit64 of the first process is not permitted', 'prlimit64', [1, 7, 'path', 0], '1'],
	['sched_setscheduler of the first process is not permitted', 'sched_setscheduler', [1, 5, 'path'], '1'],
	['sched_setaffinity of the first process is not permitted', 'sched_setaffinity', [1, 8, 'path'], '1'],
	['setpriority of the first process is not permitted', 'setpriority', [0, 1, 19], '1'],
	['ioprio_set of the first process is not permitted', 'ioprio_set', [1, 1, 0], '1'],
	['fchmod to a set-user-ID mode is not permitted', 'fchmod', [0, 0o4755], '1'],
	['fchmodat to a set-user-ID mode is not permitted', 'fchmodat', [-100, 'path', 0o4755], '1'],
	['fchmodat2 to a set-user-ID mode is not permitted', 'fchmodat2', [-100, 'path', 0o4755, 0], '1'],
	['openat that creates a set-user-ID file is not permitted', 'openat', [-100, 'path', 0o101, 0o4755], '1'],
	['openat of an unnamed set-user-ID file is not permitted', 'openat', [-100, 'path', 0x41_0002, 0o4755], '1'],
	['mknodat of a set-user-ID file is not permitted', 'mknodat', [-100, 'path', 0o10_4755, 0], '1'],
	['a call newer than the table is absent', 470, [], '38'],
	['a call far above the table is absent', 5000, [], '38'],
	['raw socket() of inet is not permitted', 'socket', [2, 3, 1], '1'],
	['raw socket() of inet6 with flags is not permitted', 'socket', [10, 3 + 0o200_0000, 58], '1'],
	['packet type socket() of inet is not permitted', 'socket', [2, 10, 768], '1'],
	['socket() of SCTP is no protocol', 'socket', [2, 1, 132], '93'],
];

const x64Rows: readonly Row[] = [
	['a call by the i386 ABI kills', 'int80', [], 'SIG31'],
	['a call by the x32 ABI is absent', 0x4000_0027, [], '38'],
	['chmod to a set-user-ID mode is not permitted', 'chmod', ['path', 0o4755], '1'],
	['open that creates a set-user-ID file is not permitted', 'open', ['path', 0o101, 0o4755], '1'],
	['creat of a set-user-ID file is not permitted', 'creat', ['path', 0o4755], '1'],
	['mknod of a set-user-ID file is not permitted', 'mknod', ['path', 0o10_4755, 0], '1'],
	['modify_ldt is not permitted', 'modify_ldt', [0, 'path', 0], '1'],
	['iopl is not permitted', 'iopl', [0], '1'],
	['uselib is an absent call', 'uselib', ['path'], '38'],
];

const nestingRows: readonly Row[] = [
	['unshare of a user namespace is not permitted', 'unshare', [0x1000_0000], '1'],
	['unshare of a time namespace is not permitted', 'unshare', [0x80], '1'],
	['clone of a user namespace is not permitted', 'clone', [0x1000_0011, 0, 0, 0, 0], '1'],
	['clone3 is an absent call', 'clone3', ['path', 88], '38'],
	['setns is not permitted', 'setns', [0, 0], '1'],
	['mount is not permitted', 'mount', ['path', 'path', 'path', 0, 0], '1'],
	['umount2 is not permitted', 'umount2', ['path', 0], '1'],
	['fsopen is not permitted', 'fsopen', ['path', 0], '1'],
	['open_tree is not permitted', 'open_tree', [-100, 'path', 1], '1'],
	['move_mount is not permitted', 'move_mount', [0, 'path', 0, 'path', 0], '1'],
	['mount_setattr is not permitted', 'mount_setattr', [0, 'path', 0, 0, 0], '1'],
	['pivot_root is not permitted', 'pivot_root', ['path', 'path'], '1'],
	['chroot is not permitted', 'chroot', ['path'], '1'],
	['sethostname is not permitted', 'sethostname', ['path', 4], '1'],
];

const allowedRows: readonly Row[] = [
	['socket() of a TCP stream is allowed', 'socket', [2, 1, 6], '0'],
	['socket() of UDP with flags is allowed', 'socket', [10, 2 + 0o200_4000, 0], '0'],
	['socket() of unix is allowed', 'socket', [1, 1, 0], '0'],
	['socket() of route netlink is allowed', 'socket', [16, 3, 0], '0'],
	['unshare of the file table is allowed', 'unshare', [0x400], '0'],
	['fchmodat to a plain mode reaches the file system', 'fchmodat', [-100, 'path', 0o755], '2'],
	['openat of a missing file reaches the file system', 'openat', [-100, 'path', 0, 0o4755], '2'],
	['openat that creates a plain file reaches the file system', 'openat', [-100, 'path', 0o101, 0o644], '2'],
	['prlimit64 of the process itself is allowed', 'prlimit64', [0, 7, 0, 0], '0'],
	['a plain ioctl reaches the device', 'ioctl', [-1, 0x5401, 'path'], '9'],
	['ptrace of a process that is not there reaches the kernel', 'ptrace', [16, 999_999_999, 0, 0], '3'],
];

const noNetworkRows: readonly Row[] = [
	['socket() of inet is unknown without a network', 'socket', [2, 1, 0], '97'],
	['socket() of inet6 is unknown without a network', 'socket', [10, 2, 0], '97'],
	['socket() of unix is unknown without a network', 'socket', [1, 1, 0], '97'],
	['socket() of unix with high bits set is unknown without a network', 'socket', [above(1), 1, 0], '97'],
	['socket() of vsock is unknown without a network', 'socket', [40, 1, 0], '97'],
	['socket() of route netlink stays', 'socket', [16, 3, 0], '0'],
];

const rootRows: readonly Row[] = [
	['fchmodat to a set-group-ID mode is not permitted to root', 'fchmodat', [-100, 'path', 0o2755], '1'],
	['setxattr is not supported for root', 'setxattr', ['path', 'path', 'path', 1, 0], '95'],
	['fsetxattr is not supported for root', 'fsetxattr', [0, 'path', 'path', 1, 0], '95'],
	['setxattrat is not supported for root', 'setxattrat', [-100, 'path', 0, 'path', 'path', 24], '95'],
];

function answers(rows: readonly Row[], profile: FilterProfile): string[] {
	const file = join(directory, `${Object.values(profile).join('-')}.bpf`);
	writeFileSync(file, createFilter(profile).bytes);
	const calls = rows.map(([, call, args]) => (call === 'int80' ? call : [numberOf(call, profile.architecture), ...args].join(',')));
	return execFileSync(probe, [file, ...calls], {encoding: 'utf8', input: ''})
		.trim()
		.split('\n');
}

function numberOf(call: SyscallName | number, on: FilterArchitecture): number {
	return typeof call === 'number' ? call : (syscallNumber(call, on) ?? -1);
}

const groups: ReadonlyArray<readonly [title: string, rows: readonly Row[], profile: FilterProfile]> = [
	['the loopback profile', [...refusedEverywhere, ...nestingRows, ...allowedRows], notForbidden({})],
	['the host profile', [...refusedEverywhere, ...nestingRows, ...allowedRows], notForbidden({network: 'host'})],
	['the nested profile', refusedEverywhere, notForbidden({nested: true})],
	['the profile without a network', noNetworkRows, notForbidden({network: 'none'})],
	['the profile of root', [...refusedEverywhere.filter(([, call]) => call !== 'setxattr'), ...rootRows], notForbidden({isRoot: true})],
	...(architecture === 'x64' ? [['the profile of this architecture', x64Rows, notForbidden({})] as const] : []),
];

for (const [title, rows, profile] of groups) {
	test(`under ${title} the kernel answers each call as the table says`, t => {
		const seen = answers(rows, profile);
		t.is(seen.length, rows.length);
		for (const [index, [sentence, , , expected]] of rows.entries()) {
			t.is(seen[index], expected, sentence);
		}
	});
}

test('nested profiles may unshare a user namespace where the host allows it', t => {
	const row: Row = ['unshare', 'unshare', [0x1000_0000], '0'];
	const free = spawnSync('unshare', ['-U', 'true']).status === 0 ? '0' : '1';
	t.deepEqual(answers([row], notForbidden({nested: true})), [free]);
});

test('nested profiles make no namespace of control groups where those of the host could be written', t => {
	const rows: Row[] = [
		['unshare() of control groups', 'unshare', [0x0200_0000], '1'],
		['unshare() of control groups and more', 'unshare', [0x1200_0000], '1'],
		['clone() with control groups', 'clone', [0x0200_0011], '1'],
		['clone3(), whose flags cannot be seen', 'clone3', [0, 0], '38'],
		['unshare() of nothing', 'unshare', [0], '0'],
	];
	t.deepEqual(
		answers(rows, notForbidden({nested: true, hasGroups: true})),
		rows.map(([, , , expected]) => expected),
	);
});

test('a filter is the same bytes each time and its digest follows the profile', t => {
	const digests = new Set<string>();
	for (const arch of filterArchitectures) {
		for (const network of ['none', 'loopback', 'host'] as const) {
			const profile = notForbidden({architecture: arch, network});
			t.deepEqual(createFilter(profile), createFilter(profile));
			t.is(createFilter(profile).bytes.length % 8, 0);
			digests.add(createFilter(profile).sha256);
		}
	}

	t.is(digests.size, 4, 'loopback and host share their rules, the namespace makes the difference');
});

const tools: ReadonlyArray<readonly [title: string, argv: readonly string[]]> = [
	[
		'node runs a child and a thread pool',
		[process.execPath, '-e', 'require("fs").promises.readFile("/etc/hostname").then(()=>process.exit(require("child_process").spawnSync("true").status))'],
	],
	['git reads a repository', ['git', '--version']],
	[
		'python makes a thread and a child',
		['python3', '-c', 'import threading,subprocess as s\nt=threading.Thread(target=print);t.start();t.join();s.check_call(["true"])'],
	],
	['cc compiles', ['sh', '-c', 'echo "int main(void){return 0;}" | cc -x c -o "$0" - && "$0"', join(directory, 'compiled')]],
	['make runs jobs side by side', ['sh', '-c', 'printf "all: a b\\na b:\\n\\t@true\\n" | make -j2 -f -']],
];

for (const [title, argv] of tools) {
	test(`under the filter of loopback ${title}`, t => {
		const file = join(directory, 'tools.bpf');
		writeFileSync(file, createFilter(notForbidden({isRoot: process.getuid?.() === 0})).bytes);
		const ended = spawnSync(probe, [file, '--', ...argv], {encoding: 'utf8'});
		t.is(ended.status, 0, ended.stderr);
	});
}

for (const [title, argv] of [
	['cargo names its version', ['cargo', '--version']],
	['go names its version', ['go', 'version']],
] as const) {
	if (spawnSync(argv[0], argv.slice(1)).status !== 0) {
		continue;
	}

	test(`under the filter of loopback ${title}`, t => {
		const file = join(directory, 'optional.bpf');
		writeFileSync(file, createFilter(notForbidden({})).bytes);
		t.is(spawnSync(probe, [file, '--', ...argv]).status, 0);
	});
}
