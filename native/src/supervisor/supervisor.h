/*
 * The native supervisor: one single-threaded process per run that owns the start, the deadline, the signals and the reaping of
 * every command (R-MECH-1). It reads requests on descriptor 3 and writes events on descriptor 4 (protocol.c says how they look).
 *
 *   main.c      puts the process into a defined state and waits for requests
 *   protocol.c  requests in, events out
 *   start.c     from a request to a running leader
 *   watch.c     output, deadline, and what makes a command end
 *   ladder.c    TERM, grace, KILL, and the proof that nobody is left
 *   children.c  our own children, adopted ones included, and their reaping
 *   scan.c      who is alive: by group, session and descent
 *   sandbox.c   one command inside bubblewrap: starts it, relays, and ends it where it does not end itself
 *   init.c      --init: the same program as the first process inside: confines itself, says what it sees, and holds until it is released
 *   bench.c     --bench-passthrough
 *
 * Nothing is allocated after the start: every buffer is static, and pages that nobody needs are never touched.
 */
#ifndef BAILIFF_SUPERVISOR_H
#define BAILIFF_SUPERVISOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { REQUEST_FD = 3, EVENT_FD = 4 };
enum { PROTOCOL_VERSION = 1 };

enum request_type { REQUEST_NONE = 0, REQUEST_RUN = 1, REQUEST_INTERRUPT = 2, REQUEST_KILL = 3, REQUEST_RUN_INSIDE = 4, REQUEST_RELEASE = 5, REQUEST_CONFINE = 6, REQUEST_DROP = 7, REQUEST_END = 255 };
enum event_type { EVENT_HELLO = 1, EVENT_STARTED = 2, EVENT_CHUNK = 3, EVENT_START_FAILED = 4, EVENT_ENDED = 5, EVENT_FATAL = 6,
	EVENT_RELAY = 7, EVENT_OBSERVED = 8, EVENT_ENTERED = 9, EVENT_GONE = 10 };
enum stage { STAGE_NONE = 0, STAGE_CHDIR = 1, STAGE_EXEC = 3, STAGE_INTERPRETER = 4, STAGE_FORK = 5 };
enum trigger {
	TRIGGER_NONE = 0,
	TRIGGER_TIMEOUT = 1,
	TRIGGER_OUTPUT_LIMIT = 2,
	TRIGGER_DESCENDANT = 3,
	TRIGGER_INTERNAL = 4,
	TRIGGER_INTERRUPTED = 5,
};

#define MILLISECOND UINT64_C(1000000)
#define NEVER UINT64_MAX
#define UNSET UINT64_MAX

enum { MAX_PID = 1 << 22 }; /* the most that a 64-bit kernel gives */

enum { READ_BYTES = 128 * 1024, PIPE_BYTES = 1024 * 1024 };

/* The limits of a request, in the order in which it names them. */
enum { LIMIT_NOFILE, LIMIT_MEMORY, LIMIT_CPU, LIMIT_PROCESSES, LIMIT_FILE_SIZE, LIMIT_COUNT };

struct stream {
	int fd; /* read end, -1 once closed */
	bool at_end;
	uint64_t seen;
	uint64_t kept;
};

struct command {
	/* what was asked for; the strings lie in the request buffer and are needed until the exec */
	bool requested;
	bool inside; /* requested for a sandbox */
	uint32_t seq;
	uint64_t timeout_ns, leak_ns, max_output;
	bool split;
	uint64_t limits[LIMIT_COUNT];
	const char *executable, *checkout, *cwd;
	char **argv, **envp;

	/* how it stands */
	pid_t leader;
	int pidfd;
	struct stream streams[2];
	uint64_t start_ns, deadline_ns, leader_dead_ns, end_ns;
	bool leader_dead;
	bool kill_now;  /* no grace any more (R-END-7) */
	bool abandoned; /* the request pipe ended: nobody listens (R-MECH-4) */

