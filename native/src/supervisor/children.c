/* Our own children, adopted ones included: the kernel's list of them, and their reaping (R-MECH-3, R-MECH-5). */
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_CHILDREN = 64 * 1024, MAX_PID = 1 << 22, LISTING_BYTES = 16 * 1024 };

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

/* Absent without CONFIG_PROC_CHILDREN: then a scan of /proc serves. */
void open_children(void)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)self_pid);
	children_fd = open(path, O_RDONLY | O_CLOEXEC);
}

static size_t children_by_scan(void)
{
	size_t rows_count, count = 0;
	scan_all();
	const struct row *rows = scanned_rows(&rows_count);
	for (size_t i = 0; i < rows_count && count < MAX_CHILDREN; i++)
		if (rows[i].ppid == self_pid)
			children[count++] = rows[i].pid;
	return count;
}

/* Fills `children` with all direct children, dead or alive: a few microseconds, whatever else runs on the machine. */
static size_t list_children(void)
{
	static char listing[LISTING_BYTES];
	size_t count = 0;
	pid_t pid = 0;
	ssize_t got;
	if (children_fd < 0 || lseek(children_fd, 0, SEEK_SET) != 0)
		return children_by_scan();
	while ((got = read(children_fd, listing, sizeof listing)) > 0) {
		for (ssize_t i = 0; i < got; i++) {
			if (listing[i] >= '0' && listing[i] <= '9') {
				pid = pid * 10 + (listing[i] - '0');
			} else if (pid != 0) {
				if (count < MAX_CHILDREN)
					children[count++] = pid;
				pid = 0;
			}
		}
	}
	return got < 0 ? children_by_scan() : count;
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

