import type {ListedRun} from './list.ts';

/** What a run must be to be listed; what is left out is not asked. */
export type RunFilter = {
	readonly result?: 'passed' | 'failed';
	/** Full commit id. */
	readonly commit?: string;
	/** Milliseconds since the epoch, UTC: started then or later. */
	readonly sinceMs?: number;
};

/** The runs that a filter lets through, in their order; a run of which something asked for is not known is none of them. Pure. Source: E-VIEW-1. */
export function filterRuns(runs: readonly ListedRun[], {result, commit, sinceMs}: RunFilter): ListedRun[] {
	return runs.filter(
		run =>
			(result === undefined || run.result === result) &&
			(commit === undefined || run.source_sha === commit) &&
			(sinceMs === undefined || (run.started_at !== null && Date.parse(run.started_at) >= sinceMs)),
	);
}
