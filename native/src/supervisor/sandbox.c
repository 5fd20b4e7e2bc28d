/*
 * One command inside bubblewrap (S-MECH): starts it, hands the first process inside its frames, relays both ways, and ends what does not end by itself.
 * The deadline, the ladder and the proof are the first process's own: it is this same program. Bubblewrap is never killed before the namespace is: in its
 * first milliseconds that would leave a child that waits for ever; the end of the control pipe ends the inside at any moment.
 */
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Until the first process inside speaks; from a wish to end until the namespace is killed; from there until bubblewrap is; and then until we give up. */
#define SETUP_NS (30000 * MILLISECOND)
#define LADDER_NS (1850 * MILLISECOND)
#define VANISH_NS (1000 * MILLISECOND)
#define CHECK_NS (2 * MILLISECOND)

enum { SAYING_BYTES = 2048, ORDER_BYTES = 64, FRAME_HEAD_BYTES = 5, GONE_CLEAN = 1, GONE_KILLED = 2 };

struct sandbox {
	struct errand errand;
	struct command shell; /* bubblewrap as the leader of what descends from us */
	int pidfd;
	int control, events, saying; /* our ends; -1 once closed */
	size_t frames_sent;
	uint8_t orders[ORDER_BYTES]; /* short frames that wait behind the others */
	size_t order_count, orders_sent;
	bool dead, given_up;
	unsigned strikes;
	uint64_t limit_ns;
	size_t said;
	char text[SAYING_BYTES + 1];
};

static uint8_t relay_buffer[READ_BYTES];

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The child enters its control groups by itself, so that nothing of the sandbox is ever outside them. */
static bool join_groups(char **joins)
{
	for (; *joins != NULL; joins++) {
		int fd = open(*joins, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, "0\n", 2) != 2)
			return false;
		close(fd);
	}
	return true;
}

struct child_ends {
	int control, events, filter, saying;
};

static _Noreturn void give_up(const struct child_ends *ends, const char *why)
{
	if (write(ends->saying, why, strlen(why)) < 0)
		_exit(126);
	_exit(127);
}

/*
 * What root mounts on the host from now on stays there: bubblewrap only asks not to send mounts, it still receives them, writable as they are. Without the
 * right to do so (an ordinary user, a restricted root) things are as before: Landlock is what keeps files there from being written.
 */
static void detach_mounts(void)
{
	if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0)
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

/* Between vfork and exec: the session, the groups, exactly six descriptors, and an empty environment (S-MECH-1, S-MECH-2). */
static _Noreturn void become_bubblewrap(const struct errand *errand, const struct child_ends *ends)
{
	static char *const nothing[] = {NULL};
	const struct rlimit no_core = {0, 0};
	if (setsid() < 0 || !join_groups(errand->joins))
		give_up(ends, "the control groups cannot be entered");
	if (dup2(null_fd, 0) < 0 || dup2(ends->saying, 1) < 0 || dup2(ends->saying, 2) < 0 || dup2(ends->control, REQUEST_FD) < 0 ||
	    dup2(ends->events, EVENT_FD) < 0 || dup2(ends->filter, FILTER_FD) < 0 || syscall(SYS_close_range, FILTER_FD + 1U, ~0U, CLOSE_RANGE_CLOEXEC) != 0)
		give_up(ends, "the descriptors cannot be arranged");
	restore_oom_score();
	detach_mounts();
	if (setrlimit(RLIMIT_CORE, &no_core) == 0 && open_signal_mask() == 0)
		execve(errand->program, errand->argv, nothing);
	give_up(ends, "it cannot be executed");
}

/* The filter as a file that ends where its bytes end. */
static int open_filter(const struct errand *errand)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);
	if (fd < 0 || write(fd, errand->filter, errand->filter_length) != (ssize_t)errand->filter_length || lseek(fd, 0, SEEK_SET) != 0)
		fatal("the filter cannot be handed over", errno);
	return fd;
}

static void open_pipe(int *read_end, int *write_end)
{
	int fds[2];
	if (pipe2(fds, O_CLOEXEC) != 0)
		fatal("pipe2", errno);
	*read_end = fds[0];
	*write_end = fds[1];
}

static void set_nonblocking(int fd)
{
	fcntl(fd, F_SETFL, O_NONBLOCK);
}

