/*
 * Requests in, events out (R-MECH-2). Every frame is u32 length of the payload, u8 type, payload; integers are little-endian.
 *
 * run          u32 seq, u64 timeout_ns, u64 leak_ns, u64 max_output, u8 split, 5 x u64 limits (all ones: none), u32 argc, u32 envc,
 *              then executable, checkout, cwd, argv..., env... each ended by NUL
 * run-inside   u32 seq, u64 timeout_ns, u32 argc, u32 joins, u32 bytes of the filter, u32 bytes of the frames, then program, argv..., joins... each
 *              ended by NUL, the filter, and the frames for the first process inside: confine and run
 * release      u32 seq: the token that lets the first process inside go on; its absence, and the end of the pipe, never do (to the inside: no payload)
 * drop         u32 seq: what is held inside is not wanted
 * confine      u8 landlock, then paths that stay writable, each ended by NUL
 * interrupt    no payload: end the running command by the ladder
 * kill         no payload: straight to KILL
 * (end of file: end everything at once and exit)
 *
 * hello        u32 version, u32 pid
 * started      u32 seq, u32 pid, u64 start_ns
 * chunk        u32 seq, u8 stream, u64 offset, u64 t_us, bytes
 * start-failed u32 seq, u8 stage, u32 errno
 * ended        u32 seq, see send_ended
 * fatal        u32 errno, text
 * relay        u32 seq, bytes as they came from the first process inside, which speaks this protocol too
 * observed     u32 seq, then parts of u32 length and bytes (init.c)
 * entered      u32 seq, u32 pid of bubblewrap
 * gone         u32 seq, u32 wait status of bubblewrap, u8 flags (1 clean, 2 killed), what it said
 */
#include "supervisor.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { HEADER_BYTES = 5, RUN_FIXED_BYTES = 4 + 3 * 8 + 1 + LIMIT_COUNT * 8 + 4 + 4, CHUNK_FIXED_BYTES = 21, ERRAND_FIXED_BYTES = 28 };
enum { REQUEST_BYTES = 8 * 1024 * 1024, MAX_STRINGS = 192 * 1024, QUEUE_BYTES = 4 * 1024 * 1024, QUEUE_RESERVE = 4096 };

static uint8_t request[REQUEST_BYTES + 1];
static char *strings[MAX_STRINGS];
static uint8_t request_header[HEADER_BYTES];
static size_t header_have, payload_have, payload_length;

static uint8_t queue[QUEUE_BYTES];
static size_t queue_head, queue_tail;
static size_t last_chunk = SIZE_MAX; /* where the last frame starts, if it is a chunk */
static bool nobody_listens;

static uint32_t get_u32(const uint8_t *at)
{
	uint32_t value;
	memcpy(&value, at, sizeof value);
	return le32toh(value);
}

static uint64_t get_u64(const uint8_t *at)
{
	uint64_t value;
	memcpy(&value, at, sizeof value);
	return le64toh(value);
}

/* Fills `into` up to `want` bytes without blocking: 1 when full, 0 when more must come, -1 at the end of the pipe. */
static int fill(uint8_t *into, size_t *have, size_t want)
{
	while (*have < want) {
		ssize_t got = read(REQUEST_FD, into + *have, want - *have);
		if (got > 0)
			*have += (size_t)got;
		else if (got < 0 && errno == EINTR)
			continue;
		else if (got < 0 && errno == EAGAIN)
			return 0;
		else
			return -1;
	}
	return 1;
}

/* The next whole request, or REQUEST_NONE when none is there yet. A pipe that ended or failed is REQUEST_END (R-MECH-4). */
enum request_type next_request(void)
{
	int state = fill(request_header, &header_have, HEADER_BYTES);
	if (state <= 0)
		return state < 0 ? REQUEST_END : REQUEST_NONE;
	payload_length = get_u32(request_header);
	if (payload_length > REQUEST_BYTES)
		fatal("request too large", E2BIG);
	state = fill(request, &payload_have, payload_length);
	if (state <= 0)
		return state < 0 ? REQUEST_END : REQUEST_NONE;
	header_have = payload_have = 0;
	return (enum request_type)request_header[4];
}

/* Cuts one NUL-ended string off the request; NULL when there is none. */
static char *take_string(size_t *at)
{
	uint8_t *start = request + *at;
	uint8_t *end = memchr(start, 0, payload_length - *at);
	if (end == NULL)
		return NULL;
	*at = (size_t)(end - request) + 1;
	return (char *)start;
}

/* Cuts the strings of argv and env; both vectors end with NULL. */
static bool take_vectors(struct command *c, size_t at, size_t argc, size_t envc)
{
	if (argc == 0 || argc > MAX_STRINGS || envc > MAX_STRINGS || argc + envc + 2 > MAX_STRINGS)
		return false;
	c->argv = strings;
	c->envp = strings + argc + 1;
	strings[argc] = NULL;
	strings[argc + 1 + envc] = NULL;
	for (size_t i = 0; i < argc + envc; i++) {
		char *string = take_string(&at);
		if (string == NULL)
			return false;
		strings[i < argc ? i : i + 1] = string;
	}
	return at == payload_length;
}

