/*
 * Waiting for descriptors without stopping JavaScript: poll() on a thread of its own, answered by a promise. Not on libuv's pool: a wait may last as long
 * as a lease, and four of them would stop every file operation of the process.
 */
#include "addon.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct wait {
	napi_deferred deferred;
	napi_threadsafe_function answer;
	struct pollfd *watched;
	uint32_t count;
	int timeout_ms;
	int ready;
};

static void free_wait(struct wait *wait)
{
	free(wait->watched);
	free(wait);
}

static void *poll_all(void *data)
{
	struct wait *wait = data;
	napi_threadsafe_function answer = wait->answer;
	wait->ready = poll(wait->watched, wait->count, wait->timeout_ms);
	if (napi_call_threadsafe_function(answer, wait, napi_tsfn_blocking) == napi_ok) {
		/* From here on the wait is the other thread's. */
		napi_release_threadsafe_function(answer, napi_tsfn_release);
	} else {
		free_wait(wait);
	}
	return NULL;
}

/* Where poll itself failed, everybody is named: whoever then reads meets the fault with its own name. Without env JavaScript is ending: nobody asks. */
static void answer_wait(napi_env env, napi_value callback, void *context, void *data)
{
	struct wait *wait = data;
	napi_value list;
	(void)callback;
	(void)context;
	if (env && napi_create_array(env, &list) == napi_ok) {
		uint32_t found = 0;
		for (uint32_t i = 0; i < wait->count; i++) {
			if (wait->ready < 0 || wait->watched[i].revents)
				napi_set_element(env, list, found++, make_number(env, wait->watched[i].fd));
		}
		napi_resolve_deferred(env, wait->deferred, list);
	}
	free_wait(wait);
}

static bool take_watched(napi_env env, napi_value list, struct wait *wait)
{
	if (napi_get_array_length(env, list, &wait->count) != napi_ok) {
		napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", "an array was expected");
		return false;
	}
	wait->watched = calloc(wait->count + 1, sizeof *wait->watched);
	if (!wait->watched) {
		throw_errno(env, ENOMEM, "calloc", NULL);
		return false;
	}
	for (uint32_t i = 0; i < wait->count; i++) {
		napi_value item;
		int64_t fd;
		if (napi_get_element(env, list, i, &item) != napi_ok || !take_integer(env, item, 0, INT32_MAX, &fd))
			return false;
		wait->watched[i] = (struct pollfd){.fd = (int)fd, .events = POLLIN | POLLRDHUP};
	}
	return true;
}

/* The thread takes no signal: those are for Node's own. Returns an errno. */
static int start_thread(struct wait *wait)
{
	pthread_t thread;
	pthread_attr_t attributes;
	sigset_t all, before;
	int error = pthread_attr_init(&attributes);
	if (error)
		return error;
	sigfillset(&all);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, 262144);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, &attributes, poll_all, wait);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return error;
}

/* waitReadable(fds, timeoutMs): a promise of those that can be read without waiting, are closed at the other end, or are broken; none after the time. */
napi_value wait_readable(napi_env env, napi_callback_info info)
{
	napi_value args[2], name, promise;
	int64_t timeout_ms;
	if (!take_args(env, info, 2, args) || !take_integer(env, args[1], 0, INT32_MAX, &timeout_ms))
		return NULL;
	struct wait *wait = calloc(1, sizeof *wait);
	if (!wait)
		return throw_errno(env, ENOMEM, "calloc", NULL);
	wait->timeout_ms = (int)timeout_ms;
	if (!take_watched(env, args[0], wait)) {
		free_wait(wait);
		return NULL;
	}
	bool is_ready = (name = make_string(env, "bailiff.waitReadable", NAPI_AUTO_LENGTH)) &&
		napi_create_threadsafe_function(env, NULL, NULL, name, 0, 1, NULL, NULL, NULL, answer_wait, &wait->answer) == napi_ok;
	if (!is_ready) {
		free_wait(wait);
		return throw_errno(env, ENOMEM, "waitReadable", NULL);
	}
	int error = napi_create_promise(env, &wait->deferred, &promise) == napi_ok ? start_thread(wait) : ENOMEM;
	if (error) {
		napi_release_threadsafe_function(wait->answer, napi_tsfn_abort);
		free_wait(wait);
		return throw_errno(env, error, "pthread_create", NULL);
	}
	return promise;
}
