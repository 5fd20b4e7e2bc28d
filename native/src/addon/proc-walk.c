/*
 * Reading the row of every process costs 8 microseconds each. Group and session of a process are two cheap system calls, and its children stand in
 * /proc/PID/task/TID/children: so only relatives are read.
 *
 * The kernel says of a list of children that it may skip some when others are reaped meanwhile. A skip needs that a child which was listed is gone
 * at the end, so two equal lists in a row have no skip. An orphan may move to a list that was read already: so the whole walk is done until two in a
 * row find the same.
 */
#include "proc-walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WALK_ROUNDS = 12, LIST_ROUNDS = 16, PATH_BYTES = 64, LIST_BYTES = 4096 };

/* Open addressing, at most half full; 0 is no pid that anybody asks for. */
struct pid_set {
	int32_t *slots;
	size_t count, room; /* room is a power of two */
};

static size_t slot_of(const struct pid_set *set, int32_t pid)
{
	size_t slot = ((uint32_t)pid * 2654435769U) & (set->room - 1);
	while (set->slots[slot] != 0 && set->slots[slot] != pid)
		slot = (slot + 1) & (set->room - 1);
	return slot;
}

static int grow(struct pid_set *set)
{
	struct pid_set grown = {.count = set->count, .room = set->room ? set->room * 2 : 64};
	grown.slots = calloc(grown.room, sizeof *grown.slots);
	if (!grown.slots)
		return ENOMEM;
	for (size_t i = 0; i < set->room; i++) {
		if (set->slots[i] != 0)
			grown.slots[slot_of(&grown, set->slots[i])] = set->slots[i];
	}
	free(set->slots);
	*set = grown;
	return 0;
}

/* 0 or ENOMEM; *is_new tells that it was not in before. */
static int set_add(struct pid_set *set, int32_t pid, bool *is_new)
{
	if ((set->count + 1) * 2 > set->room && grow(set))
		return ENOMEM;
	size_t slot = slot_of(set, pid);
	*is_new = set->slots[slot] == 0;
	set->count += *is_new ? 1 : 0;
	set->slots[slot] = pid;
	return 0;
}

static bool holds(const int32_t *list, size_t count, int32_t pid)
{
	for (size_t i = 0; i < count; i++) {
		if (list[i] == pid)
			return true;
	}
	return false;
}

/* Where a security module forbids to ask, the row is read. */
static enum proc_answer ask_ids(const struct proc_walk *walk, int32_t pid, int32_t *group, int32_t *session)
{
	*group = getpgid(pid);
	*session = *group < 0 ? -1 : getsid(pid);
	if (*session >= 0)
		return PROC_READ;
	if (errno == ESRCH)
		return PROC_VANISHED;
	struct proc_row row;
	enum proc_answer answer = proc_read_pid(walk->proc, pid, &row);
	if (answer == PROC_READ) {
		*group = row.pgrp;
		*session = row.session;
	}
	return answer;
}

static int sweep_one(struct proc_walk *walk, const struct proc_query *query, int32_t pid, struct pid_list *members)
{
	int32_t group, session;
	walk->scanned++;
	switch (ask_ids(walk, pid, &group, &session)) {
	case PROC_READ:
		if (holds(query->groups, query->group_count, group) || holds(query->sessions, query->session_count, session))
			return pid_list_add(members, pid);
		return 0;
	case PROC_UNREADABLE:
		return pid_list_add(&walk->unreadable, pid);
	case PROC_FAILED:
		return errno;
	case PROC_VANISHED:
		return 0;
	}
	return 0;
}

/* Who is in the groups and sessions now. */
static int sweep(struct proc_walk *walk, const struct proc_query *query, struct pid_list *members)
{
	if (query->group_count + query->session_count == 0)
		return 0;
	int fd = openat(walk->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		int error = errno;
		if (fd >= 0)
			close(fd);
		return error;
	}
	struct dirent *entry;
	int error = 0;
	for (errno = 0; !error && (entry = readdir(directory)); errno = 0) {
		if (proc_is_pid_name(entry->d_name))
			error = sweep_one(walk, query, (int32_t)strtol(entry->d_name, NULL, 10), members);
	}
	error = error ? error : errno;
	closedir(directory);
	return error;
}

/* One reading of one thread's list. */
static int read_list(int proc, const char *path, struct pid_list *children)
{
	int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	char text[LIST_BYTES];
	int32_t pid = 0;
	ssize_t length;
	int error = 0;
	children->count = 0;
	while (!error && (length = read(fd, text, sizeof text)) != 0) {
		if (length < 0) {
			error = errno == EINTR ? 0 : errno;
			continue;
		}
		for (ssize_t i = 0; i < length && !error; i++) {
			if (text[i] == ' ') {
				error = pid > 0 ? pid_list_add(children, pid) : 0;
				pid = 0;
			} else {
				pid = pid * 10 + (text[i] - '0');
			}
		}
	}
	close(fd);
	return error;
}

static bool is_equal(const struct pid_list *left, const struct pid_list *right)
{
	return left->count == right->count && (left->count == 0 || memcmp(left->pids, right->pids, left->count * sizeof *left->pids) == 0);
}

/* Two equal readings in a row; EAGAIN where there never were. An empty first reading has skipped nothing: a skip needs a child that was listed. */
static int read_steady_list(int proc, const char *path, struct pid_list *children)
{
	struct pid_list before = {0};
	int error = read_list(proc, path, children);
	bool is_steady = error || children->count == 0;
	for (int round = 1; round < LIST_ROUNDS && !is_steady; round++) {
		struct pid_list swap = before;
		before = *children;
		*children = swap;
		error = read_list(proc, path, children);
		is_steady = error || is_equal(&before, children);
	}
	free(before.pids);
	return is_steady ? error : EAGAIN;
}

