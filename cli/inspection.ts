import type {Target} from '../core/ids.ts';
import {type InspectAnswer, inspectRun as inspectEvidence} from '../evidence/inspect.ts';
import type {PullRequestHead} from '../evidence/ports.ts';
import {evidencePlace} from './evidence-place.ts';
import {realPlace} from './real-place.ts';
import {withSourceObjects} from './source-choice.ts';

/** Which run to inspect, and what its source is bound to. */
export type InspectOptions = {
	/** Absolute: `<root>/harness/operations/repository-cache.md`. */
	readonly contractPath: string;
	readonly target: Target;
	readonly runId: string;
	/** Absolute path of a bare repository; default: the mirror of the root, else the source that came with a received run. */
	readonly mirror?: string;
	/** Absolute path of a git bundle or of an export. */
	readonly bundle?: string;
	/** Who asks the provider; without it the head of the pull request is an evidence gap. */
	readonly pullRequest?: PullRequestHead;
};

/**
 * Inspects one run for a reviewer without a checkout: its source is bound to git objects and to the head of the pull request.
 *
 * Total for whatever lies below the root and in the source: an answer with what is bound, each gap and each problem. Refuses only: CACHE_ROOT_INVALID,
 * CORE_ID_ codes, CORE_FILE_UNREADABLE (no directory that holds the named source), CACHE_GIT_MISSING, CACHE_GIT_VERSION. Source: E-READ-5.
 */
export async function inspectRun(options: InspectOptions): Promise<InspectAnswer> {
	const place = evidencePlace(options.contractPath, options.target);
	const {target, runId} = options;
	const mirror = options.mirror === undefined ? null : realPlace(options.mirror);
	const bundle = options.bundle === undefined ? null : realPlace(options.bundle);
	return withSourceObjects({root: place.root, target, runId, mirror, bundle}, async objects =>
		inspectEvidence({...place, runId, objects, pullRequest: options.pullRequest ?? null}),
	);
}
