/* --bench-passthrough BYTES: how fast the read and count path alone is (R-PERF-4). Not used by any run. */
#include "supervisor.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child: writes `bytes` zeros as fast as the pipe takes them. */
static _Noreturn void flood(int fd, uint64_t bytes)
{
	static uint8_t zeros[READ_BYTES];
	while (bytes > 0) {
		ssize_t put = write(fd, zeros, bytes < sizeof zeros ? (size_t)bytes : sizeof zeros);
		if (put <= 0)
			_exit(1);
		bytes -= (uint64_t)put;
	}
	_exit(0);
}

/* Passes BYTES through the same pump that serves commands and prints what it took. 0, 1 when bytes were lost, 2 for wrong use. */
int bench_passthrough(const char *bytes)
{
	static struct command c;
	int fds[2];
	uint64_t total = strtoull(bytes, NULL, 10);
	if (total == 0 || pipe2(fds, O_CLOEXEC) != 0)
		return 2;
	fcntl(fds[0], F_SETPIPE_SZ, PIPE_BYTES);
	pid_t pid = fork();
	if (pid == 0)
		flood(fds[1], total);
	close(fds[1]);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	c.pidfd = -1;
	c.requested = true; /* there is no request pipe */
	c.max_output = 0;   /* all is counted, nothing kept */
	c.streams[0] = (struct stream){.fd = fds[0]};
	c.streams[1] = (struct stream){.fd = -1, .at_end = true};
	uint64_t start = now_ns();
	while (!streams_at_end(&c))
		pump(&c, NEVER);
	uint64_t took = now_ns() - start;
	waitpid(pid, NULL, 0);
	printf("{\"bytes\":%llu,\"ns\":%llu}\n", (unsigned long long)c.streams[0].seen, (unsigned long long)took);
	return c.streams[0].seen == total ? 0 : 1;
}
