/*
 * The first process inside a sandbox (S-MECH-4): the same supervisor, which first confines itself, says what it sees, and holds. Everything that
 * restricts the command is in force by then, the filter included; only the release request starts the command, and the end of the pipe ends all (S-MECH-6).
 * As the parent of the command it knows exactly how that ended (S-MECH-7).
 */
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PART_BYTES = 1024 * 1024, TEXT_BYTES = 4096, VSOCK_FAMILY = 40 };

/* Landlock, by number: the headers of many systems are older than their kernels. Source: linux/landlock.h. */
enum { SYS_CREATE_RULESET = 444, SYS_ADD_RULE = 445, SYS_RESTRICT_SELF = 446, RULE_PATH_BENEATH = 1, ABI_REFER = 2, ABI_TRUNCATE = 3, ABI_SCOPED = 6 };
#define ACCESS_WRITE_FILE (UINT64_C(1) << 1)
#define ACCESS_CHANGE_TREE (UINT64_C(0x1ff) << 4) /* remove and make: bits 4 to 12 */
#define ACCESS_REFER (UINT64_C(1) << 13)
#define ACCESS_TRUNCATE (UINT64_C(1) << 14)
#define SCOPE_ABSTRACT_SOCKET UINT64_C(1)

struct ruleset {
	uint64_t filesystem, network, scoped;
};

struct path_beneath {
	uint64_t access;
	int32_t parent;
} __attribute__((packed));

static char status_text[TEXT_BYTES], mounts_text[PART_BYTES], cgroup_text[TEXT_BYTES], environment_text[TEXT_BYTES];
static char namespaces_text[TEXT_BYTES], probes_text[TEXT_BYTES];

/* The next request; sleeps until one is whole. */
static enum request_type await_request(void)
{
	enum request_type type;
	while ((type = next_request()) == REQUEST_NONE) {
		struct pollfd fds[] = {{.fd = REQUEST_FD, .events = POLLIN}, {.fd = events_pending() ? EVENT_FD : -1, .events = POLLOUT}};
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			fatal("poll", errno);
		flush_events();
	}
	return type;
}

/* Leaves when nobody is there to answer to: nothing has started yet. */
static void expect_request(enum request_type wanted)
{
	enum request_type type = await_request();
	if (type == REQUEST_END || type == REQUEST_INTERRUPT || type == REQUEST_KILL)
		_exit(0);
	if (type != wanted)
		fatal("an unexpected request before the start", EPROTO);
}

static void allow_writes(int ruleset, const char *path, uint64_t handled)
{
	struct stat found;
	struct path_beneath rule = {.access = handled, .parent = open(path, O_PATH | O_CLOEXEC)};
	if (rule.parent < 0 || fstat(rule.parent, &found) != 0)
		fatal("a writable place of the sandbox is not there", errno);
	if (!S_ISDIR(found.st_mode))
		rule.access &= ACCESS_WRITE_FILE | ACCESS_TRUNCATE;
	if (syscall(SYS_ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0) != 0)
		fatal("landlock_add_rule", errno);
	close(rule.parent);
}

/*
 * A second lock behind the mounts: nothing outside the paths of the request can be opened for writing, devices and FIFOs of the host included,
 * which a read-only mount lets pass. Returns the version of Landlock that holds, 0 for none.
 */
static long confine(void)
{
	size_t at = 1;
	const char *path;
	long abi = syscall(SYS_CREATE_RULESET, NULL, 0, 1);
	if (abi < 1)
		return 0;
	uint64_t handled = ACCESS_WRITE_FILE | ACCESS_CHANGE_TREE | (abi >= ABI_REFER ? ACCESS_REFER : 0) | (abi >= ABI_TRUNCATE ? ACCESS_TRUNCATE : 0);
	struct ruleset attributes = {.filesystem = handled, .scoped = abi >= ABI_SCOPED ? SCOPE_ABSTRACT_SOCKET : 0};
	int ruleset = (int)syscall(SYS_CREATE_RULESET, &attributes, abi >= ABI_SCOPED ? sizeof attributes : sizeof attributes.filesystem, 0);
	if (ruleset < 0)
		fatal("landlock_create_ruleset", errno);
	while ((path = next_string(&at)) != NULL)
		allow_writes(ruleset, path, handled);
	if (syscall(SYS_RESTRICT_SELF, ruleset, 0) != 0)
		fatal("landlock_restrict_self", errno);
	close(ruleset);
	return abi;
}

