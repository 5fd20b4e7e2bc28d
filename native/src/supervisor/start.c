/* From a request to a running leader of its own session (R-START-1, R-START-2). */
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ETXTBSY passes when a sibling that holds the file open for writing has called exec: so long we try again. */
#define BUSY_RETRY_NS (200 * MILLISECOND)
#define BUSY_STEP_NS (5 * MILLISECOND)

struct failure {
	int stage, error;
};

/* What the child needs, all opened before it exists. */
struct ends {
	int cwd, out, err, report;
};

/* Opens `cwd` below the checkout component by component; a link, a "..", or an empty component is refused (R-PLAN-5). -1 with errno. */
static int open_cwd(const char *checkout, const char *cwd)
{
	int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int dir = open(checkout, flags);
	if (strcmp(cwd, ".") == 0)
		return dir;
	while (dir >= 0 && cwd != NULL) {
		char name[NAME_MAX + 1];
		const char *slash = strchr(cwd, '/');
		size_t length = slash ? (size_t)(slash - cwd) : strlen(cwd);
		int next = -1;
		errno = length > NAME_MAX ? ENAMETOOLONG : EINVAL;
		if (length > 0 && length <= NAME_MAX) {
			memcpy(name, cwd, length);
			name[length] = 0;
			if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
				next = openat(dir, name, flags);
		}
		int error = errno;
		close(dir);
		errno = error;
		dir = next;
		cwd = slash ? slash + 1 : NULL;
	}
	return dir;
}

/* Sets one limit for the child, never above what it has: a lower ceiling keeps the promise too. */
static int lower_limit(int resource, uint64_t wanted)
{
	struct rlimit limit;
	if (wanted == UNSET)
		return 0;
	if (getrlimit((__rlimit_resource_t)resource, &limit) != 0)
		return -1;
	rlim_t hard = limit.rlim_max < wanted ? limit.rlim_max : (rlim_t)wanted;
	limit.rlim_cur = hard;
	/* one second between the two, so that the death is by SIGXCPU, which says why */
	limit.rlim_max = resource == RLIMIT_CPU && hard < limit.rlim_max ? hard + 1 : hard;
	return setrlimit((__rlimit_resource_t)resource, &limit);
}

static int set_limits(const struct command *c)
{
	static const int resources[LIMIT_COUNT] = {RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_CPU, RLIMIT_NPROC, RLIMIT_FSIZE};
	for (int i = 0; i < LIMIT_COUNT; i++)
		if (lower_limit(resources[i], c->limits[i]) != 0)
			return -1;
	return lower_limit(RLIMIT_CORE, 0);
}

/* Gives the child the badness back that the supervisor took off itself. A failure only makes the child harder to kill for the kernel. */
void restore_oom_score(void)
{
	char text[16];
	if (own_oom_score == INT32_MIN)
		return;
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	int length = snprintf(text, sizeof text, "%d", own_oom_score);
	if (fd >= 0 && write(fd, text, (size_t)length) != length)
		errno = 0;
	if (fd >= 0)
		close(fd);
}

/* Mask and dispositions as a fresh process has them: the supervisor's are all default, so the mask alone is to be opened. */
int open_signal_mask(void)
{
	uint64_t none = 0;
	return (int)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
}

/* Runs in the child: session, directory, descriptors 0-2 alone, limits, mask (R-START-1). 0, or the stage that failed with errno. */
static enum stage prepare_child(const struct command *c, const struct ends *ends)
{
	if (setsid() < 0)
		return STAGE_FORK;
	if (fchdir(ends->cwd) != 0)
		return STAGE_CHDIR;
	/* opened anew: what a command does to its stdin (locks, flags) must not reach the next one */
	close(0);
	if (open("/dev/null", O_RDONLY) != 0 || dup2(ends->out, 1) < 0 || dup2(ends->err, 2) < 0)
		return STAGE_EXEC;
	if (syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) != 0)
		return STAGE_EXEC;
	umask(022);
	restore_oom_score();
	if (set_limits(c) != 0 || open_signal_mask() != 0)
		return STAGE_EXEC;
	return STAGE_NONE;
}

/* The child, between vfork and exec. It shares the memory of the supervisor and changes none of it. No shell is ever asked: ENOEXEC is a failure. */
static _Noreturn void become_command(const struct command *c, const struct ends *ends)
{
	struct failure failure = {.stage = (int)prepare_child(c, ends)};
	if (failure.stage == STAGE_NONE) {
		execve(c->executable, c->argv, c->envp);
		failure.stage = STAGE_EXEC;
	}
	failure.error = errno;
	if (write(ends->report, &failure, sizeof failure) < 0)
		_exit(126);
	_exit(127);
}