/* The next string of a request of strings alone, from `at` on; NULL after the last. */
const char *next_string(size_t *at)
{
	return *at < payload_length ? take_string(at) : NULL;
}

/* Whether the request speaks of this sandbox, and not of one that is gone. It lies over the number of the errand, which is read by then. */
bool speaks_of(const struct errand *errand)
{
	return payload_length == sizeof(uint32_t) && get_u32(request) == errand->seq;
}

/* The flag in front of the paths of a confine request. */
bool wants_landlock(void)
{
	return payload_length > 0 && request[0] != 0;
}

/* Reads the run-inside request that next_request left in the buffer; false when it is malformed. */
bool parse_errand(struct errand *errand)
{
	const uint8_t *at = request;
	if (payload_length < ERRAND_FIXED_BYTES)
		return false;
	size_t argc = get_u32(at + 12), joins = get_u32(at + 16);
	size_t next = ERRAND_FIXED_BYTES;
	*errand = (struct errand){.seq = get_u32(at), .timeout_ns = get_u64(at + 4), .argv = strings, .joins = strings + argc + 1};
	errand->filter_length = get_u32(at + 20);
	errand->frames_length = get_u32(at + 24);
	if (argc == 0 || argc > MAX_STRINGS || joins > MAX_STRINGS || argc + joins + 2 > MAX_STRINGS)
		return false;
	errand->program = take_string(&next);
	strings[argc] = strings[argc + 1 + joins] = NULL;
	for (size_t i = 0; i < argc + joins && errand->program != NULL; i++)
		if ((strings[i < argc ? i : i + 1] = take_string(&next)) == NULL)
			return false;
	errand->filter = at + next;
	errand->frames = at + next + errand->filter_length;
	return errand->program != NULL && payload_length - next == errand->filter_length + errand->frames_length;
}

/* Reads the run request that next_request left in the buffer into `c`; false when it is malformed. */
bool parse_run(struct command *c)
{
	const uint8_t *at = request;
	if (payload_length < RUN_FIXED_BYTES)
		return false;
	c->seq = get_u32(at);
	c->timeout_ns = get_u64(at + 4);
	c->leak_ns = get_u64(at + 12);
	c->max_output = get_u64(at + 20);
	c->split = at[28] != 0;
	for (int i = 0; i < LIMIT_COUNT; i++)
		c->limits[i] = get_u64(at + 29 + 8 * i);
	size_t argc = get_u32(at + 29 + 8 * LIMIT_COUNT);
	size_t envc = get_u32(at + 33 + 8 * LIMIT_COUNT);
	size_t next = RUN_FIXED_BYTES;
	c->executable = take_string(&next);
	c->checkout = c->executable ? take_string(&next) : NULL;
	c->cwd = c->checkout ? take_string(&next) : NULL;
	return c->cwd != NULL && take_vectors(c, next, argc, envc);
}

/* Writes what the pipe takes, never blocks: a reader that is busy must not move a deadline (R-PERF-3). */
void flush_events(void)
{
	while (queue_head < queue_tail) {
		ssize_t put = write(EVENT_FD, queue + queue_head, queue_tail - queue_head);
		if (put > 0)
			queue_head += (size_t)put;
		else if (put < 0 && errno == EINTR)
			continue;
		else if (put < 0 && errno == EAGAIN)
			return;
		else
			nobody_listens = true, queue_head = queue_tail;
	}
	queue_head = queue_tail = 0;
	last_chunk = SIZE_MAX;
}

bool events_pending(void)
{
	return queue_head < queue_tail;
}

/* Whether a chunk of any stream still fits. Where the reader is slow and the writes are tiny the pipes are left alone for a while. */
bool events_have_room(void)
{
	return queue_tail - queue_head + READ_BYTES + CHUNK_FIXED_BYTES + QUEUE_RESERVE <= QUEUE_BYTES;
}

/* Appends raw bytes to the queue. */
static void put_bytes(const void *bytes, size_t length)
{
	if (nobody_listens)
		return;
	if (queue_tail + length > QUEUE_BYTES) {
		memmove(queue, queue + queue_head, queue_tail - queue_head);
		if (last_chunk != SIZE_MAX)
			last_chunk = last_chunk >= queue_head ? last_chunk - queue_head : SIZE_MAX;
		queue_tail -= queue_head;
		queue_head = 0;
	}
	if (queue_tail + length > QUEUE_BYTES)
		fatal("event queue full", ENOBUFS);
	memcpy(queue + queue_tail, bytes, length);
	queue_tail += length;
}

