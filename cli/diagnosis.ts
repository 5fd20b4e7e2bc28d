import {probeGit, probeRoot} from '../cache/cache-probes.ts';
import {openGit} from '../cache/git-command.ts';
import {probeProfile} from '../cache/profile-probes.ts';
import type {Probe} from '../runner/probe.ts';
import {probeRunner} from '../runner/runner-probes.ts';
import {probeSandbox} from '../runner/sandbox/probes.ts';
import {openAuthority} from './authority.ts';

/** What `doctor` says of a machine, and of a root and a role where they are named. */
export type Diagnosis = {
	/** A run could work, and the role is known: nothing failed. */
	readonly isFit: boolean;
	readonly probes: readonly Probe[];
};

/**
 * Tries everything that a run needs, and names a mend for whatever is wanting. Changes nothing that outlasts the call.
 *
 * `contractPath` and `profile`: absolute, or null to leave root or profile out. Source: design.md, "doctor".
 */
export async function diagnose(contractPath: string | null, profile: string | null = null): Promise<Diagnosis> {
	const git = await probeGit();
	const machine = [...(await probeRunner()), ...(await probeSandbox()), git];
	const root = contractPath === null ? [] : probeRoot(contractPath);
	// Without git no authority can be asked, and the probe of git says so.
	const role = profile === null || git.state === 'fail' ? [] : await probeRole(profile);
	const probes = [...machine, ...root, ...role];
	return {isFit: probes.every(({state}) => state !== 'fail'), probes};
}

async function probeRole(profile: string): Promise<Probe[]> {
	const git = await openGit();
	return probeProfile(profile, found => openAuthority(found, git));
}
