/* Waiting for descriptors without stopping JavaScript: poll() on a thread of libuv's pool, answered by a promise. */
#include "addon.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

struct wait {
	napi_async_work work;
	napi_deferred deferred;
	struct pollfd *watched;
	uint32_t count;
	int timeout_ms;
	int ready;
};

static void free_wait(napi_env env, struct wait *wait) {
	if (wait->work) {
		napi_delete_async_work(env, wait->work);
	}
	free(wait->watched);
	free(wait);
}

static void poll_all(napi_env env, void *data) {
	struct wait *wait = data;
	(void)env;
	wait->ready = poll(wait->watched, wait->count, wait->timeout_ms);
}

/* Where poll itself failed, everybody is named: whoever then reads meets the fault with its own name. An interruption is a timeout come early. */
static void answer(napi_env env, napi_status status, void *data) {
	struct wait *wait = data;
	napi_value list;
	(void)status;
	if (napi_create_array(env, &list) == napi_ok) {
		uint32_t found = 0;
		for (uint32_t i = 0; i < wait->count; i++) {
			if (wait->ready < 0 || wait->watched[i].revents) {
				napi_set_element(env, list, found++, make_number(env, wait->watched[i].fd));
			}
		}
		napi_resolve_deferred(env, wait->deferred, list);
	}
	free_wait(env, wait);
}

static bool take_watched(napi_env env, napi_value list, struct wait *wait) {
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
		if (napi_get_element(env, list, i, &item) != napi_ok || !take_integer(env, item, 0, INT32_MAX, &fd)) {
			return false;
		}
		wait->watched[i] = (struct pollfd){.fd = (int)fd, .events = POLLIN | POLLRDHUP};
	}
	return true;
}

/* waitReadable(fds, timeoutMs): a promise of those that can be read without waiting, are closed at the other end, or are broken; none after the time. */
napi_value wait_readable(napi_env env, napi_callback_info info) {
	napi_value args[2], name, promise;
	int64_t timeout_ms;
	if (!take_args(env, info, 2, args) || !take_integer(env, args[1], 0, INT32_MAX, &timeout_ms)) {
		return NULL;
	}
	struct wait *wait = calloc(1, sizeof *wait);
	if (!wait) {
		return throw_errno(env, ENOMEM, "calloc", NULL);
	}
	wait->timeout_ms = (int)timeout_ms;
	if (!take_watched(env, args[0], wait)) {
		free_wait(env, wait);
		return NULL;
	}
	bool is_ready = (name = make_string(env, "bailiff.waitReadable", NAPI_AUTO_LENGTH)) &&
		napi_create_async_work(env, NULL, name, poll_all, answer, wait, &wait->work) == napi_ok &&
		napi_create_promise(env, &wait->deferred, &promise) == napi_ok && napi_queue_async_work(env, wait->work) == napi_ok;
	if (!is_ready) {
		free_wait(env, wait);
		return throw_errno(env, EAGAIN, "waitReadable", NULL);
	}
	return promise;
}
