/* Arguments, results and errors: the only file that knows how a failed system call becomes a JavaScript error. */
#include "addon.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME(symbol) {symbol, #symbol}

/* Names are part of what is recorded (shapes.ts: ErrnoName), so they do not depend on the C library. */
static const struct {
	int number;
	const char *name;
} errno_names[] = {
	NAME(E2BIG),  NAME(EACCES),       NAME(EAGAIN), NAME(EBADF),  NAME(EBUSY),  NAME(ECHILD),  NAME(EDQUOT),    NAME(EEXIST), NAME(EFAULT),
	NAME(EFBIG),  NAME(EINTR),        NAME(EINVAL), NAME(EIO),    NAME(EISDIR), NAME(ELOOP),   NAME(EMFILE),    NAME(EMLINK), NAME(ENAMETOOLONG),
	NAME(ENFILE), NAME(ENODEV),       NAME(ENOENT), NAME(ENOLCK), NAME(ENOMEM), NAME(ENOSPC),  NAME(ENOSYS),    NAME(ENOTDIR), NAME(ENOTEMPTY),
	NAME(ENXIO),  NAME(EOPNOTSUPP),   NAME(EPERM),  NAME(ERANGE), NAME(EROFS),  NAME(ESRCH),   NAME(ESTALE),    NAME(ETIMEDOUT), NAME(ETXTBSY),
	NAME(EXDEV),  NAME(EADDRINUSE),   NAME(ECONNREFUSED), NAME(ECONNRESET), NAME(EPIPE), NAME(ENOTSOCK), NAME(ENOTCONN),
};

napi_value throw_named(napi_env env, const char *code, const char *call, const char *path)
{
	char message[512];
	int length = snprintf(message, sizeof message, "%s: %s%s%s%s", code, call, path ? " '" : "", path ? path : "", path ? "'" : "");
	size_t used = length < (int)sizeof message ? (size_t)length : sizeof message - 1;
	napi_value code_value = make_string(env, code, strlen(code));
	napi_value message_value = make_string(env, message, used);
	napi_value error;
	if (!code_value || !message_value || napi_create_error(env, code_value, message_value, &error) != napi_ok)
		return NULL;
	if (!set_property(env, error, "syscall", make_string(env, call, strlen(call))) ||
		(path && !set_property(env, error, "path", make_string(env, path, strlen(path))))) {
		return NULL;
	}
	napi_throw(env, error);
	return NULL;
}

napi_value throw_errno(napi_env env, int error, const char *call, const char *path)
{
	for (size_t i = 0; i < sizeof errno_names / sizeof *errno_names; i++) {
		if (errno_names[i].number == error)
			return throw_named(env, errno_names[i].name, call, path);
	}
	char other[16];
	snprintf(other, sizeof other, "E%d", error);
	return throw_named(env, other, call, path);
}

static bool wrong_argument(napi_env env, const char *message)
{
	napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", message);
	return false;
}

bool take_args(napi_env env, napi_callback_info info, size_t count, napi_value *args)
{
	napi_value all[ADDON_MAX_ARGS];
	size_t given = ADDON_MAX_ARGS;
	if (napi_get_cb_info(env, info, &given, all, NULL, NULL) != napi_ok || given != count)
		return wrong_argument(env, "wrong number of arguments");
	for (size_t i = 0; i < count; i++)
		args[i] = all[i];
	return true;
}

bool take_integer(napi_env env, napi_value value, int64_t low, int64_t high, int64_t *out)
{
	double number;
	if (napi_get_value_double(env, value, &number) != napi_ok || !(number >= (double)low && number <= (double)high) ||
		number != (double)(int64_t)number) {
		return wrong_argument(env, "a whole number in range was expected");
	}
	*out = (int64_t)number;
	return true;
}

bool take_boolean(napi_env env, napi_value value, bool *out)
{
	if (napi_get_value_bool(env, value, out) != napi_ok)
		return wrong_argument(env, "a boolean was expected");
	return true;
}

char *take_string(napi_env env, napi_value value)
{
	size_t length;
	if (napi_get_value_string_utf8(env, value, NULL, 0, &length) != napi_ok) {
		wrong_argument(env, "a string was expected");
		return NULL;
	}
	char *text = malloc(length + 1);
	if (!text) {
		throw_errno(env, ENOMEM, "malloc", NULL);
		return NULL;
	}
	if (napi_get_value_string_utf8(env, value, text, length + 1, &length) != napi_ok || strlen(text) != length) {
		free(text);
		wrong_argument(env, "a string without NUL was expected");
		return NULL;
	}
	return text;
}

bool take_pids(napi_env env, napi_value value, int32_t **pids, size_t *count)
{
	uint32_t length;
	if (napi_get_array_length(env, value, &length) != napi_ok)
		return wrong_argument(env, "an array was expected");
	int32_t *list = calloc(length + 1, sizeof *list);
	if (!list) {
		throw_errno(env, ENOMEM, "calloc", NULL);
		return false;
	}
	for (uint32_t i = 0; i < length; i++) {
		napi_value item;
		int64_t number;
		if (napi_get_element(env, value, i, &item) != napi_ok || !take_integer(env, item, 1, INT32_MAX, &number)) {
			free(list);
			return false;
		}
		list[i] = (int32_t)number;
	}
	*pids = list;
	*count = length;
	return true;
}

napi_value make_number(napi_env env, double value)
{
	napi_value result;
	return napi_create_double(env, value, &result) == napi_ok ? result : NULL;
}

napi_value make_boolean(napi_env env, bool value)
{
	napi_value result;
	return napi_get_boolean(env, value, &result) == napi_ok ? result : NULL;
}

napi_value make_null(napi_env env)
{
	napi_value result;
	return napi_get_null(env, &result) == napi_ok ? result : NULL;
}

napi_value make_string(napi_env env, const char *value, size_t length)
{
	napi_value result;
	return napi_create_string_utf8(env, value, length, &result) == napi_ok ? result : NULL;
}

bool set_property(napi_env env, napi_value object, const char *name, napi_value value)
{
	return value && napi_set_named_property(env, object, name, value) == napi_ok;
}