static __attribute__((noinline)) pid_t fork_bubblewrap(const struct errand *errand, const struct child_ends *ends)
{
	pid_t pid = vfork();
	if (pid == 0)
		become_bubblewrap(errand, ends);
	return pid;
}

static void enter(struct sandbox *s)
{
	struct child_ends ends = {.filter = open_filter(&s->errand)};
	open_pipe(&ends.control, &s->control);
	open_pipe(&s->events, &ends.events);
	open_pipe(&s->saying, &ends.saying);
	set_nonblocking(s->control);
	set_nonblocking(s->events);
	set_nonblocking(s->saying);
	fcntl(s->events, F_SETPIPE_SZ, PIPE_BYTES);
	s->shell.leader = fork_bubblewrap(&s->errand, &ends);
	if (s->shell.leader < 0)
		fatal("bubblewrap cannot be started", errno);
	close(ends.control);
	close(ends.events);
	close(ends.saying);
	close(ends.filter);
	s->pidfd = (int)syscall(SYS_pidfd_open, s->shell.leader, 0);
	if (s->pidfd < 0)
		fatal("pidfd_open", errno);
	s->limit_ns = now_ns() + SETUP_NS;
	send_entered(&s->errand, s->shell.leader);
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void order(struct sandbox *s, enum request_type type)
{
	uint8_t frame[FRAME_HEAD_BYTES] = {0, 0, 0, 0, (uint8_t)type};
	if (s->order_count + sizeof frame > sizeof s->orders)
		return;
	memcpy(s->orders + s->order_count, frame, sizeof frame);
	s->order_count += sizeof frame;
}

/* Writes what the control pipe takes: first the frames, then the orders behind them. */
static void feed(struct sandbox *s)
{
	while (s->control >= 0) {
		bool frames_left = s->frames_sent < s->errand.frames_length;
		const uint8_t *from = frames_left ? s->errand.frames + s->frames_sent : s->orders + s->orders_sent;
		size_t left = frames_left ? s->errand.frames_length - s->frames_sent : s->order_count - s->orders_sent;
		if (left == 0)
			return;
		ssize_t put = write(s->control, from, left);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && errno == EAGAIN)
			return;
		if (put < 0)
			close_end(&s->control);
		else if (frames_left)
			s->frames_sent += (size_t)put;
		else
			s->orders_sent += (size_t)put;
	}
}

static bool has_to_feed(const struct sandbox *s)
{
	return s->control >= 0 && (s->frames_sent < s->errand.frames_length || s->orders_sent < s->order_count);
}

/* The namespace ends with its first process: the end of its pipe says so to it, and what does not listen is killed at `limit_ns`. */
static void end_inside(struct sandbox *s)
{
	close_end(&s->control);
	s->limit_ns = sooner(s->limit_ns, now_ns() + LADDER_NS);
}

/* What bailiff says meanwhile. False once nobody listens any more. */
static bool take_orders(struct sandbox *s)
{
	for (;;) {
		enum request_type type = next_request();
		switch (type) {
		case REQUEST_NONE:
			return true;
		case REQUEST_RELEASE:
			if (!speaks_of(&s->errand))
				break;
			order(s, type);
			s->limit_ns = s->errand.timeout_ns > NEVER - now_ns() - LADDER_NS ? NEVER : now_ns() + s->errand.timeout_ns + LADDER_NS;
			break;
		case REQUEST_INTERRUPT:
		case REQUEST_KILL:
			order(s, type);
			s->limit_ns = sooner(s->limit_ns, now_ns() + LADDER_NS);
			break;
		case REQUEST_DROP:
			if (speaks_of(&s->errand))
				end_inside(s);
			break;
		default:
			end_inside(s);
			return false;
		}
	}
}

static void relay(struct sandbox *s)
{
	ssize_t got = read(s->events, relay_buffer, sizeof relay_buffer);
	if (got > 0)
		send_relay(&s->errand, relay_buffer, (uint32_t)got);
	else if (got == 0 || (errno != EAGAIN && errno != EINTR))
		close_end(&s->events);
}

