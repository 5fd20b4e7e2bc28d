/* What the parts of the addon share. Each exported function is a plain N-API callback, registered in module.c. */
#ifndef BAILIFF_ADDON_H
#define BAILIFF_ADDON_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define NAPI_VERSION 8
#include <node_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ADDON_MAX_ARGS = 4 };

/* args.c: arguments, results and errors. Whoever gets false or NULL returns NULL at once: an exception is pending. */
bool take_args(napi_env env, napi_callback_info info, size_t count, napi_value *args);
bool take_integer(napi_env env, napi_value value, int64_t low, int64_t high, int64_t *out);
bool take_boolean(napi_env env, napi_value value, bool *out);
/* The string belongs to the caller (free). A NUL inside is refused: the kernel would read another path than the one checked. */
char *take_string(napi_env env, napi_value value);
/* Whole numbers from 1; the array belongs to the caller (free) and is never NULL on success. */
bool take_pids(napi_env env, napi_value value, int32_t **pids, size_t *count);
napi_value make_number(napi_env env, double value);
napi_value make_boolean(napi_env env, bool value);
napi_value make_null(napi_env env);
napi_value make_string(napi_env env, const char *value, size_t length);
bool set_property(napi_env env, napi_value object, const char *name, napi_value value);
/* Throws an Error whose `code` is the errno name and whose `syscall` and `path` (where not NULL) say what failed on what. Returns NULL. */
napi_value throw_errno(napi_env env, int error, const char *call, const char *path);
napi_value throw_named(napi_env env, const char *code, const char *call, const char *path);

/* proc-table.c, proc-walk.c, scan.c: the independent witness (R-MECH-3, R-END-4). */
napi_value scan_processes(napi_env env, napi_callback_info info);

/* children.c: what bailiff does when the supervisor is gone (R-MECH-4, R-MECH-5). */
napi_value set_subreaper(napi_env env, napi_callback_info info);
napi_value is_subreaper(napi_env env, napi_callback_info info);
napi_value set_sealed(napi_env env, napi_callback_info info);
napi_value is_sealed(napi_env env, napi_callback_info info);
napi_value reap_child(napi_env env, napi_callback_info info);
napi_value signal_process(napi_env env, napi_callback_info info);
napi_value resource_limit(napi_env env, napi_callback_info info);

/* paths.c: opening without links (C-TRUST, C-LOCK-1). */
int open_without_links(const char *path, int flags, unsigned mode, bool force_chain);
napi_value open_no_links(napi_env env, napi_callback_info info);

/* files.c: locks, rename without replacing, flushing (C-LOCK-1, C-BOOT-6, E-PUB-2). */
napi_value open_lock(napi_env env, napi_callback_info info);
napi_value try_lock(napi_env env, napi_callback_info info);
napi_value rename_no_replace(napi_env env, napi_callback_info info);
napi_value sync_directory(napi_env env, napi_callback_info info);
napi_value sync_filesystem(napi_env env, napi_callback_info info);
napi_value has_access_list(napi_env env, napi_callback_info info);

/* groups.c: who a group really is (C-TRUST-1). */
napi_value group_members(napi_env env, napi_callback_info info);

/* sockets.c: Unix sockets, who is at their other end, and descriptors as messages (BR-2, BR-3). */
napi_value listen_unix(napi_env env, napi_callback_info info);
napi_value connect_unix(napi_env env, napi_callback_info info);
napi_value socket_pair(napi_env env, napi_callback_info info);
napi_value accept_socket(napi_env env, napi_callback_info info);
napi_value peer_uid(napi_env env, napi_callback_info info);
napi_value send_bytes(napi_env env, napi_callback_info info);
napi_value receive_bytes(napi_env env, napi_callback_info info);
napi_value shutdown_socket(napi_env env, napi_callback_info info);

/* readiness.c: waiting for descriptors without stopping JavaScript. */
napi_value wait_readable(napi_env env, napi_callback_info info);

#endif
