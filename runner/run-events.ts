import type {Status} from '../evidence/index.ts';

/** What happens during a run, for live progress (E-VIEW-2). Times are milliseconds of the run's monotonic clock. */
export type RunEvent =
	| {readonly type: 'run-started'; readonly runId: string; readonly commands: number}
	| {readonly type: 'command-started'; readonly index: number; readonly id: string; readonly timeoutSeconds: number; readonly atMs: number}
	| {
			readonly type: 'command-ended';
			readonly index: number;
			readonly id: string;
			readonly status: Status;
			readonly isPassed: boolean;
			readonly durationMs: number;
	  }
	| {readonly type: 'command-not-executed'; readonly index: number; readonly id: string; readonly reason: string}
	| {readonly type: 'warning'; readonly message: string}
	| {readonly type: 'published'; readonly runId: string; readonly result: 'passed' | 'failed'};