/* Takes the children of one thread into the list of whoever is still to be walked. */
static int take_children(int proc, const char *path, struct pid_list *all)
{
	struct pid_list children = {0};
	int error = read_steady_list(proc, path, &children);
	for (size_t i = 0; !error && i < children.count; i++)
		error = pid_list_add(all, children.pids[i]);
	free(children.pids);
	return error;
}

static int take_of_all_threads(int proc, int32_t pid, struct pid_list *all)
{
	char path[PATH_BYTES];
	snprintf(path, sizeof path, "%d/task", pid);
	int fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		int error = errno;
		if (fd >= 0)
			close(fd);
		return error;
	}
	struct dirent *entry;
	int error = 0;
	while (!error && (entry = readdir(directory))) {
		if (proc_is_pid_name(entry->d_name)) {
			snprintf(path, sizeof path, "%.12s/children", entry->d_name);
			error = take_children(fd, path, all);
			error = error == ENOENT || error == ESRCH ? 0 : error;
		}
	}
	closedir(directory);
	return error;
}

/* The kernel counts the threads in the number of links of the directory: with one thread the directory need not be read. */
static int take_of_process(int proc, int32_t pid, struct pid_list *all)
{
	char path[PATH_BYTES];
	struct stat status;
	snprintf(path, sizeof path, "%d/task", pid);
	if (fstatat(proc, path, &status, 0))
		return errno;
	if (status.st_nlink != 3)
		return take_of_all_threads(proc, pid, all);
	snprintf(path, sizeof path, "%d/task/%d/children", pid, pid);
	return take_children(proc, path, all);
}

/* The children of one process that is not walked yet. */
static int list_children(struct proc_walk *walk, int32_t pid, struct pid_set *walked, struct pid_list *children)
{
	bool is_new = false;
	children->count = 0;
	int error = set_add(walked, pid, &is_new);
	if (error || !is_new)
		return error;
	error = take_of_process(walk->proc, pid, children);
	if (error == EACCES || error == EPERM)
		return pid_list_add(&walk->unreadable, pid);
	return error == ENOENT || error == ESRCH ? 0 : error;
}

/* Everybody below those in `open`, which grows by them, into `found`; `met` are those in `found`. */
static int expand(struct proc_walk *walk, struct pid_list *open, struct pid_list *found, struct pid_set *met)
{
	struct pid_list children = {0};
	struct pid_set walked = {0};
	int error = 0;
	for (size_t next = 0; !error && next < open->count; next++) {
		error = list_children(walk, open->pids[next], &walked, &children);
		for (size_t i = 0; !error && i < children.count; i++) {
			bool is_new = false;
			error = set_add(met, children.pids[i], &is_new);
			if (!error && is_new)
				error = pid_list_add(found, children.pids[i]) || pid_list_add(open, children.pids[i]) ? ENOMEM : 0;
		}
	}
	free(walked.slots);
	free(children.pids);
	return error;
}

static int by_number(const void *left, const void *right)
{
	int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
	return (a > b) - (a < b);
}

/* One walk: the members and everybody below them and below the ancestors, sorted. */
static int walk_once(struct proc_walk *walk, const struct proc_query *query, const struct pid_list *members, struct pid_list *found)
{
	struct pid_list open = {0};
	struct pid_set met = {0};
	bool is_new;
	int error = 0;
	found->count = 0;
	for (size_t i = 0; !error && i < members->count; i++)
		error = set_add(&met, members->pids[i], &is_new) || pid_list_add(found, members->pids[i]) || pid_list_add(&open, members->pids[i]) ? ENOMEM : 0;
	for (size_t i = 0; !error && i < query->ancestor_count; i++)
		error = pid_list_add(&open, query->ancestors[i]);
	if (!error)
		error = expand(walk, &open, found, &met);
	if (!error && found->count > 1)
		qsort(found->pids, found->count, sizeof *found->pids, by_number);
	free(met.slots);
	free(open.pids);
	return error;
}

/* R-MECH-3, R-END-4: walks until two walks in a row find the same. */
static int walk_until_steady(struct proc_walk *walk, const struct proc_query *query, const struct pid_list *members)
{
	struct pid_list before = {0};
	size_t swept_unreadable = walk->unreadable.count;
	int error = walk_once(walk, query, members, &walk->found);
	for (int round = 1; !error && round < WALK_ROUNDS && !walk->is_settled; round++) {
		struct pid_list swap = before;
		before = walk->found;
		walk->found = swap;
		walk->unreadable.count = swept_unreadable;
		error = walk_once(walk, query, members, &walk->found);
		walk->is_settled = !error && is_equal(&walk->found, &before);
	}
	free(before.pids);
	return error == EAGAIN ? 0 : error;
}

/* R-MECH-3, R-END-4, R-PERF-2. */
int proc_walk_open(struct proc_walk *walk, const struct proc_query *query)
{
	*walk = (struct proc_walk){.proc = -1};
	int error = proc_open(&walk->proc);
	if (error || faccessat(walk->proc, "thread-self/children", F_OK, 0))
		return error;
	struct pid_list members = {0};
	error = sweep(walk, query, &members);
	/* Of a large part of all processes the rows are read more quickly than the lists. */
	if (!error && members.count <= walk->scanned / 3)
		error = walk_until_steady(walk, query, &members);
	free(members.pids);
	return error;
}

void proc_walk_close(struct proc_walk *walk)
{
	if (walk->proc >= 0)
		close(walk->proc);
	free(walk->found.pids);
	free(walk->unreadable.pids);
}
