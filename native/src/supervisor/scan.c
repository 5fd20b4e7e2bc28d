/* Who is alive: all of /proc by group, session and descent (R-END-4). */
#include "supervisor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_ROWS = 128 * 1024, STAT_BYTES = 1024, LISTING_BYTES = 32 * 1024 };

struct linux_dirent64 {
	uint64_t d_ino;
	int64_t d_off;
	unsigned short d_reclen;
	unsigned char d_type;
	char d_name[];
};

static struct row rows[MAX_ROWS];
static size_t row_count;
static int proc_fd = -1;
static char listing[LISTING_BYTES] __attribute__((aligned(8)));

/* Opens what every scan needs, once, while descriptors are plenty. */
void open_proc(void)
{
	proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc_fd < 0)
		fatal("/proc cannot be opened", errno);
}

/* The number after `*at`, which is moved behind it. */
static uint64_t take_number(char **at)
{
	char *end;
	uint64_t value = strtoull(*at, &end, 10);
	*at = end;
	return value;
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
	row->pid = atoi(text);
	row->state = at[2];
	at += 3;
	row->ppid = (pid_t)take_number(&at);
	row->pgrp = (pid_t)take_number(&at);
	row->session = (pid_t)take_number(&at);
	for (int field = 7; field <= 22 && *at != 0; field++) {
		row->start_ticks = (uint64_t)strtoll(at, &at, 10);
	}
	return 0;
}

static bool has_vanished(int error)
{
	return error == ENOENT || error == ESRCH;
}

/* Calls `visit` with each numeric name of a directory of /proc; false when the directory or an entry cannot be read. */
static bool for_each_number(int dir, char *buffer, size_t size, bool (*visit)(const char *name, void *context), void *context)
{
	for (;;) {
		long got = syscall(SYS_getdents64, dir, buffer, size);
		if (got <= 0)
			return got == 0 || has_vanished(errno);
		for (long at = 0; at < got;) {
			struct linux_dirent64 *entry = (struct linux_dirent64 *)(buffer + at);
			at += entry->d_reclen;
			if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && !visit(entry->d_name, context))
				return false;
		}
	}
}

static bool visit_process(const char *name, void *context)
{
	char path[32];
	(void)context;
	if (row_count == MAX_ROWS)
		return false;
	snprintf(path, sizeof path, "%.15s/stat", name);
	struct row *row = &rows[row_count];
	memset(row, 0, sizeof *row);
	int error = read_stat(proc_fd, path, row);
	if (error == 0)
		row_count++;
	return error == 0 || has_vanished(error);
}

/* Fills the rows with every process there is. False: something could not be read, or there are too many. */
bool scan_all(void)
{
	row_count = 0;
	if (lseek(proc_fd, 0, SEEK_SET) != 0)
		return false;
	return for_each_number(proc_fd, listing, sizeof listing, visit_process, NULL);
}

static bool is_dead_state(char state)
{
	return state == 'Z' || state == 'X' || state == 'x';
}

struct threads {
	int dir;
	bool live;
};

static bool visit_thread(const char *name, void *context)
{
	char path[32];
	struct row thread = {0};
	struct threads *threads = context;
	snprintf(path, sizeof path, "%.15s/stat", name);
	int error = read_stat(threads->dir, path, &thread);
	if (error == 0 && !is_dead_state(thread.state))
		threads->live = true;
	return error == 0 || has_vanished(error);
}

/* Any thread that is not Z or X makes a process live: its main thread may have ended while others run (R-END-4). False: unreadable. */
static bool judge_life(struct row *row)
{
	char path[32];
	char buffer[4096] __attribute__((aligned(8)));
	row->live = !is_dead_state(row->state);
	if (row->live)
		return true;
	snprintf(path, sizeof path, "%d/task", (int)row->pid);
	struct threads threads = {.dir = openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	if (threads.dir < 0)
		return has_vanished(errno);
	bool readable = for_each_number(threads.dir, buffer, sizeof buffer, visit_thread, &threads);
	close(threads.dir);
	row->live = threads.live;
	return readable;
}

/* The row of `pid`: /proc lists processes in the order of their ids. */
static struct row *row_of(pid_t pid)
{
	size_t low = 0, high = row_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (rows[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < row_count && rows[low].pid == pid ? &rows[low] : NULL;
}

/* Membership by group and session first, then down the tree until nothing changes. All that descends from us is of the command. */
static void mark_members(const struct command *c)
{
	bool changed = true;
	for (size_t i = 0; i < row_count; i++)
		rows[i].member = rows[i].pid != self_pid && (rows[i].pgrp == c->leader || rows[i].session == c->leader || rows[i].ppid == self_pid);
	while (changed) {
		changed = false;
		for (size_t i = 0; i < row_count; i++) {
			const struct row *parent = rows[i].member ? NULL : row_of(rows[i].ppid);
			if (parent != NULL && parent->member && rows[i].pid != self_pid)
				rows[i].member = changed = true;
		}
	}
}

/* A mixing step (splitmix64), so that equal sums of a set mean equal sets. */
static uint64_t mix(uint64_t value)
{
	value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
	return value ^ (value >> 31);
}

/* One look at all of /proc: who of the command lives, and which dead are not ours to reap (R-END-4). The leader's own zombie is neither. */
struct census take_census(const struct command *c)
{
	struct census census = {.readable = scan_all()};
	mark_members(c);
	for (size_t i = 0; i < row_count; i++) {
		struct row *row = &rows[i];
		if (!row->member)
			continue;
		if (!judge_life(row))
			census.readable = false;
		if (row->live) {
			if (census.live++ == 0)
				census.first_live = row->pid;
		} else if (row->ppid != self_pid) {
			census.foreign_zombies++;
			census.zombie_print += mix((uint64_t)row->pid << 40 ^ row->start_ticks);
		}
	}
	return census;
}

/* The rows of the last census. */
const struct row *scanned_rows(size_t *count)
{
	*count = row_count;
	return rows;
}

/* Whether the process is still the one that was scanned, not another with its id. */
bool still_is(const struct row *row)
{
	char path[32];
	struct row now = {0};
	snprintf(path, sizeof path, "%d/stat", (int)row->pid);
	return read_stat(proc_fd, path, &now) == 0 && now.start_ticks == row->start_ticks;
}
