/* Locks, rename without replacing, and flushing: what Node's fs cannot do. */
#include "addon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

/* An existing file is opened as it is; a new one gets 0600 whatever the umask takes away (it is ours: O_EXCL made it). */
static int open_or_create(const char *path, bool may_create)
{
	const int flags = O_RDWR | O_NONBLOCK | O_NOCTTY;
	for (int round = 0; round < 8; round++) {
		int fd = open_without_links(path, flags, 0, false);
		if (fd >= 0 || errno != ENOENT || !may_create)
			return fd;
		fd = open_without_links(path, flags | O_CREAT | O_EXCL, 0600, false);
		if (fd >= 0) {
			struct stat made;
			if (fstat(fd, &made) == 0 && (made.st_mode & 07777) != 0600)
				(void)!fchmod(fd, 0600);
			return fd;
		}
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

/* openLock(path, mayCreate): C-LOCK-1. The descriptor and the name mean the same file when it returns; the caller asks again once the lock is held. */
napi_value open_lock(napi_env env, napi_callback_info info)
{
	napi_value args[2], result;
	bool may_create;
	if (!take_args(env, info, 2, args) || !take_boolean(env, args[1], &may_create))
		return NULL;
	char *path = take_string(env, args[0]);
	if (!path)
		return NULL;
	struct stat opened, named;
	int fd = open_or_create(path, may_create);
	if (fd < 0) {
		result = throw_errno(env, errno, "openat2", path);
	} else if (fstat(fd, &opened) || lstat(path, &named) || opened.st_dev != named.st_dev || opened.st_ino != named.st_ino) {
		close(fd);
		result = throw_named(env, "ESTALE", "lstat", path);
	} else {
		result = make_number(env, fd);
	}
	free(path);
	return result;
}

/* tryLock(fd): C-LOCK-1, C-LOCK-7. True: held from now until the last copy of the descriptor is closed. False: somebody else holds it. */
napi_value try_lock(napi_env env, napi_callback_info info)
{
	napi_value args[1];
	int64_t fd;
	if (!take_args(env, info, 1, args) || !take_integer(env, args[0], 0, INT32_MAX, &fd))
		return NULL;
	int result;
	do {
		result = flock((int)fd, LOCK_EX | LOCK_NB);
	} while (result && errno == EINTR);
	if (result && errno != EWOULDBLOCK)
		return throw_errno(env, errno, "flock", NULL);
	return make_boolean(env, result == 0);
}

/* The kernel says EINVAL both of a filesystem without the primitive and of a directory moved into itself. */
static bool is_inside(const char *from, const char *to)
{
	struct stat moved, above;
	char parent[PATH_MAX];
	if (strlen(to) >= sizeof parent || lstat(from, &moved))
		return true;
	strcpy(parent, to);
	for (char *slash; (slash = strrchr(parent, '/')) && slash != parent;) {
		*slash = 0;
		if (stat(parent, &above) == 0 && above.st_dev == moved.st_dev && above.st_ino == moved.st_ino)
			return true;
	}
	return false;
}

/* renameNoReplace(from, to): C-BOOT-6, E-PUB-2. ENOTSUP only where kernel or filesystem do not have the primitive. */
napi_value rename_no_replace(napi_env env, napi_callback_info info)
{
	napi_value args[2], result = NULL;
	if (!take_args(env, info, 2, args))
		return NULL;
	char *from = take_string(env, args[0]);
	char *to = from ? take_string(env, args[1]) : NULL;
	if (to && syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE)) {
		int error = errno;
		bool is_unsupported = error == ENOSYS || error == EOPNOTSUPP || (error == EINVAL && !is_inside(from, to));
		result = is_unsupported ? throw_named(env, "ENOTSUP", "renameat2", to) : throw_errno(env, error, "renameat2", to);
	}
	free(from);
	free(to);
	return result;
}

static napi_value flush(napi_env env, napi_callback_info info, int (*call)(int), const char *name)
{
	napi_value args[1];
	if (!take_args(env, info, 1, args))
		return NULL;
	char *path = take_string(env, args[0]);
	if (!path)
		return NULL;
	int fd = open_without_links(path, O_RDONLY | O_DIRECTORY, 0, false);
	napi_value result = NULL;
	if (fd < 0)
		result = throw_errno(env, errno, "openat2", path);
	else if (call(fd))
		result = throw_errno(env, errno, name, path);
	if (fd >= 0)
		close(fd);
	free(path);
	return result;
}

/* syncDirectory(path): E-PUB-2, C-BOOT-6: the names in it are on disk. */
napi_value sync_directory(napi_env env, napi_callback_info info)
{
	return flush(env, info, fsync, "fsync");
}

/* syncFilesystem(directory): R-PERF-1, E-PUB-2: one flush for everything written below it. */
napi_value sync_filesystem(napi_env env, napi_callback_info info)
{
	return flush(env, info, syncfs, "syncfs");
}

/* hasAccessList(path): C-TRUST-1. A list may let others write where mode and group name nobody; where there is none, the mode is the whole truth. */
napi_value has_access_list(napi_env env, napi_callback_info info)
{
	napi_value args[1];
	if (!take_args(env, info, 1, args))
		return NULL;
	char *path = take_string(env, args[0]);
	if (!path)
		return NULL;
	ssize_t length = lgetxattr(path, "system.posix_acl_access", NULL, 0);
	bool is_absent = length == 0 || (length < 0 && (errno == ENODATA || errno == EOPNOTSUPP));
	napi_value result = length > 0 || is_absent ? make_boolean(env, !is_absent) : throw_errno(env, errno, "lgetxattr", path);
	free(path);
	return result;
}
