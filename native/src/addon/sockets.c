/* Unix sockets with peer credentials and descriptors as messages: what Node's net cannot do (BR-2, BR-3). All are non-blocking and close-on-exec. */
#include "addon.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 64, MAX_RECEIVE = 65536 };

static napi_value close_and_throw(napi_env env, int fd, const char *call, const char *path)
{
	int error = errno;
	if (fd >= 0)
		close(fd);
	return throw_errno(env, error, call, path);
}

/*
 * The address goes through the directory's descriptor, so that neither a long path is cut off (108 bytes) nor a directory above is exchanged meanwhile.
 * False: an exception is pending.
 */
static bool take_address(napi_env env, const napi_value *args, struct sockaddr_un *address)
{
	int64_t directory;
	if (!take_integer(env, args[0], 0, INT32_MAX, &directory))
		return false;
	char *name = take_string(env, args[1]);
	if (!name)
		return false;
	memset(address, 0, sizeof *address);
	address->sun_family = AF_UNIX;
	int length = snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%s", (int)directory, name);
	bool is_plain = *name && !strchr(name, '/') && length > 0 && (size_t)length < sizeof address->sun_path;
	if (!is_plain)
		throw_errno(env, ENAMETOOLONG, "bind", name);
	free(name);
	return is_plain;
}

/* listenUnix(directoryFd, name): a new socket of mode 0600; EADDRINUSE where anything has that name. */
napi_value listen_unix(napi_env env, napi_callback_info info)
{
	napi_value args[2];
	struct sockaddr_un address;
	if (!take_args(env, info, 2, args) || !take_address(env, args, &address))
		return NULL;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* The mode of the descriptor is that of the socket file which bind makes: there is no moment at which others may connect. */
	if (fd < 0 || fchmod(fd, 0600) || bind(fd, (struct sockaddr *)&address, sizeof address))
		return close_and_throw(env, fd, "bind", address.sun_path);
	return listen(fd, BACKLOG) ? close_and_throw(env, fd, "listen", address.sun_path) : make_number(env, fd);
}

/* connectUnix(directoryFd, name): ECONNREFUSED where nobody listens any more, EAGAIN where too many wait. */
napi_value connect_unix(napi_env env, napi_callback_info info)
{
	napi_value args[2];
	struct sockaddr_un address;
	if (!take_args(env, info, 2, args) || !take_address(env, args, &address))
		return NULL;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address))
		return close_and_throw(env, fd, "connect", address.sun_path);
	return make_number(env, fd);
}

/* socketPair(): two connected ends. */
napi_value socket_pair(napi_env env, napi_callback_info info)
{
	int ends[2];
	napi_value result;
	if (!take_args(env, info, 0, NULL))
		return NULL;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
		return throw_errno(env, errno, "socketpair", NULL);
	bool is_whole = napi_create_array(env, &result) == napi_ok && napi_set_element(env, result, 0, make_number(env, ends[0])) == napi_ok &&
		napi_set_element(env, result, 1, make_number(env, ends[1])) == napi_ok;
	return is_whole ? result : NULL;
}

static bool take_fd(napi_env env, napi_value value, int *fd)
{
	int64_t number;
	if (!take_integer(env, value, 0, INT32_MAX, &number))
		return false;
	*fd = (int)number;
	return true;
}

/* acceptSocket(fd): the next connection, or null where none waits (or it went away again). */
napi_value accept_socket(napi_env env, napi_callback_info info)
{
	napi_value args[1];
	int fd;
	if (!take_args(env, info, 1, args) || !take_fd(env, args[0], &fd))
		return NULL;
	int accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (accepted >= 0)
		return make_number(env, accepted);
	bool is_none = errno == EAGAIN || errno == ECONNABORTED || errno == EINTR;
	return is_none ? make_null(env) : throw_errno(env, errno, "accept4", NULL);
}

/* peerUid(fd): whose process connected (at the other end: whose process listens), as the kernel noted it then. */
napi_value peer_uid(napi_env env, napi_callback_info info)
{
	napi_value args[1];
	int fd;
	if (!take_args(env, info, 1, args) || !take_fd(env, args[0], &fd))
		return NULL;
	struct ucred peer;
	socklen_t size = sizeof peer;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) ? throw_errno(env, errno, "getsockopt", NULL) : make_number(env, peer.uid);
}

union one_descriptor {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr header;
};

/* sendBytes(fd, bytes, passedFd): how many bytes went; with a descriptor (-1: none) that goes along with the first of them. */
napi_value send_bytes(napi_env env, napi_callback_info info)
{
	napi_value args[3];
	int fd;
	void *bytes;
	size_t length;
	int64_t passed;
	if (!take_args(env, info, 3, args) || !take_fd(env, args[0], &fd) || !take_integer(env, args[2], -1, INT32_MAX, &passed))
		return NULL;
	if (napi_get_buffer_info(env, args[1], &bytes, &length) != napi_ok || length == 0) {
		napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", "at least one byte was expected");
		return NULL;
	}
	struct iovec part = {.iov_base = bytes, .iov_len = length};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	union one_descriptor control;
	if (passed >= 0) {
		int number = (int)passed;
		memset(&control, 0, sizeof control);
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof control.bytes;
		struct cmsghdr *header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof number);
		memcpy(CMSG_DATA(header), &number, sizeof number);
	}
	ssize_t sent;
	do {
		sent = sendmsg(fd, &message, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? throw_errno(env, errno, "sendmsg", NULL) : make_number(env, (double)sent);
}

/* The one descriptor of a message, or -1. */
static int received_descriptor(struct msghdr *message)
{
	for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
		if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof(int))) {
			int number;
			memcpy(&number, CMSG_DATA(header), sizeof number);
			return number;
		}
	}
	return -1;
}

/*
 * receiveBytes(fd): {bytes, descriptor} of what is there, null where nothing is; no bytes: the other end is closed. There is room for one descriptor
 * (-1: none came); the kernel closes what else was sent.
 */
napi_value receive_bytes(napi_env env, napi_callback_info info)
{
	napi_value args[1], result, buffer;
	int fd;
	if (!take_args(env, info, 1, args) || !take_fd(env, args[0], &fd))
		return NULL;
	char *bytes = malloc(MAX_RECEIVE);
	if (!bytes)
		return throw_errno(env, ENOMEM, "malloc", NULL);
	union one_descriptor control;
	struct iovec part = {.iov_base = bytes, .iov_len = MAX_RECEIVE};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
	ssize_t length;
	do {
		length = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	} while (length < 0 && errno == EINTR);
	int error = errno;
	int descriptor = length < 0 ? -1 : received_descriptor(&message);
	bool is_whole = length >= 0 && napi_create_object(env, &result) == napi_ok &&
		napi_create_buffer_copy(env, (size_t)length, bytes, NULL, &buffer) == napi_ok && set_property(env, result, "bytes", buffer) &&
		set_property(env, result, "descriptor", make_number(env, descriptor));
	free(bytes);
	if (length < 0)
		return error == EAGAIN ? make_null(env) : throw_errno(env, error, "recvmsg", NULL);
	if (!is_whole && descriptor >= 0)
		close(descriptor);
	return is_whole ? result : NULL;
}

/* shutdownSocket(fd): both directions end; whoever waits for it in this process or another sees it at once. */
napi_value shutdown_socket(napi_env env, napi_callback_info info)
{
	napi_value args[1];
	int fd;
	if (!take_args(env, info, 1, args) || !take_fd(env, args[0], &fd))
		return NULL;
	return shutdown(fd, SHUT_RDWR) && errno != ENOTCONN ? throw_errno(env, errno, "shutdown", NULL) : NULL;
}
