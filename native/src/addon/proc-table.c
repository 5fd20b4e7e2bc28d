/* Reads /proc into a table. Total on races: a process that vanishes while it is read is no error, one that cannot be read is named. */
#include "proc-table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Enough for field 22 with every number at its longest and a name of 64 bytes. */
enum { STAT_BYTES = 768, NAME_BYTES = 64, SETTLE_ROUNDS = 8 };

int pid_list_add(struct pid_list *list, int32_t pid)
{
	if (list->count == list->room) {
		size_t room = list->room ? list->room * 2 : 16;
		int32_t *grown = realloc(list->pids, room * sizeof *grown);
		if (!grown)
			return ENOMEM;
		list->pids = grown;
		list->room = room;
	}
	list->pids[list->count++] = pid;
	return 0;
}

static int add_row(struct proc_table *table, const struct proc_row *row)
{
	if (table->count == table->room) {
		size_t room = table->room ? table->room * 2 : 1024;
		struct proc_row *grown = realloc(table->rows, room * sizeof *grown);
		if (!grown)
			return ENOMEM;
		table->rows = grown;
		table->room = room;
	}
	table->rows[table->count++] = *row;
	return 0;
}

bool proc_is_pid_name(const char *name)
{
	size_t length = strlen(name);
	return length > 0 && length < 11 && strspn(name, "0123456789") == length;
}

/* The name of a process may hold blanks, newlines and ")": everything is counted from the last ")" (R-END-4). */
static bool parse_stat(char *text, struct proc_row *row)
{
	char *at = strrchr(text, ')');
	if (!at || at[1] != ' ' || !at[2] || at[3] != ' ')
		return false;
	row->pid = (int32_t)strtol(text, NULL, 10);
	row->state = at[2];
	at += 3;
	row->ppid = (int32_t)strtol(at, &at, 10);
	row->pgrp = (int32_t)strtol(at, &at, 10);
	row->session = (int32_t)strtol(at, &at, 10);
	for (int field = 7; field <= 21; field++) {
		if (*at != ' ')
			return false;
		at++;
		at += strcspn(at, " ");
	}
	char *end;
	row->start_time = strtoull(at, &end, 10);
	return end != at && *end == ' ';
}

/* R-END-4. */
enum proc_answer proc_read_row(int proc, const char *name, struct proc_row *row)
{
	char path[NAME_BYTES];
	if (snprintf(path, sizeof path, "%s/stat", name) >= (int)sizeof path)
		return PROC_UNREADABLE;
	int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ESRCH ? PROC_VANISHED : errno == EMFILE || errno == ENFILE || errno == ENOMEM ? PROC_FAILED : PROC_UNREADABLE;
	char text[STAT_BYTES];
	ssize_t length;
	do {
		length = read(fd, text, sizeof text - 1);
	} while (length < 0 && errno == EINTR);
	int error = errno;
	close(fd);
	if (length < 0) {
		errno = error;
		return error == ESRCH || error == ENOENT ? PROC_VANISHED : error == ENOMEM ? PROC_FAILED : PROC_UNREADABLE;
	}
	text[length] = 0;
	*row = (struct proc_row){.verdict = VERDICT_UNKNOWN};
	return parse_stat(text, row) ? PROC_READ : PROC_UNREADABLE;
}

static int by_pid(const void *left, const void *right)
{
	int32_t a = ((const struct proc_row *)left)->pid, b = ((const struct proc_row *)right)->pid;
	return (a > b) - (a < b);
}

static struct proc_row *find_row(const struct proc_table *table, int32_t pid)
{
	struct proc_row key = {.pid = pid};
	return table->count ? bsearch(&key, table->rows, table->count, sizeof key, by_pid) : NULL;
}

static int read_all(struct proc_table *table, DIR *directory)
{
	struct dirent *entry;
	for (errno = 0; (entry = readdir(directory)); errno = 0) {
		struct proc_row row;
		if (!proc_is_pid_name(entry->d_name))
			continue;
		int error = 0;
		switch (proc_read_row(table->proc, entry->d_name, &row)) {
		case PROC_READ:
			error = add_row(table, &row);
			break;
		case PROC_UNREADABLE:
			error = pid_list_add(&table->unreadable, (int32_t)strtol(entry->d_name, NULL, 10));
			break;
		case PROC_FAILED:
			error = errno;
			break;
		case PROC_VANISHED:
			break;
		}
		if (error)
			return error;
	}
	return errno;
}

enum proc_answer proc_read_pid(int proc, int32_t pid, struct proc_row *row)
{
	char name[16];
	snprintf(name, sizeof name, "%d", pid);
	return proc_read_row(proc, name, row);
}

/*
 * A parent may die, or be born, between two reads. Then the child's row names a parent that the table does not have, and its descent would be lost:
 * read the child again (it has been given to another parent), and the parent where it is new.
 */
