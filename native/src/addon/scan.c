/* The independent witness (R-MECH-3, R-END-4): what /proc shows of a group, a session and a descent. */
#include "addon.h"
#include "proc-table.h"

#include <errno.h>
#include <stdlib.h>

static bool put_row(napi_env env, napi_value list, uint32_t index, const struct proc_row *row, bool is_live) {
	napi_value object;
	return napi_create_object(env, &object) == napi_ok && set_property(env, object, "pid", make_number(env, row->pid)) &&
		set_property(env, object, "ppid", make_number(env, row->ppid)) && set_property(env, object, "pgrp", make_number(env, row->pgrp)) &&
		set_property(env, object, "session", make_number(env, row->session)) &&
		set_property(env, object, "startTime", make_number(env, (double)row->start_time)) &&
		set_property(env, object, "state", make_string(env, &row->state, 1)) && set_property(env, object, "isLive", make_boolean(env, is_live)) &&
		napi_set_element(env, list, index, object) == napi_ok;
}

static napi_value put_matches(napi_env env, struct proc_table *table) {
	napi_value list;
	uint32_t length = 0;
	if (napi_create_array(env, &list) != napi_ok) {
		return NULL;
	}
	for (size_t i = 0; i < table->count; i++) {
		struct proc_row *row = &table->rows[i];
		bool is_live;
		if (row->is_gone || row->verdict != VERDICT_YES) {
			continue;
		}
		enum proc_answer answer = proc_table_threads(table, row, &is_live);
		if (answer == PROC_FAILED || (answer == PROC_UNREADABLE && pid_list_add(&table->unreadable, row->pid))) {
			return throw_errno(env, errno, "scan", "/proc");
		}
		if (answer == PROC_READ && !put_row(env, list, length++, row, is_live)) {
			return NULL;
		}
	}
	return list;
}

static napi_value put_result(napi_env env, struct proc_table *table) {
	napi_value result, rows = put_matches(env, table), unreadable;
	if (!rows || napi_create_object(env, &result) != napi_ok || napi_create_array(env, &unreadable) != napi_ok) {
		return NULL;
	}
	for (size_t i = 0; i < table->unreadable.count; i++) {
		if (napi_set_element(env, unreadable, (uint32_t)i, make_number(env, table->unreadable.pids[i])) != napi_ok) {
			return NULL;
		}
	}
	bool is_whole = set_property(env, result, "rows", rows) && set_property(env, result, "unreadable", unreadable) &&
		set_property(env, result, "scanned", make_number(env, (double)table->count));
	return is_whole ? result : NULL;
}

/* scan(groups, sessions, ancestors): R-MECH-3, R-END-4, R-PERF-2. */
napi_value scan_processes(napi_env env, napi_callback_info info) {
	napi_value args[3], result = NULL;
	int32_t *lists[3] = {NULL, NULL, NULL};
	size_t counts[3];
	if (!take_args(env, info, 3, args)) {
		return NULL;
	}
	bool is_taken = true;
	for (int i = 0; i < 3 && is_taken; i++) {
		is_taken = take_pids(env, args[i], &lists[i], &counts[i]);
	}
	if (is_taken) {
		struct proc_query query = {lists[0], lists[1], lists[2], counts[0], counts[1], counts[2]};
		struct proc_table table;
		int error = proc_table_open(&table);
		if (error) {
			throw_errno(env, error, "scan", "/proc");
		} else {
			proc_table_match(&table, &query);
			result = put_result(env, &table);
		}
		proc_table_close(&table);
	}
	for (int i = 0; i < 3; i++) {
		free(lists[i]);
	}
	return result;
}