static void put_u8(uint8_t value)
{
	put_bytes(&value, sizeof value);
}

static void put_u32(uint32_t value)
{
	value = htole32(value);
	put_bytes(&value, sizeof value);
}

static void put_u64(uint64_t value)
{
	value = htole64(value);
	put_bytes(&value, sizeof value);
}

static void put_header(enum event_type type, size_t length)
{
	last_chunk = SIZE_MAX;
	put_u32((uint32_t)length);
	put_u8((uint8_t)type);
}

void send_hello(void)
{
	put_header(EVENT_HELLO, 8);
	put_u32(PROTOCOL_VERSION);
	put_u32((uint32_t)self_pid);
}

void send_started(const struct command *c)
{
	put_header(EVENT_STARTED, 16);
	put_u32(c->seq);
	put_u32((uint32_t)c->leader);
	put_u64(c->start_ns);
}

/* Joins `bytes` to the last frame of the queue, if that is an unsent chunk of the same stream: keeps the queue small (R-OUT-1). */
static bool join_chunk(int stream, const uint8_t *bytes, uint32_t length)
{
	if (last_chunk == SIZE_MAX || last_chunk < queue_head || queue[last_chunk + HEADER_BYTES + 4] != stream)
		return false;
	put_bytes(bytes, length);
	uint32_t joined = htole32(get_u32(queue + last_chunk) + length);
	memcpy(queue + last_chunk, &joined, sizeof joined);
	return true;
}

/* Output bytes as they came, with their place in the kept stream and the time since the start (R-OUT-3). */
void send_chunk(const struct command *c, int stream, const uint8_t *bytes, uint32_t length)
{
	if (nobody_listens || join_chunk(stream, bytes, length))
		return;
	put_header(EVENT_CHUNK, CHUNK_FIXED_BYTES + length);
	size_t start = queue_tail - HEADER_BYTES;
	size_t moved = queue_head;
	put_u32(c->seq);
	put_u8((uint8_t)stream);
	put_u64(c->streams[stream].kept);
	put_u64((now_ns() - c->start_ns) / 1000);
	put_bytes(bytes, length);
	last_chunk = start - (moved - queue_head);
}

void send_start_failed(const struct command *c, enum stage stage, int error)
{
	put_header(EVENT_START_FAILED, 9);
	put_u32(c->seq);
	put_u8((uint8_t)stage);
	put_u32((uint32_t)error);
}

/* The facts of one command's end, each from a system call that was made (R-END-5, R-STATUS-2). */
void send_ended(const struct command *c)
{
	const struct stream *out = &c->streams[0], *err = &c->streams[1];
	uint8_t flags = (uint8_t)(c->reaped << 0 | c->term_sent << 1 | c->kill_sent << 2 | c->cleaned << 3 | out->at_end << 4 | err->at_end << 5);
	const uint64_t numbers[] = {out->seen,     err->seen,      out->kept,     err->kept,          c->start_ns, c->end_ns,
	                            c->trigger_ns, c->term_ns,     c->kill_ns,    c->user_us,         c->system_us, c->max_rss_bytes};
	const uint32_t counts[] = {(uint32_t)c->wait_status, c->escaped, c->reaped_count, c->left_alive, (uint32_t)c->left_pid,
	                           c->leftovers};
	put_header(EVENT_ENDED, 4 + 1 + 1 + sizeof counts + sizeof numbers);
	put_u32(c->seq);
	put_u8((uint8_t)c->trigger);
	put_u8(flags);
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		put_u32(counts[i]);
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		put_u64(numbers[i]);
}

void send_fatal(const char *what, int error)
{
	put_header(EVENT_FATAL, 4 + strlen(what));
	put_u32((uint32_t)error);
	put_bytes(what, strlen(what));
}

void send_relay(const struct errand *errand, const uint8_t *bytes, uint32_t length)
{
	put_header(EVENT_RELAY, 4 + (size_t)length);
	put_u32(errand->seq);
	put_bytes(bytes, length);
}

void send_entered(const struct errand *errand, pid_t pid)
{
	put_header(EVENT_ENTERED, 8);
	put_u32(errand->seq);
	put_u32((uint32_t)pid);
}

void send_gone(const struct errand *errand, uint32_t status, uint8_t flags, const char *text)
{
	put_header(EVENT_GONE, 9 + strlen(text));
	put_u32(errand->seq);
	put_u32(status);
	put_u8(flags);
	put_bytes(text, strlen(text));
}

/* The head of an observed event whose parts, with their lengths, have `length` bytes. */
void begin_observed(uint32_t seq, size_t length)
{
	put_header(EVENT_OBSERVED, 4 + length);
	put_u32(seq);
}

void put_part(const void *bytes, size_t length)
{
	put_u32((uint32_t)length);
	put_bytes(bytes, length);
}
