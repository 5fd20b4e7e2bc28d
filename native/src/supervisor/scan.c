/*
 * Who is alive: by group, session and descent (R-END-4).
 *
 * Descent is walked down from this process by the kernel's lists of children; group and session are asked of every process there is, by two
 * cheap system calls. Only whoever belongs to the command has its files read, so that strangers cost next to nothing (R-PERF-2).
 */
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_ROWS = 64 * 1024, STAT_BYTES = 1024, LISTING_BYTES = 32 * 1024 };

struct linux_dirent64 {
	uint64_t d_ino;
	int64_t d_off;
	unsigned short d_reclen;
	unsigned char d_type;
	char d_name[];
};

static struct row rows[MAX_ROWS];
static size_t row_count;
static bool is_readable; /* of the census that is being taken */
/* One bit for each process that has a row. */
static uint8_t has_row[MAX_PID / 8];
static int proc_fd = -1;

/* Opens what every scan needs, once, while descriptors are plenty. */
void open_proc(void)
{
	proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc_fd < 0)
		fatal("/proc cannot be opened", errno);
}

static bool has_vanished(int error)
{
	return error == ENOENT || error == ESRCH;
}

/* The number after `*at`, which is moved behind it. */
static uint64_t take_number(char **at)
{
	return strtoull(*at, at, 10);
}

/* Reads a stat file into `row`. The name may hold blanks and brackets: what counts starts after the last one (R-END-4). 0, or errno. */
static int read_stat(int dir, const char *path, struct row *row)
{
	char text[STAT_BYTES];
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	ssize_t got = read(fd, text, sizeof text - 1);
	int error = got < 0 ? errno : 0;
	close(fd);
	if (error != 0)
		return error;
	text[got] = 0;
	char *at = strrchr(text, ')');
	if (at == NULL || strlen(at) < 4)
		return EIO;
	*row = (struct row){.pid = atoi(text), .state = at[2]};
	at += 3;
	row->ppid = (pid_t)take_number(&at);
	row->pgrp = (pid_t)take_number(&at);
	row->session = (pid_t)take_number(&at);
	for (int field = 7; field < 20; field++)
		strtoll(at, &at, 10);
	row->threads = (uint32_t)take_number(&at);
	take_number(&at);
	row->start_ticks = take_number(&at);
	return 0;
}

/* Calls `visit` with each number among the names of a directory of /proc; false when the directory cannot be read. */
static bool for_each_number(int dir, void (*visit)(pid_t number, void *context), void *context)
{
	char buffer[LISTING_BYTES] __attribute__((aligned(8)));
	for (;;) {
		long got = syscall(SYS_getdents64, dir, buffer, sizeof buffer);
		if (got <= 0)
			return got == 0 || has_vanished(errno);
		for (long at = 0; at < got;) {
			struct linux_dirent64 *entry = (struct linux_dirent64 *)(buffer + at);
			at += entry->d_reclen;
			if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
				visit((pid_t)atoi(entry->d_name), context);
		}
	}
}

/* Calls `visit` with each child that the open list names, dead or alive. False: unreadable. */
bool for_each_child(int list, void (*visit)(pid_t pid, void *context), void *context)
{
	char buffer[LISTING_BYTES / 8];
	pid_t pid = 0;
	ssize_t got;
	while ((got = read(list, buffer, sizeof buffer)) > 0) {
		for (ssize_t i = 0; i < got; i++) {
			if (buffer[i] >= '0' && buffer[i] <= '9') {
				pid = pid * 10 + (buffer[i] - '0');
			} else if (pid != 0) {
				visit(pid, context);
				pid = 0;
			}
		}
	}
	return got == 0 || has_vanished(errno);
}

/* Gives `pid` a row, once. */
static void add_row(pid_t pid, void *context)
{
	char path[32];
	uint8_t bit = (uint8_t)(1u << (pid % 8));
	(void)context;
	if (pid >= MAX_PID || (has_row[pid / 8] & bit) != 0 || pid == self_pid)
		return;
	snprintf(path, sizeof path, "%d/stat", (int)pid);
	int error = row_count == MAX_ROWS ? ENOMEM : read_stat(proc_fd, path, &rows[row_count]);
	if (error != 0) {
		is_readable = is_readable && has_vanished(error);
		return;
	}
	has_row[pid / 8] |= bit;
	row_count++;
}

struct thread_visit {
	pid_t pid;
	int dir;
	bool live;
};

