/* What happens while a command runs: output, deadline, requests, and what makes it end (R-END-1, R-END-3, R-OUT-1). */
#include "supervisor.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define DRAIN_NS (100 * MILLISECOND)

static uint8_t read_buffer[READ_BYTES];

/* The first cause stays (R-END-6). */
void set_trigger(struct command *c, enum trigger trigger)
{
	if (c->trigger != TRIGGER_NONE)
		return;
	c->trigger = trigger;
	c->trigger_ns = now_ns();
}

bool streams_at_end(const struct command *c)
{
	return c->streams[0].at_end && c->streams[1].at_end;
}

static void close_stream(struct stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	stream->fd = -1;
}

/* Keeps what the bound still allows and counts the rest; the byte that crosses it is the trigger (R-OUT-1). */
static void take_output(struct command *c, int index, size_t length)
{
	struct stream *stream = &c->streams[index];
	uint64_t kept = c->streams[0].kept + c->streams[1].kept;
	uint64_t room = c->max_output - kept;
	uint64_t keep = length < room ? length : room;
	stream->seen += length;
	if (keep > 0)
		send_chunk(c, index, read_buffer, (uint32_t)keep);
	stream->kept += keep;
	if (keep < length)
		set_trigger(c, TRIGGER_OUTPUT_LIMIT);
}

/* One read of one stream; false when there is nothing more to read now. */
static bool read_stream(struct command *c, int index)
{
	struct stream *stream = &c->streams[index];
	ssize_t got = read(stream->fd, read_buffer, READ_BYTES);
	if (got > 0) {
		take_output(c, index, (size_t)got);
		return true;
	}
	if (got < 0 && errno == EINTR)
		return true;
	if (got < 0 && errno == EAGAIN)
		return false;
	if (got < 0)
		set_trigger(c, TRIGGER_INTERNAL);
	stream->at_end = got == 0;
	close_stream(stream);
	return false;
}

/* Requests of the moment. A second run before the first ended is a fault of the other side. */
static void take_requests(struct command *c)
{
	while (!c->requested) {
		switch (next_request()) {
		case REQUEST_NONE:
			return;
		case REQUEST_RUN:
			if (c->seq != 0)
				fatal("a run request while a command runs", EPROTO);
			c->requested = true;
			return;
		case REQUEST_RUN_INSIDE:
			if (c->seq != 0)
				fatal("a run request while a command runs", EPROTO);
			c->requested = c->inside = true;
			return;
		case REQUEST_RELEASE:
		case REQUEST_DROP:
			break; /* of a sandbox that is gone already */
		case REQUEST_INTERRUPT:
			set_trigger(c, TRIGGER_INTERRUPTED);
			break;
		case REQUEST_KILL:
			set_trigger(c, TRIGGER_INTERRUPTED);
			c->kill_now = true;
			break;
		case REQUEST_END:
			set_trigger(c, TRIGGER_INTERNAL);
			c->kill_now = c->abandoned = true;
			return;
		default:
			fatal("unknown request", EPROTO);
		}
	}
}

/* SIGCHLD says that somebody died, not how many: the notices are thrown away and the dead are looked for. */
static void take_deaths(struct command *c)
{
	struct signalfd_siginfo info;
	while (read(death_fd, &info, sizeof info) > 0)
		continue;
	if (c->leader != 0)
		reap_dead(c);
}

static struct timespec until(uint64_t wake_ns)
{
	uint64_t now = now_ns();
	uint64_t rest = wake_ns > now ? wake_ns - now : 0;
	return (struct timespec){.tv_sec = (time_t)(rest / 1000000000), .tv_nsec = (long)(rest % 1000000000)};
}

/* Waits until something happens or `wake_ns` comes (monotonic), and deals with all that happened. The only place that sleeps. */
void pump(struct command *c, uint64_t wake_ns)
{
	enum { REQUESTS, EVENTS, LEADER, DEATHS, OUT, ERR, COUNT };
	bool room = events_have_room();
	struct pollfd fds[COUNT] = {
		[REQUESTS] = {.fd = c->abandoned || c->requested ? -1 : REQUEST_FD, .events = POLLIN},
		[EVENTS] = {.fd = events_pending() ? EVENT_FD : -1, .events = POLLOUT},
		[LEADER] = {.fd = c->leader_dead ? -1 : c->pidfd, .events = POLLIN},
		[DEATHS] = {.fd = death_fd, .events = POLLIN},
		[OUT] = {.fd = room ? c->streams[0].fd : -1, .events = POLLIN},
		[ERR] = {.fd = room ? c->streams[1].fd : -1, .events = POLLIN},
	};
	struct timespec rest = until(wake_ns);
	wake_at(wake_ns);
	int ready = ppoll(fds, COUNT, wake_ns == NEVER ? NULL : &rest, NULL);
	if (ready < 0 && errno != EINTR)
		fatal("ppoll", errno);
	if (ready > 0) {
		if (fds[OUT].revents != 0)
			read_stream(c, 0);
		if (fds[ERR].revents != 0)
			read_stream(c, 1);
		if (fds[REQUESTS].revents != 0)
			take_requests(c);
		if (fds[LEADER].revents != 0) {
			c->leader_dead = true;
			c->leader_dead_ns = now_ns();
		}
		if (fds[DEATHS].revents != 0)
			take_deaths(c);
	}
	if (events_pending())
		flush_events();
}

/* When the waiting ends, and as what: the deadline, or after the leader's exit the leak timeout if that is sooner (R-END-1, R-END-3). */
static uint64_t next_limit(const struct command *c, enum trigger *trigger)
{
	*trigger = TRIGGER_TIMEOUT;
	if (!c->leader_dead || c->leak_ns == UNSET || c->leak_ns >= c->deadline_ns - c->leader_dead_ns || c->leader_dead_ns >= c->deadline_ns)
		return c->deadline_ns;
	*trigger = TRIGGER_DESCENDANT;
	return c->leader_dead_ns + c->leak_ns;
}

/* Runs until the leader has exited and the pipes are at their end, or until a trigger is set. */
void watch(struct command *c)
{
	while (c->trigger == TRIGGER_NONE && !(c->leader_dead && streams_at_end(c))) {
		enum trigger trigger;
		uint64_t limit = next_limit(c, &trigger);
		if (now_ns() >= limit)
			set_trigger(c, trigger);
		else
			pump(c, limit);
	}
	/* who stops us hides the moment of its end: an end that is first seen after the deadline is none in time */
	if (c->trigger == TRIGGER_NONE && now_ns() >= c->deadline_ns)
		set_trigger(c, TRIGGER_TIMEOUT);
}

/* After the cleanup: what is still in the pipes is read within a bound, then the read ends are closed (R-END-5). */
void drain(struct command *c)
{
	uint64_t give_up = now_ns() + DRAIN_NS;
	for (int i = 0; i < 2; i++) {
		while (c->streams[i].fd >= 0 && now_ns() < give_up) {
			if (!events_have_room())
				pump(c, give_up);
			else if (!read_stream(c, i))
				break;
		}
		close_stream(&c->streams[i]);
	}
}
