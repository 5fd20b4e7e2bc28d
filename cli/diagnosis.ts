import {probeGit, probeRoot} from '../cache/cache-probes.ts';
import type {Probe} from '../runner/probe.ts';
import {probeRunner} from '../runner/runner-probes.ts';
import {probeSandbox} from '../runner/sandbox/probes.ts';

/** What `doctor` says of a machine, and of a root where one is named. */
export type Diagnosis = {
	/** A run could work: nothing failed. */
	readonly isFit: boolean;
	readonly probes: readonly Probe[];
};

/**
 * Tries everything that a run needs, and names a mend for whatever is wanting. Changes nothing that outlasts the call.
 *
 * `contractPath`: absolute, or null to leave the root out. Source: design.md, "doctor".
 */
export async function diagnose(contractPath: string | null): Promise<Diagnosis> {
	const probes = [...(await probeRunner()), ...(await probeSandbox()), await probeGit(), ...(contractPath === null ? [] : probeRoot(contractPath))];
	return {isFit: probes.every(({state}) => state !== 'fail'), probes};
}
