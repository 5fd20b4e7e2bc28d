/* Our own children, adopted ones included: the kernel's list of them, and their reaping (R-MECH-3, R-MECH-5). */
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_CHILDREN = 64 * 1024 };

static int children_fd = -1;
static pid_t children[MAX_CHILDREN];
/* One bit for each process outside the group that got a signal, so that it counts once. */
static uint8_t signalled[MAX_PID / 8];

static void forget_signalled(pid_t pid)
{
	if (pid < MAX_PID)
		signalled[pid / 8] &= (uint8_t)~(1u << (pid % 8));
}

/* True the first time for each process. */
bool note_signalled(struct command *c, pid_t pid)
{
	uint8_t bit = (uint8_t)(1u << (pid % 8));
	if (pid >= MAX_PID || (signalled[pid / 8] & bit) != 0)
		return false;
	signalled[pid / 8] |= bit;
	c->escaped++;
	return true;
}

/* Before the next command, every bit is clear again. */
void forget_all_signalled(const struct command *c)
{
	if (c->escaped > 0)
		memset(signalled, 0, sizeof signalled);
}

/* The kernel's list of our children stays open. Without it nothing could be proved cheaply, so nothing runs. */
void open_children(void)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)self_pid);
	children_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (children_fd < 0)
		fatal("this kernel does not list children (CONFIG_PROC_CHILDREN)", errno);
}

static void take_child(pid_t pid, void *context)
{
	size_t *count = context;
	if (*count < MAX_CHILDREN)
		children[(*count)++] = pid;
}

/* Fills `children` with all direct children, dead or alive: a few microseconds, whatever else runs on the machine. */
static size_t list_children(void)
{
	size_t count = 0;
	if (lseek(children_fd, 0, SEEK_SET) != 0 || !for_each_child(children_fd, take_child, &count))
		fatal("the list of children cannot be read", errno);
	return count;
}

/* A child that the last reaping found alive. */
pid_t living_child(size_t index)
{
	return children[index];
}

/* Dead, and left as it is. */
static bool is_leader_dead(struct command *c)
{
	siginfo_t info = {0};
	if (!c->leader_dead && waitid(P_PID, (id_t)c->leader, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == c->leader) {
		c->leader_dead = true;
		c->leader_dead_ns = now_ns();
	}
	return c->leader_dead;
}

/* Adds what a reaped child used (R-RES-1). */
static void add_usage(struct command *c, const struct rusage *usage)
{
	uint64_t rss = (uint64_t)usage->ru_maxrss * 1024;
	c->user_us += (uint64_t)usage->ru_utime.tv_sec * 1000000 + (uint64_t)usage->ru_utime.tv_usec;
	c->system_us += (uint64_t)usage->ru_stime.tv_sec * 1000000 + (uint64_t)usage->ru_stime.tv_usec;
	c->max_rss_bytes = rss > c->max_rss_bytes ? rss : c->max_rss_bytes;
	c->reaped_count++;
}

/*
 * Reaps every dead child but the leader, each by its id, since the leader's zombie would hide the others from a plain wait.
 * Returns how many live, for living_child. Every descendant that lives hangs on a child of ours that lives, since orphans become ours at
 * once: nobody here means nobody below (R-MECH-3).
 */
size_t reap_adopted(struct command *c)
{
	size_t count = list_children(), living = 0;
	for (size_t i = 0; i < count; i++) {
		int status;
		struct rusage usage;
		pid_t pid = children[i];
		if (pid == c->leader && !c->reaped) {
			if (!is_leader_dead(c))
				children[living++] = pid;
			continue;
		}
		pid_t got = wait4(pid, &status, WNOHANG, &usage);
		if (got == pid) {
			add_usage(c, &usage);
			forget_signalled(pid);
		} else if (got == 0) {
			children[living++] = pid;
		}
	}
	return living;
}

/*
 * Reaps who died meanwhile, at a cost that does not grow with those who live. Once the leader's zombie is in the way, the list serves.
 * Called whenever a child died: a chain that forks for ever must not fill the machine with its dead (facts: D4).
 */
void reap_dead(struct command *c)
{
	siginfo_t info = {0};
	struct rusage usage;
	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
		if (info.si_pid == c->leader) {
			reap_adopted(c);
			return;
		}
		if (wait4(info.si_pid, NULL, WNOHANG, &usage) != info.si_pid)
			return;
		add_usage(c, &usage);
		forget_signalled(info.si_pid);
		info.si_pid = 0;
	}
}

/* The last of all (R-MECH-5). From here on the group's number may mean others. */
void reap_leader(struct command *c)
{
	struct rusage usage;
	if (c->reaped || wait4(c->leader, &c->wait_status, WNOHANG, &usage) != c->leader)
		return;
	c->reaped = c->leader_dead = true;
	add_usage(c, &usage);
}