static __attribute__((noinline)) pid_t fork_command(const struct command *c, const struct ends *ends)
{
	pid_t pid = vfork();
	if (pid == 0)
		become_command(c, ends);
	return pid;
}

static void close_quietly(int fd)
{
	int error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
}

/* A real pipe, as large as allowed, with a read end that never blocks (R-START-1, R-OUT-1). */
static int make_pipe(struct stream *stream)
{
	int fds[2];
	if (pipe2(fds, O_CLOEXEC) != 0)
		return -1;
	fcntl(fds[0], F_SETPIPE_SZ, PIPE_BYTES);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	*stream = (struct stream){.fd = fds[0]};
	return fds[1];
}

/* One pipe for both streams, or one each with split (R-OUT-1). */
static bool open_pipes(struct command *c, struct ends *ends, int report[2])
{
	ends->out = make_pipe(&c->streams[0]);
	ends->err = c->split && ends->out >= 0 ? make_pipe(&c->streams[1]) : ends->out;
	if (ends->err < 0 || pipe2(report, O_CLOEXEC) != 0)
		return false;
	ends->report = report[1];
	return true;
}

static void close_ends(const struct command *c, struct ends *ends)
{
	close_quietly(ends->out);
	if (c->split)
		close_quietly(ends->err);
	close_quietly(ends->report);
	close_quietly(ends->cwd);
}

/* Forgets the read ends of a start that failed. */
static void close_streams(struct command *c)
{
	for (int i = 0; i < 2; i++) {
		close_quietly(c->streams[i].fd);
		c->streams[i] = (struct stream){.fd = -1, .at_end = true};
	}
}

/* ENOENT of a file that is there speaks of its interpreter (R-START-2). */
static void name_interpreter(const struct command *c, int cwd, struct failure *failure)
{
	struct stat found;
	if (failure->stage == STAGE_EXEC && failure->error == ENOENT && fstatat(cwd, c->executable, &found, 0) == 0)
		failure->stage = STAGE_INTERPRETER;
}

/* Forks and learns whether the exec came about; the leader stays unreaped from here on (R-MECH-5). */
static struct failure fork_and_learn(struct command *c, struct ends *ends, int report)
{
	struct failure failure = {0, 0};
	c->start_ns = now_ns();
	pid_t pid = fork_command(c, ends);
	if (pid < 0)
		return (struct failure){STAGE_FORK, errno};
	close(ends->report);
	ends->report = -1;
	if (read(report, &failure, sizeof failure) == (ssize_t)sizeof failure) {
		waitpid(pid, NULL, 0);
		name_interpreter(c, ends->cwd, &failure);
		return failure;
	}
	c->leader = pid;
	c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* none left: the notice of its death serves as well */
	return (struct failure){0, 0};
}

/* One attempt; `stage` 0 when the command runs. */
static struct failure try_start(struct command *c)
{
	int report[2] = {-1, -1};
	struct ends ends = {-1, -1, -1, -1};
	ends.cwd = open_cwd(c->checkout, c->cwd);
	if (ends.cwd < 0)
		return (struct failure){STAGE_CHDIR, errno};
	struct failure failure = {STAGE_FORK, 0};
	if (open_pipes(c, &ends, report))
		failure = fork_and_learn(c, &ends, report[0]);
	else
		failure.error = errno;
	close_ends(c, &ends);
	close_quietly(report[0]);
	if (failure.stage != STAGE_NONE)
		close_streams(c);
	return failure;
}

/* Starts the command. False: it was not executed, and the failure was sent with errno and stage (R-START-2). */
bool start_command(struct command *c)
{
	uint64_t give_up = now_ns() + BUSY_RETRY_NS;
	struct failure failure = try_start(c);
	while (failure.stage == STAGE_EXEC && failure.error == ETXTBSY && now_ns() < give_up && c->trigger == TRIGGER_NONE) {
		pump(c, now_ns() + BUSY_STEP_NS);
		failure = try_start(c);
	}
	if (failure.stage != STAGE_NONE) {
		send_start_failed(c, (enum stage)failure.stage, failure.error);
		return false;
	}
	c->deadline_ns = c->timeout_ns > NEVER - c->start_ns ? NEVER : c->start_ns + c->timeout_ns;
	return true;
}
