/* What bailiff itself does to processes when the supervisor is gone, and what limits it runs under. */
#include "addon.h"
#include "proc-table.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* setSubreaper(isOn): R-MECH-4. */
napi_value set_subreaper(napi_env env, napi_callback_info info)
{
	napi_value args[1];
	bool is_on;
	if (!take_args(env, info, 1, args) || !take_boolean(env, args[0], &is_on))
		return NULL;
	return prctl(PR_SET_CHILD_SUBREAPER, is_on ? 1L : 0L, 0L, 0L, 0L) ? throw_errno(env, errno, "prctl", NULL) : NULL;
}

/* isSubreaper(): R-MECH-4 (reset afterwards). */
napi_value is_subreaper(napi_env env, napi_callback_info info)
{
	int is_on = 0;
	if (!take_args(env, info, 0, NULL))
		return NULL;
	return prctl(PR_GET_CHILD_SUBREAPER, &is_on, 0L, 0L, 0L) ? throw_errno(env, errno, "prctl", NULL) : make_boolean(env, is_on != 0);
}

/* setSealed(isOn): R-MECH-4. Sealed, /proc/PID/fd, mem and environ and ptrace are closed to others of our user. */
napi_value set_sealed(napi_env env, napi_callback_info info)
{
	napi_value args[1];
	bool is_on;
	if (!take_args(env, info, 1, args) || !take_boolean(env, args[0], &is_on))
		return NULL;
	return prctl(PR_SET_DUMPABLE, is_on ? 0L : 1L, 0L, 0L, 0L) ? throw_errno(env, errno, "prctl", NULL) : NULL;
}

/* isSealed(): R-MECH-4 (reset afterwards). */
napi_value is_sealed(napi_env env, napi_callback_info info)
{
	if (!take_args(env, info, 0, NULL))
		return NULL;
	int dumpable = prctl(PR_GET_DUMPABLE, 0L, 0L, 0L, 0L);
	return dumpable < 0 ? throw_errno(env, errno, "prctl", NULL) : make_boolean(env, dumpable != 1);
}

static double microseconds(struct timeval time)
{
	return (double)time.tv_sec * 1e6 + (double)time.tv_usec;
}

/* reapChild(pid): R-MECH-4. Exactly this child, never "any": libuv waits for its own by their ids. */
napi_value reap_child(napi_env env, napi_callback_info info)
{
	napi_value args[1], result;
	int64_t pid;
	if (!take_args(env, info, 1, args) || !take_integer(env, args[0], 1, INT32_MAX, &pid))
		return NULL;
	int status;
	struct rusage usage;
	pid_t reaped;
	do {
		reaped = wait4((pid_t)pid, &status, WNOHANG | __WALL, &usage);
	} while (reaped < 0 && errno == EINTR);
	if (reaped < 0)
		return throw_errno(env, errno, "wait4", NULL);
	if (reaped == 0)
		return make_null(env);
	bool is_whole = napi_create_object(env, &result) == napi_ok && set_property(env, result, "waitStatus", make_number(env, status)) &&
		set_property(env, result, "userMicros", make_number(env, microseconds(usage.ru_utime))) &&
		set_property(env, result, "systemMicros", make_number(env, microseconds(usage.ru_stime))) &&
		set_property(env, result, "maxRssBytes", make_number(env, (double)usage.ru_maxrss * 1024));
	return is_whole ? result : NULL;
}

/*
 * signalProcess(pid, startTime, signal): R-MECH-4, R-MECH-5. The descriptor is opened first and the start time compared after, so that a reused id
 * is never hit. False: that process is gone.
 */
napi_value signal_process(napi_env env, napi_callback_info info)
{
	napi_value args[3];
	int64_t pid, start_time, signal_number;
	if (!take_args(env, info, 3, args) || !take_integer(env, args[0], 1, INT32_MAX, &pid) ||
		!take_integer(env, args[1], 0, INT64_C(9007199254740991), &start_time) || !take_integer(env, args[2], 0, 64, &signal_number)) {
		return NULL;
	}
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (fd < 0)
		return errno == ESRCH ? make_boolean(env, false) : throw_errno(env, errno, "pidfd_open", NULL);
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct proc_row row;
	enum proc_answer answer = proc < 0 ? PROC_FAILED : proc_read_pid(proc, (int32_t)pid, &row);
	int error = errno;
	if (proc >= 0)
		close(proc);
	bool is_sent = false;
	if (answer == PROC_READ && row.start_time == (unsigned long long)start_time) {
		is_sent = syscall(SYS_pidfd_send_signal, fd, (int)signal_number, NULL, 0) == 0;
		error = is_sent || errno == ESRCH ? 0 : errno;
	} else if (answer == PROC_READ || answer == PROC_VANISHED) {
		error = 0;
	}
	close(fd);
	return error ? throw_errno(env, error, "pidfd_send_signal", NULL) : make_boolean(env, is_sent);
}

static napi_value limit_value(napi_env env, rlim_t limit)
{
	return limit == RLIM_INFINITY ? make_null(env) : make_number(env, (double)limit);
}

/* resourceLimit(index): the bounds that this process stands under (a plan cannot ask for more: shapes.ts Limits). */
napi_value resource_limit(napi_env env, napi_callback_info info)
{
	static const int resources[] = {RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_CPU, RLIMIT_NPROC, RLIMIT_FSIZE};
	napi_value args[1], result;
	int64_t index;
	struct rlimit limit;
	if (!take_args(env, info, 1, args) || !take_integer(env, args[0], 0, 4, &index))
		return NULL;
	if (getrlimit((__rlimit_resource_t)resources[index], &limit))
		return throw_errno(env, errno, "getrlimit", NULL);
	bool is_whole = napi_create_object(env, &result) == napi_ok && set_property(env, result, "soft", limit_value(env, limit.rlim_cur)) &&
		set_property(env, result, "hard", limit_value(env, limit.rlim_max));
	return is_whole ? result : NULL;
}