/* Keeps the beginning of what bubblewrap says, for the person who has to mend it. */
static void listen_to(struct sandbox *s)
{
	ssize_t got = read(s->saying, relay_buffer, sizeof relay_buffer);
	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		close_end(&s->saying);
	for (ssize_t i = 0; i < got && s->said < SAYING_BYTES; i++)
		s->text[s->said++] = relay_buffer[i] == 0 ? ' ' : (char)relay_buffer[i];
}

/* KILL to the children of bubblewrap, and to those of it that became ours; then, in a second step, to bubblewrap itself. */
static void kill_inside(struct sandbox *s)
{
	size_t count;
	take_census(&s->shell);
	const struct row *rows = scanned_rows(&count);
	for (size_t i = 0; i < count; i++)
		if ((rows[i].ppid == s->shell.leader || rows[i].ppid == self_pid) && rows[i].pid != s->shell.leader)
			kill(rows[i].pid, SIGKILL);
	if (s->strikes > 0)
		kill(s->shell.leader, SIGKILL);
	s->given_up = s->strikes > 1;
	s->strikes++;
	s->limit_ns = now_ns() + VANISH_NS;
}

/* Nobody is left: bubblewrap is dead, its pipe from inside is at its end, and no orphan of it has become ours and lives. */
static bool is_over(struct sandbox *s)
{
	return s->dead && s->events < 0 && reap_adopted(&s->shell) == 0;
}

static void step(struct sandbox *s, bool *listens)
{
	enum { REQUESTS, EVENTS, CONTROL, INSIDE, SAYING, DEATH, COUNT };
	struct pollfd fds[COUNT] = {
		[REQUESTS] = {.fd = *listens ? REQUEST_FD : -1, .events = POLLIN},
		[EVENTS] = {.fd = events_pending() ? EVENT_FD : -1, .events = POLLOUT},
		[CONTROL] = {.fd = has_to_feed(s) ? s->control : -1, .events = POLLOUT},
		[INSIDE] = {.fd = events_have_room() ? s->events : -1, .events = POLLIN},
		[SAYING] = {.fd = s->saying, .events = POLLIN},
		[DEATH] = {.fd = s->dead ? -1 : s->pidfd, .events = POLLIN},
	};
	uint64_t now = now_ns(), wake = s->dead ? sooner(s->limit_ns, now + CHECK_NS) : s->limit_ns;
	uint64_t rest = wake > now ? wake - now : 0;
	struct timespec time = {.tv_sec = (time_t)(rest / 1000000000), .tv_nsec = (long)(rest % 1000000000)};
	if (ppoll(fds, COUNT, wake == NEVER ? NULL : &time, NULL) < 0 && errno != EINTR)
		fatal("ppoll", errno);
	if (fds[INSIDE].revents != 0)
		relay(s);
	if (fds[SAYING].revents != 0)
		listen_to(s);
	if (fds[REQUESTS].revents != 0)
		*listens = take_orders(s);
	if (fds[DEATH].revents != 0)
		s->dead = true;
	/* bubblewrap died before its child: the child is ours now, and is told to end */
	if (s->dead && s->events >= 0)
		end_inside(s);
	if (has_to_feed(s))
		feed(s);
	flush_events();
}

/* Reads the last words, reaps bubblewrap, and says whether nobody is left. */
static void leave(struct sandbox *s)
{
	siginfo_t info;
	if (s->saying >= 0)
		listen_to(s);
	reap_leader(&s->shell);
	bool clean = s->shell.reaped && !s->given_up && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
	close_end(&s->control);
	close_end(&s->events);
	close_end(&s->saying);
	close_end(&s->pidfd);
	send_gone(&s->errand, (uint32_t)s->shell.wait_status, (uint8_t)((clean ? GONE_CLEAN : 0) | (s->strikes > 0 ? GONE_KILLED : 0)), s->text);
	flush_events();
}

/* One command inside, from its request to its last event. */
void run_errand(void)
{
	struct sandbox sandbox = {.pidfd = -1};
	bool listens = true;
	reset_command(&sandbox.shell);
	if (!parse_errand(&sandbox.errand))
		fatal("malformed run-inside request", EPROTO);
	enter(&sandbox);
	feed(&sandbox);
	while (!is_over(&sandbox) && !sandbox.given_up) {
		step(&sandbox, &listens);
		if (now_ns() >= sandbox.limit_ns)
			kill_inside(&sandbox);
	}
	leave(&sandbox);
}
