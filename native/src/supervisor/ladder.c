/* TERM, grace, KILL, and the proof that nobody is left (R-END-2, R-END-3, R-END-4, R-MECH-5). */
#include "supervisor.h"

#include <errno.h>
#include <signal.h>
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

enum { SCAN_EVERY = 32 };

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
		if (!rows[i].live || (rows[i].pgrp == c->leader && !c->reaped))
			continue;
		if (signal_row(&rows[i], signal)) {
			note_signalled(c, rows[i].pid);
			note_sent(c, signal);
		}
	}
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

/* KILL to each living child that left the group. True when there was one that had no signal before: then there is no time to sleep. */
static bool strike_children(struct command *c, size_t living)
{
	bool is_fresh = false;
	for (size_t i = 0; i < living; i++) {
		pid_t pid = living_child(i);
		bool in_group = !c->reaped && getpgid(pid) == c->leader;
		if (in_group || kill(pid, SIGKILL) != 0)
			continue;
		note_sent(c, SIGKILL);
		if (note_signalled(c, pid))
			is_fresh = true;
	}
	return is_fresh;
}

/* As the first process of a namespace: everyone but us at one stroke, which no chain of forks can dodge (S-MECH-5). */
static void strike_namespace(struct command *c)
{
	if (self_pid == 1 && kill(-1, SIGKILL) == 0)
		note_sent(c, SIGKILL);
}

/* KILL until nobody lives or `limit` comes. Chains that fork and exit are caught by looking again at once (facts: D4). */
static void kill_everyone(struct command *c, uint64_t limit)
{
	size_t living = reap_adopted(c);
	for (unsigned round = 0; living > 0 && (round == 0 || now_ns() < limit); round++) {
		strike_namespace(c);
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

/* TERM then CONT to everyone, a grace judged on everyone, then KILL (R-END-2). The group comes first: it needs no scan. */
static void end_command(struct command *c)
{
	uint64_t grace_end = now_ns() + GRACE_NS;
	signal_group(c, SIGTERM);
	signal_group(c, SIGCONT);
	struct census census = take_census(c);
	if (c->leader_dead)
		c->leftovers = census.live;
	signal_escapees(c, SIGTERM);
	signal_escapees(c, SIGCONT);
	if (await_vanishing(c, grace_end) > 0)
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
	c->left_pid = c->left_alive > 0 ? living_child(0) : 0;
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
	forget_all_signalled(c);
}
