/* TERM, grace, KILL, and the proof that nobody is left (R-END-2, R-END-3, R-END-4, R-MECH-5). */
#include "supervisor.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define VANISH_NS (50 * MILLISECOND)
#define GRACE_NS (250 * MILLISECOND)
#define KILL_NS (500 * MILLISECOND)
#define FALLBACK_NS (100 * MILLISECOND)
#define ABANDONED_NS (10000 * MILLISECOND)
#define STABLE_NS (10 * MILLISECOND)
#define STEP_NS (1 * MILLISECOND)

enum { MAX_CHILDREN = 64 * 1024, MAX_PID = 1 << 22, SCAN_EVERY = 32 };

static pid_t children[MAX_CHILDREN];
/* One bit for each process outside the group that got a signal, so that it counts once. */
static uint8_t signalled[MAX_PID / 8];

static void forget_signalled(pid_t pid)
{
	if (pid < MAX_PID)
		signalled[pid / 8] &= (uint8_t)~(1u << (pid % 8));
}

/* True the first time for each process. */
static bool note_signalled(struct command *c, pid_t pid)
{
	uint8_t bit = (uint8_t)(1u << (pid % 8));
	if (pid >= MAX_PID || (signalled[pid / 8] & bit) != 0)
		return false;
	signalled[pid / 8] |= bit;
	c->escaped++;
	return true;
}

static void note_sent(struct command *c, int signal)
{
	if (signal == SIGTERM && !c->term_sent) {
		c->term_sent = true;
		c->term_ns = now_ns();
	}
	if (signal == SIGKILL && !c->kill_sent) {
		c->kill_sent = true;
		c->kill_ns = now_ns();
	}
}

/* To the whole group at once. Only while the leader is unreaped, so that the number cannot be another's (R-MECH-5). */
static void signal_group(struct command *c, int signal)
{
	if (!c->reaped && kill(-c->leader, signal) == 0)
		note_sent(c, signal);
}

/* Through a pidfd whose process is looked at again: an id that was used anew is not hit. A child of ours cannot change its id before we reap it. */
static bool signal_row(const struct row *row, int signal)
{
	if (row->ppid == self_pid)
		return kill(row->pid, signal) == 0;
	int fd = (int)syscall(SYS_pidfd_open, row->pid, 0);
	if (fd < 0)
		return false;
	bool sent = still_is(row) && syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0) == 0;
	close(fd);
	return sent;
}

/* To every living member of the last census that left the group, by session or descent. */
static void signal_escapees(struct command *c, int signal)
{
	size_t count;
	const struct row *rows = scanned_rows(&count);
	for (size_t i = 0; i < count; i++) {
		if (!rows[i].member || !rows[i].live || (rows[i].pgrp == c->leader && !c->reaped))
			continue;
		if (signal_row(&rows[i], signal)) {
			note_signalled(c, rows[i].pid);
			note_sent(c, signal);
		}
	}
}

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
 * Leaves the living in `children` and returns how many they are: nobody here, nobody below (R-MECH-3).
 */