static int settle_parents(struct proc_table *table, bool *has_changed)
{
	size_t known = table->count;
	*has_changed = false;
	for (size_t i = 0; i < known; i++) {
		struct proc_row *row = &table->rows[i], again;
		struct proc_table sorted = *table;
		sorted.count = known;
		if (row->is_gone || row->ppid <= 0 || find_row(&sorted, row->ppid))
			continue;
		enum proc_answer answer = proc_read_pid(table->proc, row->pid, &again);
		if (answer == PROC_FAILED)
			return errno;
		if (answer == PROC_VANISHED || (answer == PROC_READ && again.start_time != row->start_time)) {
			row->is_gone = true;
		} else if (answer == PROC_READ && again.ppid != row->ppid) {
			*row = again;
			*has_changed = true;
		} else if (answer == PROC_READ && proc_read_pid(table->proc, again.ppid, &again) == PROC_READ) {
			*has_changed = true;
			if (add_row(table, &again))
				return ENOMEM;
		}
	}
	return 0;
}

/* Siblings that share a new parent add it once each. */
static void sort_rows(struct proc_table *table)
{
	size_t kept = 0;
	qsort(table->rows, table->count, sizeof *table->rows, by_pid);
	for (size_t i = 0; i < table->count; i++) {
		if (kept == 0 || table->rows[kept - 1].pid != table->rows[i].pid)
			table->rows[kept++] = table->rows[i];
	}
	table->count = kept;
}

/* /proc must be that of our own pid namespace: with any other (or none) "nobody is left" would be a lie. */
int proc_open(int *proc)
{
	struct statfs filesystem;
	char self[16], expected[16];
	*proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*proc < 0 || fstatfs(*proc, &filesystem))
		return errno;
	ssize_t length = readlinkat(*proc, "self", self, sizeof self - 1);
	if (filesystem.f_type != PROC_SUPER_MAGIC || length < 0)
		return ENODEV;
	self[length] = 0;
	snprintf(expected, sizeof expected, "%d", getpid());
	return strcmp(self, expected) == 0 ? 0 : ENODEV;
}

int proc_table_open(struct proc_table *table)
{
	*table = (struct proc_table){.proc = -1};
	int error = proc_open(&table->proc);
	int listed = error ? -1 : openat(table->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = listed < 0 ? NULL : fdopendir(listed);
	if (error || !directory) {
		error = error ? error : errno;
		if (listed >= 0)
			close(listed);
		return error;
	}
	error = read_all(table, directory);
	closedir(directory);
	if (error)
		return error;
	sort_rows(table);
	bool has_changed = true;
	for (int round = 0; round < SETTLE_ROUNDS && has_changed; round++) {
		if ((error = settle_parents(table, &has_changed)))
			return error;
		sort_rows(table);
	}
	return 0;
}

void proc_table_close(struct proc_table *table)
{
	if (table->proc >= 0)
		close(table->proc);
	free(table->rows);
	free(table->unreadable.pids);
}

static bool holds(const int32_t *list, size_t count, int32_t pid)
{
	for (size_t i = 0; i < count; i++) {
		if (list[i] == pid)
			return true;
	}
	return false;
}

/* Walks up from `row` and gives everybody on the way the answer that was found: each row is walked once, and a circle (torn reads) ends. */
static void decide_descent(struct proc_table *table, struct proc_row *row, const struct proc_query *query)
{
	enum proc_verdict verdict = VERDICT_NO;
	struct proc_row *at = row;
	while (at && at->verdict == VERDICT_UNKNOWN) {
		at->verdict = VERDICT_WALKING;
		if (holds(query->ancestors, query->ancestor_count, at->ppid)) {
			verdict = VERDICT_YES;
			break;
		}
		at = find_row(table, at->ppid);
	}
	if (at && at->verdict != VERDICT_WALKING)
		verdict = at->verdict;
	for (at = row; at && at->verdict == VERDICT_WALKING; at = find_row(table, at->ppid))
		at->verdict = verdict;
}

/* R-MECH-3: group, session and descent; whoever descends from a member counts as well. */
void proc_table_match(struct proc_table *table, const struct proc_query *query)
{
	for (size_t i = 0; i < table->count; i++) {
		struct proc_row *row = &table->rows[i];
		if (holds(query->groups, query->group_count, row->pgrp) || holds(query->sessions, query->session_count, row->session))
			row->verdict = VERDICT_YES;
	}
	for (size_t i = 0; i < table->count; i++)
		decide_descent(table, &table->rows[i], query);
}

static bool is_dead(char state)
{
	return state == 'Z' || state == 'X' || state == 'x';
}

/* R-END-4: a process whose main thread ended shows Z while others run; only then are the threads read. */
enum proc_answer proc_read_threads(int proc, const struct proc_row *row, bool *is_live)
{
	*is_live = !is_dead(row->state);
	if (*is_live)
		return PROC_READ;
	char name[NAME_BYTES];
	snprintf(name, sizeof name, "%d/task", row->pid);
	int fd = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		int error = errno;
		if (fd >= 0)
			close(fd);
		errno = error;
		return error == ENOENT || error == ESRCH ? PROC_VANISHED : error == EMFILE || error == ENFILE || error == ENOMEM ? PROC_FAILED : PROC_UNREADABLE;
	}
	enum proc_answer answer = PROC_READ;
	struct dirent *entry;
	while (answer == PROC_READ && !*is_live && (entry = readdir(directory))) {
		struct proc_row thread;
		if (!proc_is_pid_name(entry->d_name))
			continue;
		answer = proc_read_row(fd, entry->d_name, &thread);
		*is_live = answer == PROC_READ && !is_dead(thread.state);
		answer = answer == PROC_VANISHED ? PROC_READ : answer;
	}
	closedir(directory);
	return answer;
}
