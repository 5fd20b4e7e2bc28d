import type {Resources, SandboxRecord, Status, Termination, TraceLine, Trigger} from '../evidence/index.ts';

/** Where a start failed (R-START-2). */
export type StartStage = 'chdir' | 'resolve' | 'exec' | 'interpreter' | 'fork';

/** Limits that the supervisor sets with setrlimit; null leaves the inherited value. Core size is always 0. */
export type ResourceLimits = {
	readonly openFiles: number;
	readonly memoryBytes: number | null;
	readonly cpuSeconds: number | null;
	readonly processes: number | null;
	readonly fileSizeBytes: number | null;
};

/** One command as the supervisor starts it: everything is resolved, nothing is inherited (R-START-1). */
export type CommandRequest = {
	/** Absolute path, or relative to the cwd when the plan names it with a slash. */
	readonly executable: string;
	readonly argv: readonly string[];
	/** Absolute path of the checkout; `cwd` is walked below it component by component without links. */
	readonly checkout: string;
	readonly cwd: string;
	readonly env: Readonly<Record<string, string>>;
	readonly timeoutNs: bigint;
	readonly leakTimeoutNs: bigint | null;
	readonly maxOutputBytes: number;
	readonly streams: 'combined' | 'split';
	readonly limits: ResourceLimits;
	/** Null, or absent: without a sandbox. */
	readonly sandbox?: SandboxRequest | null;
};

/** How a command is put into a sandbox, made by runner/sandbox/sandbox.ts. */
export type SandboxRequest = {
	/** bubblewrap and its argument vector, argv[0] included. */
	readonly program: string;
	readonly argv: readonly string[];
	/** The control groups that it joins before it starts. */
	readonly joinFiles: readonly string[];
	readonly filter: Buffer;
	/** Landlock on top: only below these may be written. */
	readonly isLandlocked: boolean;
	readonly writable: readonly string[];
	/** Judges what the first process inside saw, before the command may start; `bubblewrap` is its parent's pid. */
	readonly judge: (observed: {readonly parts: readonly Buffer[]; readonly bubblewrap: number}) => SandboxVerdict;
};

/** What holds a command, as observed; with problems it is not started. */
export type SandboxVerdict = {readonly record: Omit<SandboxRecord, 'leftovers' | 'quiet'> | null; readonly problems: readonly string[]};

/** The bytes of one stream that were kept, raw and unscanned. */
export type CapturedStream = {
	readonly bytes: Buffer;
	readonly seenBytes: number;
	/** End of file was reached and nothing was dropped. */
	readonly isComplete: boolean;
};

/** What really happened to one command: facts from the supervisor, agreed with by the independent witness. Data, never thrown. */
export type CommandOutcome =
	| {
			readonly kind: 'ended';
			readonly status: Status;
			readonly trigger: Trigger | null;
			readonly termination: Termination;
			readonly escaped: number;
			/** Raw wait status of the leader, null when it was not reaped. */
			readonly waitStatus: number | null;
			/** CLOCK_MONOTONIC, nanoseconds. */
			readonly startedNs: bigint;
			readonly endedNs: bigint;
			readonly output: CapturedStream;
			/** Only with `streams: 'split'`. */
			readonly errorOutput: CapturedStream | null;
			readonly trace: readonly TraceLine[];
			readonly resources: Resources | null;
			readonly sandbox: SandboxRecord | null;
			/** A signal to bailiff arrived while the command's own ladder already ran (it keeps its status). */
			readonly interruptedBy: InterruptSignal | null;
	  }
	| {readonly kind: 'start-failed'; readonly stage: StartStage; readonly errno: string}
	| {readonly kind: 'interrupted'; readonly signal: InterruptSignal; readonly termination: Termination}
	| {readonly kind: 'internal'; readonly message: string; readonly termination: Termination | null};

/** The signals that end a run by the same steps (R-END-7). */
export type InterruptSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** A running native supervisor, one per run (R-MECH-1). */
export type Supervisor = {
	/** Runs one command to its end. Never rejects for anything that a command does. */
	readonly run: (request: CommandRequest) => Promise<CommandOutcome>;
	/** Builds a sandbox, lets it be judged and ends it without starting anything: what is wrong with it, or nothing. */
	readonly rehearse: (request: CommandRequest) => Promise<readonly string[]>;
	/** Ends the running command: the first call by the ladder, the second straight by KILL (R-END-7). */
	readonly interrupt: (signal: InterruptSignal) => void;
	/** Ends the supervisor and gives the subreaper role back. */
	readonly close: () => Promise<void>;
};