/* Reads a whole file of /proc. A file that does not fit is a fault: half an observation proves nothing. */
static size_t read_file(const char *path, char *into, size_t room)
{
	size_t have = 0;
	ssize_t got = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fatal(path, errno);
	while (have < room && (got = read(fd, into + have, room - have)) > 0)
		have += (size_t)got;
	if (got < 0 || have == room)
		fatal(path, got < 0 ? errno : EOVERFLOW);
	close(fd);
	return have;
}

static size_t read_namespaces(void)
{
	static const char *const names[] = {"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"};
	size_t length = 0;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char path[64];
		snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
		ssize_t got = readlink(path, namespaces_text + length, sizeof namespaces_text - length - 1);
		if (got < 0)
			fatal(path, errno);
		length += (size_t)got;
		namespaces_text[length++] = '\n';
	}
	return length;
}

static int outcome(long result)
{
	return result < 0 ? errno : 0;
}

/* What the kernel answers when the forbidden is tried: each line a name and an errno, 0 for what worked. */
static size_t try_forbidden(long landlock)
{
	const int vsock = outcome(socket(VSOCK_FAMILY, SOCK_STREAM | SOCK_CLOEXEC, 0));
	const int ring = outcome(syscall(SYS_io_uring_setup, 0, NULL));
	const int keys = outcome(syscall(SYS_keyctl, 0, -3L, 0L));
	const int remount = outcome(mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL));
	const int sysctl = outcome(open("/proc/sys/kernel/core_pattern", O_WRONLY | O_CLOEXEC));
	int length = snprintf(probes_text, sizeof probes_text, "vsock %d\nio_uring %d\nkeyctl %d\nremount %d\nsysctl %d\nlandlock %ld\n", vsock, ring, keys, remount,
	                      sysctl, landlock);
	return (size_t)length;
}

struct part {
	const char *bytes;
	size_t length;
};

/* Everything that is known here of what holds the command, read and tried after it is in force (S-MECH-4). */
static void send_observed(uint32_t seq, long landlock)
{
	const struct part parts[] = {
		{status_text, read_file("/proc/self/status", status_text, sizeof status_text)},
		{mounts_text, read_file("/proc/self/mountinfo", mounts_text, sizeof mounts_text)},
		{namespaces_text, read_namespaces()},
		{cgroup_text, read_file("/proc/self/cgroup", cgroup_text, sizeof cgroup_text)},
		{environment_text, read_file("/proc/self/environ", environment_text, sizeof environment_text)},
		{probes_text, try_forbidden(landlock)},
	};
	size_t length = 0;
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		length += sizeof(uint32_t) + parts[i].length;
	begin_observed(seq, length);
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		put_part(parts[i].bytes, parts[i].length);
	flush_events();
}

/* Everything that was said reaches the other side before the namespace ends with us. */
static void deliver(void)
{
	while (events_pending()) {
		struct pollfd fds[] = {{.fd = EVENT_FD, .events = POLLOUT}};
		if (poll(fds, 1, -1) < 0 && errno != EINTR)
			return;
		flush_events();
	}
}

/* One command as the first process of a sandbox. Out of reach of the command: a debugger needs what nobody inside has (S-MECH-3). */
int serve_inside(void)
{
	static struct command command;
	long landlock = 0;
	reset_command(&command);
	define_process();
	if (self_pid != 1)
		fatal("the sandbox has no process namespace of its own", EPERM);
	expect_request(REQUEST_CONFINE);
	if (wants_landlock())
		landlock = confine();
	expect_request(REQUEST_RUN);
	if (!parse_run(&command))
		fatal("malformed run request", EPROTO);
	send_observed(command.seq, landlock);
	expect_request(REQUEST_RELEASE);
	seal_process();
	run_command(&command);
	deliver();
	return 0;
}
