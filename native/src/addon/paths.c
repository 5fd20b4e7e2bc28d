/* Opening a path component by component without following a link anywhere in it (C-TRUST, C-LOCK-1). */
#include "addon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Absolute, no empty, "." or ".." component: what is opened is then what is written. */
static bool is_plain(const char *path)
{
	if (path[0] != '/')
		return false;
	for (const char *at = path + 1; path[1] != 0;) {
		size_t length = strcspn(at, "/");
		if (length == 0 || (length == 1 && at[0] == '.') || (length == 2 && at[0] == '.' && at[1] == '.'))
			return false;
		at += length;
		if (*at == 0)
			break;
		at++;
	}
	return true;
}

/* openat says ENOTDIR of a link where a directory was asked for; openat2 says ELOOP. One answer for both ways. */
static int name_link(int directory, const char *name, int error)
{
	struct stat found;
	if (error == ENOTDIR && fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(found.st_mode))
		return ELOOP;
	return error;
}

static int open_chain(const char *path, int flags, unsigned mode)
{
	if (strlen(path) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	char name[PATH_MAX];
	strcpy(name, path);
	int directory = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return -1;
	char *at = name + 1;
	for (char *slash; (slash = strchr(at, '/')); at = slash + 1) {
		*slash = 0;
		int next = openat(directory, at, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
		int error = next < 0 ? name_link(directory, at, errno) : 0;
		close(directory);
		if (next < 0) {
			errno = error;
			return -1;
		}
		directory = next;
	}
	int fd = openat(directory, *at ? at : ".", flags | O_NOFOLLOW | O_CLOEXEC, mode);
	int error = fd < 0 ? name_link(directory, at, errno) : 0;
	close(directory);
	errno = error;
	return fd;
}

static int open_at_once(const char *path, int flags, unsigned mode)
{
	struct open_how how = {.flags = (uint64_t)(unsigned)(flags | O_NOFOLLOW | O_CLOEXEC), .mode = flags & O_CREAT ? mode : 0, .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	int fd;
	do {
		fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
	} while (fd < 0 && errno == EINTR);
	/* A link named where a directory was asked for: the kernel looks at O_DIRECTORY first. */
	if (fd < 0)
		errno = name_link(AT_FDCWD, path, errno);
	return fd;
}

/* C-TRUST-3, C-LOCK-1. A descriptor, or -1 with errno: ELOOP where any component is a link, EINVAL where the path is not plain. */
int open_without_links(const char *path, int flags, unsigned mode, bool force_chain)
{
	if (!is_plain(path)) {
		errno = EINVAL;
		return -1;
	}
	int fd = -1;
	if (!force_chain)
		fd = open_at_once(path, flags, mode);
	/* Old kernels have no openat2, and some containers' filters answer EPERM. */
	if (force_chain || (fd < 0 && (errno == ENOSYS || errno == EPERM)))
		fd = open_chain(path, flags, mode);
	struct stat opened;
	if (fd >= 0 && flags & O_PATH && fstat(fd, &opened) == 0 && S_ISLNK(opened.st_mode)) {
		close(fd);
		errno = ELOOP;
		return -1;
	}
	return fd;
}

/* openNoLinks(path, flags, mode, forceChain): C-TRUST-3. */
napi_value open_no_links(napi_env env, napi_callback_info info)
{
	napi_value args[4];
	int64_t flags, mode;
	bool force_chain;
	if (!take_args(env, info, 4, args) || !take_integer(env, args[1], 0, INT32_MAX, &flags) || !take_integer(env, args[2], 0, 0777, &mode) ||
		!take_boolean(env, args[3], &force_chain)) {
		return NULL;
	}
	char *path = take_string(env, args[0]);
	if (!path)
		return NULL;
	int fd = open_without_links(path, (int)flags, (unsigned)mode, force_chain);
	napi_value result = fd < 0 ? throw_errno(env, errno, "openat2", path) : make_number(env, fd);
	free(path);
	return result;
}
