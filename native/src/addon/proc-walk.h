/* The quick way to a group, a session and a descent: asks the kernel for each id, and /proc only for the lists of children (R-PERF-2). */
#ifndef BAILIFF_PROC_WALK_H
#define BAILIFF_PROC_WALK_H

#include "proc-table.h"

struct proc_walk {
	int proc;
	struct pid_list found;      /* sorted */
	struct pid_list unreadable; /* relatives whose children could not be listed */
	size_t scanned;
	bool is_settled; /* false: this kernel has no lists of children, or they never stood still; the table must be read instead */
};

/* 0 or an errno. Close it in both cases. */
int proc_walk_open(struct proc_walk *walk, const struct proc_query *query);
void proc_walk_close(struct proc_walk *walk);

#endif