static size_t reap_adopted(struct command *c)
{
	size_t count = list_children(children, MAX_CHILDREN), living = 0;
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

static void reap_leader(struct command *c)
{
	struct rusage usage;
	if (c->reaped || wait4(c->leader, &c->wait_status, WNOHANG, &usage) != c->leader)
		return;
	c->reaped = c->leader_dead = true;
	add_usage(c, &usage);
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Lets the command be until nobody lives, `limit` comes, or a second interrupt asks for KILL. Returns how many live. */
static size_t await_vanishing(struct command *c, uint64_t limit)
{
	size_t living = reap_adopted(c);
	while (living > 0 && now_ns() < limit && !c->kill_now) {
		pump(c, sooner(now_ns() + STEP_NS, limit));
		living = reap_adopted(c);
	}
	return living;
}

/* The last of a command may take a moment to vanish after its pipes closed; who lives on is a descendant to be ended (R-END-3). */
static void settle(struct command *c)
{
	uint64_t limit = sooner(now_ns() + VANISH_NS, c->deadline_ns);
	if (await_vanishing(c, limit) > 0)
		set_trigger(c, limit == c->deadline_ns ? TRIGGER_TIMEOUT : TRIGGER_DESCENDANT);
}

/* KILL to each living child that was not in the group's strike or is new. True when there was a new one: then there is no time to sleep. */
static bool strike_children(struct command *c, size_t living)
{
	bool is_fresh = false;
	for (size_t i = 0; i < living; i++) {
		pid_t pid = children[i];
		bool in_group = !c->reaped && getpgid(pid) == c->leader;
		if (in_group || kill(pid, SIGKILL) != 0)
			continue;
		note_sent(c, SIGKILL);
		if (note_signalled(c, pid))
			is_fresh = true;
	}
	return is_fresh;
}

/* KILL until nobody lives or `limit` comes. Chains that fork and exit are caught by looking again at once (facts: D4). */
static void kill_everyone(struct command *c, uint64_t limit)
{
	size_t living = reap_adopted(c);
	for (unsigned round = 0; living > 0 && (round == 0 || now_ns() < limit); round++) {
		signal_group(c, SIGKILL);
		bool is_fresh = strike_children(c, living);
		if (round % SCAN_EVERY == 0) {
			take_census(c);
			signal_escapees(c, SIGKILL);
		}
		if (!is_fresh)
			pump(c, sooner(now_ns() + STEP_NS, limit));
		living = reap_adopted(c);
	}
}

/* TERM then CONT to everyone, a grace judged on everyone, then KILL (R-END-2). */
static void end_command(struct command *c)
{
	signal_group(c, SIGTERM);
	take_census(c);
	signal_escapees(c, SIGTERM);
	signal_group(c, SIGCONT);
	signal_escapees(c, SIGCONT);
	if (await_vanishing(c, now_ns() + GRACE_NS) > 0)
		kill_everyone(c, now_ns() + (c->abandoned ? ABANDONED_NS : KILL_NS));
}

/* Dead processes that are not ours to reap are accepted when two looks list the same (R-END-4). */
static bool zombies_are_stable(struct command *c, const struct census *first)
{
	if (first->foreign_zombies == 0)
		return true;
	uint64_t again = now_ns() + STABLE_NS;
	while (now_ns() < again)
		pump(c, again);
	struct census second = take_census(c);
	return second.readable && second.live == 0 && second.foreign_zombies == first->foreign_zombies && second.zombie_print == first->zombie_print;
}

/* After the last reaping: no child of ours is left, and the group's number means nobody. */
static bool is_empty(const struct command *c, const struct census *census)
{
	siginfo_t info;
	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD)
		return false;
	return (kill(-c->leader, 0) != 0 && errno == ESRCH) || census->foreign_zombies > 0;
}

/*
 * The proof, in this order (R-END-4): nobody of group, session and descent lives; the dead that are not ours stay the same; all of ours
 * are reaped, the leader last; no child is left; the group is gone. False: somebody lives, or /proc cannot be read.
 */
static bool prove_gone(struct command *c)
{
	c->left_alive = (uint32_t)reap_adopted(c);
	c->left_pid = c->left_alive > 0 ? children[0] : 0;
	if (c->left_alive > 0)
		return false;
	struct census census = take_census(c);
	c->left_alive = census.live;
	c->left_pid = census.first_live;
	if (!census.readable || census.live > 0 || !zombies_are_stable(c, &census))
		return false;
	if (reap_adopted(c) > 0)
		return false;
	reap_leader(c);
	return c->reaped && is_empty(c, &census);
}

/* From the end of the watch to the proof. Without a trigger nothing is signalled; with one the ladder runs, and a failed proof is tried again within a bound. */
void finish(struct command *c)
{
	if (c->trigger == TRIGGER_NONE)
		settle(c);
	if (c->trigger == TRIGGER_NONE) {
		c->cleaned = prove_gone(c);
		if (!c->cleaned)
			set_trigger(c, c->left_alive > 0 ? TRIGGER_DESCENDANT : TRIGGER_INTERNAL);
	}
	if (!c->cleaned) {
		end_command(c);
		uint64_t limit = now_ns() + FALLBACK_NS;
		while (!(c->cleaned = prove_gone(c)) && now_ns() < limit) {
			signal_group(c, SIGKILL);
			kill_everyone(c, limit);
		}
	}
	c->end_ns = now_ns();
	if (c->escaped > 0)
		memset(signalled, 0, sizeof signalled);
}