/* Rows for the children of one thread. */
static void add_children(pid_t tid, void *context)
{
	const struct thread_visit *visit = context;
	char path[48];
	snprintf(path, sizeof path, "%d/task/%d/children", (int)visit->pid, (int)tid);
	int list = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (list < 0) {
		is_readable = is_readable && has_vanished(errno);
		return;
	}
	if (!for_each_child(list, add_row, NULL))
		is_readable = false;
	close(list);
}

static bool is_dead_state(char state)
{
	return state == 'Z' || state == 'X' || state == 'x';
}

static void judge_thread(pid_t tid, void *context)
{
	struct thread_visit *visit = context;
	char path[32];
	struct row thread;
	snprintf(path, sizeof path, "%d/stat", (int)tid);
	int error = read_stat(visit->dir, path, &thread);
	is_readable = is_readable && (error == 0 || has_vanished(error));
	visit->live = visit->live || (error == 0 && !is_dead_state(thread.state));
}

/* Calls `visit` for each thread of a process. */
static void for_each_thread(struct thread_visit *visit, void (*each)(pid_t tid, void *context))
{
	char path[32];
	snprintf(path, sizeof path, "%d/task", (int)visit->pid);
	visit->dir = openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (visit->dir < 0) {
		is_readable = is_readable && has_vanished(errno);
		return;
	}
	if (!for_each_number(visit->dir, each, visit))
		is_readable = false;
	close(visit->dir);
}

/* Every process below this one, in whatever session: the rows grow while they are walked. A child hangs on the thread that made it. */
static void walk_descent(void)
{
	struct thread_visit own = {.pid = self_pid};
	add_children(self_pid, &own);
	for (size_t i = 0; i < row_count; i++) {
		struct thread_visit visit = {.pid = rows[i].pid};
		if (rows[i].threads > 1)
			for_each_thread(&visit, add_children);
		else if (rows[i].state != 'Z')
			add_children(rows[i].pid, &visit);
	}
}

/* A row for whoever is in the command's group or session, wherever it hangs. */
static void add_if_grouped(pid_t pid, void *context)
{
	const struct command *c = context;
	if (getpgid(pid) == c->leader || getsid(pid) == c->leader)
		add_row(pid, NULL);
}

static void forget_rows(void)
{
	for (size_t i = 0; i < row_count; i++)
		has_row[rows[i].pid / 8] = 0;
	row_count = 0;
}

/* Any thread that is not Z or X makes a process live: its main thread may have ended while others run (R-END-4). */
static bool is_live(const struct row *row)
{
	struct thread_visit visit = {.pid = row->pid, .live = !is_dead_state(row->state)};
	if (!visit.live)
		for_each_thread(&visit, judge_thread);
	return visit.live;
}

/* A mixing step (splitmix64), so that equal sums of a set mean equal sets. */
static uint64_t mix(uint64_t value)
{
	value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
	return value ^ (value >> 31);
}

/* One look at everybody of the command: who lives, and which dead are not ours to reap (R-END-4). The zombies of our own children are neither. */
struct census take_census(const struct command *c)
{
	struct census census = {0};
	forget_rows();
	is_readable = lseek(proc_fd, 0, SEEK_SET) == 0;
	walk_descent();
	/* once the leader is reaped, its number may be the group of strangers (R-MECH-5) */
	if (!c->reaped && !for_each_number(proc_fd, add_if_grouped, (void *)(uintptr_t)c))
		is_readable = false;
	for (size_t i = 0; i < row_count; i++) {
		struct row *row = &rows[i];
		row->live = is_live(row);
		if (row->live && census.live++ == 0)
			census.first_live = row->pid;
		if (!row->live && row->ppid != self_pid) {
			census.foreign_zombies++;
			census.zombie_print += mix((uint64_t)row->pid << 40 ^ row->start_ticks);
		}
	}
	census.readable = is_readable;
	return census;
}

/* The rows of the last census: the command's processes, dead or alive. */
const struct row *scanned_rows(size_t *count)
{
	*count = row_count;
	return rows;
}

/* Whether the process is still the one that was scanned, not another with its id. */
bool still_is(const struct row *row)
{
	char path[32];
	struct row now;
	snprintf(path, sizeof path, "%d/stat", (int)row->pid);
	return read_stat(proc_fd, path, &now) == 0 && now.start_ticks == row->start_ticks;
}
