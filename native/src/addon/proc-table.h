/* A table of what /proc shows, one row a process (R-END-4). Knows nothing of JavaScript. */
#ifndef BAILIFF_PROC_TABLE_H
#define BAILIFF_PROC_TABLE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum proc_answer { PROC_READ, PROC_VANISHED, PROC_UNREADABLE, PROC_FAILED };
enum proc_verdict { VERDICT_UNKNOWN, VERDICT_WALKING, VERDICT_NO, VERDICT_YES };

struct proc_row {
	int32_t pid, ppid, pgrp, session;
	unsigned long long start_time; /* clock ticks since boot */
	char state;
	bool is_gone;
	enum proc_verdict verdict;
};

struct pid_list {
	int32_t *pids;
	size_t count, room;
};

struct proc_table {
	int proc; /* descriptor of /proc */
	struct proc_row *rows;
	size_t count, room;
	struct pid_list unreadable;
};

struct proc_query {
	const int32_t *groups, *sessions, *ancestors;
	size_t group_count, session_count, ancestor_count;
};

/* 0, or an errno with the table as far as it came. Close it in both cases. */
int proc_table_open(struct proc_table *table);
void proc_table_close(struct proc_table *table);
/* Marks every row that the query means with VERDICT_YES. */
void proc_table_match(struct proc_table *table, const struct proc_query *query);
/* PROC_READ with *is_live set: any thread of the process is neither zombie nor dead. */
enum proc_answer proc_read_threads(int proc, const struct proc_row *row, bool *is_live);
/* One process or thread; `name` is relative to `proc`, without "/stat". */
enum proc_answer proc_read_row(int proc, const char *name, struct proc_row *row);
enum proc_answer proc_read_pid(int proc, int32_t pid, struct proc_row *row);
bool proc_is_pid_name(const char *name);
/* 0 with a descriptor of the /proc of our own pid namespace, or an errno: ENODEV for any other. The descriptor is -1 or the caller's. */
int proc_open(int *proc);
/* 0 or ENOMEM. */
int pid_list_add(struct pid_list *list, int32_t pid);

#endif
