/* Puts the process into a defined state, whatever it inherited, and serves one command after the other (R-MECH-1, R-MECH-2). */
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

pid_t self_pid, parent_pid;
int null_fd = -1;
int death_fd = -1;
int own_oom_score = INT32_MIN;
static int alarm_id = -1;

/* CLOCK_MONOTONIC: every deadline and every duration runs on it (R-END-1). */
uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A fault of ours or of the machine that leaves nothing to go on with: say so and die; bailiff, a subreaper too, ends what is left (R-MECH-4). */
_Noreturn void fatal(const char *what, int error)
{
	static bool is_dying;
	if (is_dying)
		_exit(70);
	is_dying = true;
	send_fatal(what, error);
	flush_events();
	exit(70);
}

/*
 * Every signal is blocked here and has its default disposition, so that a command inherits nothing but defaults (R-START-1). All but CONT, by
 * which the alarm sets us going.
 */
static void define_signals(void)
{
	uint64_t all = UINT64_MAX & ~((uint64_t)1 << (SIGCONT - 1));
	uint64_t default_action[8] = {0}; /* as large as any kernel_sigaction; all zero is SIG_DFL */
	for (int signal = 1; signal <= 64; signal++)
		syscall(SYS_rt_sigaction, signal, default_action, NULL, sizeof all);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
}

/* Descriptors 0-2 point at nothing, 3 and 4 are the protocol, and nothing else is open or passed on. */
static void define_descriptors(void)
{
	if (syscall(SYS_close_range, 5U, ~0U, 0) != 0)
		fatal("close_range (Linux 5.11 or newer is needed)", errno);
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null_fd < 0)
		fatal("/dev/null cannot be opened", errno);
	for (int fd = 0; fd <= 2; fd++)
		if (dup2(null_fd, fd) < 0)
			fatal("dup2", errno);
	for (int fd = REQUEST_FD; fd <= EVENT_FD; fd++)
		if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0)
			fatal("protocol descriptor", errno);
}

/* SIGCHLD as a descriptor: the dead are reaped as they come, also while nothing else happens (facts: D4). */
static int open_death_notice(void)
{
	sigset_t deaths;
	sigemptyset(&deaths);
	sigaddset(&deaths, SIGCHLD);
	int fd = signalfd(-1, &deaths, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		fatal("signalfd", errno);
	return fd;
}

/* Being there makes ppoll return: without it the kernel goes on with the rest of the wait as it was before the stop. exec takes it away. */
static void notice_alarm(int signal)
{
	(void)signal;
}

/* Where the kernel has no such timer, bailiff's watchdog alone serves. */
static void open_alarm(void)
{
	struct sigaction noticed = {.sa_handler = notice_alarm, .sa_flags = SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT};
	sigaction(SIGCONT, &noticed, NULL);
	if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &alarm_id) != 0)
		alarm_id = -1;
}

/* Sets us going at `wake_ns` (monotonic) even if a command stopped us, and bailiff with us: the CONT of a timer comes from the kernel (R-END-1, R-MECH-4). */
void wake_at(uint64_t wake_ns)
{
	struct itimerspec when = {.it_value = {.tv_sec = (time_t)(wake_ns / 1000000000), .tv_nsec = (long)(wake_ns % 1000000000)}};
	if (alarm_id >= 0 && wake_ns != NEVER)
		syscall(SYS_timer_settime, alarm_id, TIMER_ABSTIME, &when, NULL);
}

/* Out of the way of the kernel's memory killer where that is allowed; commands get the old score back. */
static void leave_harm(void)
{
	char text[16] = {0};
	int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	if (read(fd, text, sizeof text - 1) > 0 && write(fd, "-1000", 5) == 5)
		own_oom_score = atoi(text);
	close(fd);
}

void define_process(void)
{
	self_pid = getpid();
	parent_pid = getppid();
	define_signals();
	define_descriptors();
	setsid(); /* fails where we lead a session already: as good */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L) != 0)
		fatal("PR_SET_CHILD_SUBREAPER", errno);
	if (chdir("/") != 0)
		fatal("chdir /", errno);
	open_proc();
	open_children();
	death_fd = open_death_notice();
	leave_harm();
	open_alarm();
}

/* Keeps our pipes, memory and environment from commands of the same user: /proc and ptrace are shut to all but root (R-MECH-4). */
void seal_process(void)
{
	if (prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L) != 0)
		fatal("PR_SET_DUMPABLE", errno);
}

void reset_command(struct command *c)
{
	memset(c, 0, sizeof *c);
	c->pidfd = -1;
	for (int i = 0; i < 2; i++)
		c->streams[i] = (struct stream){.fd = -1, .at_end = true};
}

/* A command may have stopped bailiff: at each end it is set going again (R-MECH-4). */
static void wake_parent(void)
{
	if (parent_pid != 0 && getppid() == parent_pid)
		kill(parent_pid, SIGCONT);
}

/* One command from its request to its last event. */
void run_command(struct command *c)
{
	uint64_t now = now_ns();
	wake_at(c->timeout_ns > NEVER - now ? NEVER : now + c->timeout_ns); /* it may stop us before we look after it */
	if (!start_command(c))
		return;
	send_started(c);
	flush_events();
	watch(c);
	finish(c);
	drain(c);
	if (c->pidfd >= 0)
		close(c->pidfd);
	send_ended(c);
	flush_events();
	wake_parent();
}

/* Until the request pipe ends (R-MECH-4). */
static int serve(void)
{
	static struct command command;
	reset_command(&command);
	send_hello();
	while (!command.abandoned) {
		pump(&command, NEVER);
		if (!command.requested)
			continue;
		bool inside = command.inside;
		reset_command(&command);
		if (inside) {
			run_errand();
			wake_parent();
			continue;
		}
		if (!parse_run(&command))
			fatal("malformed run request", EPROTO);
		run_command(&command);
		bool abandoned = command.abandoned;
		reset_command(&command);
		command.abandoned = abandoned;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--bench-passthrough") == 0)
		return bench_passthrough(argv[2]);
	if (argc == 2 && strcmp(argv[1], "--init") == 0)
		return serve_inside();
	if (argc != 1) {
		fputs("bailiff-supervisor is started by bailiff, without arguments\n", stderr);
		return 2;
	}
	define_process();
	seal_process();
	return serve();
}
