/* The independent witness (R-MECH-3, R-END-4): what /proc shows of a group, a session and a descent. */
#include "addon.h"
#include "proc-walk.h"

#include <errno.h>
#include <stdlib.h>

static bool put_row(napi_env env, napi_value list, uint32_t index, const struct proc_row *row, bool is_live)
{
	napi_value object;
	return napi_create_object(env, &object) == napi_ok && set_property(env, object, "pid", make_number(env, row->pid)) &&
		set_property(env, object, "ppid", make_number(env, row->ppid)) && set_property(env, object, "pgrp", make_number(env, row->pgrp)) &&
		set_property(env, object, "session", make_number(env, row->session)) &&
		set_property(env, object, "startTime", make_number(env, (double)row->start_time)) &&
		set_property(env, object, "state", make_string(env, &row->state, 1)) && set_property(env, object, "isLive", make_boolean(env, is_live)) &&
		napi_set_element(env, list, index, object) == napi_ok;
}

/* What has been written so far of the answer. */
struct answer {
	napi_env env;
	napi_value rows;
	uint32_t count;
	int proc;
	struct pid_list *unreadable;
};

static bool is_named(const struct pid_list *list, int32_t pid)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->pids[i] == pid)
			return true;
	}
	return false;
}

/* False: an exception is pending. */
static bool put_process(struct answer *answer, enum proc_answer read, const struct proc_row *row, int32_t pid)
{
	bool is_live = false;
	if (read == PROC_READ)
		read = proc_read_threads(answer->proc, row, &is_live);
	if (read == PROC_FAILED || (read == PROC_UNREADABLE && !is_named(answer->unreadable, pid) && pid_list_add(answer->unreadable, pid))) {
		throw_errno(answer->env, errno, "scan", "/proc");
		return false;
	}
	return read != PROC_READ || put_row(answer->env, answer->rows, answer->count++, row, is_live);
}

static napi_value put_result(struct answer *answer, size_t scanned)
{
	napi_env env = answer->env;
	napi_value result, unreadable;
	if (napi_create_object(env, &result) != napi_ok || napi_create_array(env, &unreadable) != napi_ok)
		return NULL;
	for (size_t i = 0; i < answer->unreadable->count; i++) {
		if (napi_set_element(env, unreadable, (uint32_t)i, make_number(env, answer->unreadable->pids[i])) != napi_ok)
			return NULL;
	}
	bool is_whole = set_property(env, result, "rows", answer->rows) && set_property(env, result, "unreadable", unreadable) &&
		set_property(env, result, "scanned", make_number(env, (double)scanned));
	return is_whole ? result : NULL;
}

static napi_value put_walk(napi_env env, struct proc_walk *walk)
{
	struct answer answer = {.env = env, .proc = walk->proc, .unreadable = &walk->unreadable};
	if (napi_create_array(env, &answer.rows) != napi_ok)
		return NULL;
	for (size_t i = 0; i < walk->found.count; i++) {
		struct proc_row row;
		enum proc_answer read = proc_read_pid(walk->proc, walk->found.pids[i], &row);
		if (!put_process(&answer, read, &row, walk->found.pids[i]))
			return NULL;
	}
	return put_result(&answer, walk->scanned > walk->found.count ? walk->scanned : walk->found.count);
}

static napi_value put_table(napi_env env, struct proc_table *table)
{
	struct answer answer = {.env = env, .proc = table->proc, .unreadable = &table->unreadable};
	if (napi_create_array(env, &answer.rows) != napi_ok)
		return NULL;
	for (size_t i = 0; i < table->count; i++) {
		struct proc_row *row = &table->rows[i];
		if (!row->is_gone && row->verdict == VERDICT_YES && !put_process(&answer, PROC_READ, row, row->pid))
			return NULL;
	}
	return put_result(&answer, table->count);
}

static napi_value scan_table(napi_env env, const struct proc_query *query)
{
	struct proc_table table;
	napi_value result = NULL;
	int error = proc_table_open(&table);
	if (error) {
		throw_errno(env, error, "scan", "/proc");
	} else {
		proc_table_match(&table, query);
		result = put_table(env, &table);
	}
	proc_table_close(&table);
	return result;
}

/* The quick way where it settles, else the whole table. */
static napi_value scan_quickly(napi_env env, const struct proc_query *query)
{
	struct proc_walk walk;
	napi_value result = NULL;
	int error = proc_walk_open(&walk, query);
	bool needs_table = !error && !walk.is_settled;
	if (error)
		throw_errno(env, error, "scan", "/proc");
	else if (!needs_table)
		result = put_walk(env, &walk);
	proc_walk_close(&walk);
	return needs_table ? scan_table(env, query) : result;
}

/* scan(groups, sessions, ancestors, readAll): R-MECH-3, R-END-4, R-PERF-2. */
napi_value scan_processes(napi_env env, napi_callback_info info)
{
	napi_value args[4], result = NULL;
	int32_t *lists[3] = {NULL, NULL, NULL};
	size_t counts[3];
	bool read_all;
	if (!take_args(env, info, 4, args) || !take_boolean(env, args[3], &read_all))
		return NULL;
	bool is_taken = true;
	for (int i = 0; i < 3 && is_taken; i++)
		is_taken = take_pids(env, args[i], &lists[i], &counts[i]);
	if (is_taken) {
		struct proc_query query = {lists[0], lists[1], lists[2], counts[0], counts[1], counts[2]};
		result = read_all ? scan_table(env, &query) : scan_quickly(env, &query);
	}
	for (int i = 0; i < 3; i++)
		free(lists[i]);
	return result;
}