	/* facts: flags are set from the system calls that were made (R-END-5) */
	enum trigger trigger;
	bool term_sent, kill_sent, reaped, cleaned;
	uint64_t trigger_ns, term_ns, kill_ns;
	int wait_status;
	uint32_t escaped;
	uint32_t left_alive;
	uint32_t leftovers; /* lived on after the leader */
	pid_t left_pid;
	uint64_t user_us, system_us, max_rss_bytes;
	uint32_t reaped_count;
};

/* A command for the inside of a sandbox; the bytes lie in the request buffer. */
struct errand {
	uint32_t seq;
	uint64_t timeout_ns;
	const char *program;
	char **argv;
	char **joins; /* files that take a process into its control groups, ended by NULL */
	const uint8_t *filter, *frames; /* frames: what the first process inside reads */
	size_t filter_length, frames_length;
};

/* Where the bytes of the system call filter are for bubblewrap; the protocol stays on 3 and 4. */
enum { FILTER_FD = 5 };

/* One process of the command as a scan saw it. */
struct row {
	pid_t pid, ppid, pgrp, session;
	uint64_t start_ticks;
	char state;
	uint32_t threads;
	bool live;
};

/* What a scan says about the command. */
struct census {
	bool readable;
	uint32_t live;
	pid_t first_live;
	uint32_t foreign_zombies; /* dead, but not ours to reap */
	uint64_t zombie_print;    /* fingerprint of that set */
};

/* main.c */
extern pid_t self_pid, parent_pid;
extern int null_fd;
extern int death_fd; /* readable when a child died */
extern int own_oom_score; /* to give back to commands; INT32_MIN when it was not moved */
uint64_t now_ns(void);
_Noreturn void fatal(const char *what, int error);
void define_process(void);
void seal_process(void);
void wake_at(uint64_t wake_ns);
void reset_command(struct command *c);
void run_command(struct command *c);

/* protocol.c */
enum request_type next_request(void);
bool parse_run(struct command *c);
void flush_events(void);
bool events_pending(void);
bool events_have_room(void);
void send_hello(void);
void send_started(const struct command *c);
void send_chunk(const struct command *c, int stream, const uint8_t *bytes, uint32_t length);
void send_start_failed(const struct command *c, enum stage stage, int error);
void send_ended(const struct command *c);
void send_fatal(const char *what, int error);
bool parse_errand(struct errand *errand);
const char *next_string(size_t *at);
bool wants_landlock(void);
bool speaks_of(const struct errand *errand);
void send_relay(const struct errand *errand, const uint8_t *bytes, uint32_t length);
void send_entered(const struct errand *errand, pid_t pid);
void send_gone(const struct errand *errand, uint32_t status, uint8_t flags, const char *text);
void begin_observed(uint32_t seq, size_t length);
void put_part(const void *bytes, size_t length);

/* start.c */
bool start_command(struct command *c);
void restore_oom_score(void);
int open_signal_mask(void);

/* watch.c */
void pump(struct command *c, uint64_t wake_ns);
void set_trigger(struct command *c, enum trigger trigger);
bool streams_at_end(const struct command *c);
void watch(struct command *c);
void drain(struct command *c);

/* ladder.c */
void finish(struct command *c);

/* scan.c */
void open_proc(void);
bool for_each_child(int list, void (*visit)(pid_t pid, void *context), void *context);
struct census take_census(const struct command *c);
const struct row *scanned_rows(size_t *count);
bool still_is(const struct row *row);

/* children.c */
void open_children(void);
size_t reap_adopted(struct command *c);
void reap_dead(struct command *c);
pid_t living_child(size_t index);
void reap_leader(struct command *c);
bool note_signalled(struct command *c, pid_t pid);
void forget_all_signalled(const struct command *c);

/* sandbox.c */
void run_errand(void);

/* init.c */
int serve_inside(void);

/* bench.c */
int bench_passthrough(const char *bytes);

#endif
