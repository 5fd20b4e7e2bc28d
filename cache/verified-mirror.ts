import {BailiffError} from '../core/errors.ts';
import {type AuthorityState, requireSameRepository} from './authority-state.ts';
import type {Git} from './git-command.ts';
import type {RepositoryPaths} from './layout.ts';
import {asSound, readMirrorState, requireMirrorPlace, type SoundMirror} from './mirror-check.ts';
import {commandLine} from './mirror-problem.ts';
import {problemError} from './report.ts';

/** Whose mirror, and what the authority said in this very command. */
export type MirrorUse = {readonly git: Git; readonly paths: RepositoryPaths; readonly state: AuthorityState};

/**
 * The mirror, sound and at exactly the state that its authority has now; every command that uses a mirror begins here. Reads only.
 *
 * Refuses: CACHE_ABSENT, CACHE_DEFAULT_BRANCH_MISMATCH with the command that syncs, and every code of a mirror that is not sound. Source: C-SYNC-5.
 */
export async function requireVerifiedMirror({git, paths, state}: MirrorUse): Promise<SoundMirror> {
	requireMirrorPlace(paths);
	const found = await readMirrorState({git, paths, authority: state.authority, refs: 'exact'});
	const [problem] = found.problems;
	if (problem !== undefined) {
		throw problemError(problem, found.problems.length - 1);
	}

	const mirror = asSound(found);
	requireSameRepository(mirror.record, state);
	const branch = await state.authority.branch(state.name, state.defaultBranch);
	if (mirror.record.default_branch !== state.defaultBranch || mirror.record.pinned_sha !== branch.sha) {
		const {owner, repository} = state.name;
		const sync = commandLine(['bailiff', 'cache', 'sync', '--root', paths.root, '--profile', state.profile.directory, '--target', `${owner}/${repository}`]);
		throw new BailiffError(
			'CACHE_DEFAULT_BRANCH_MISMATCH',
			`${branch.name} is at ${branch.sha} at the authority, the mirror was verified with ${mirror.record.default_branch} at ${mirror.record.pinned_sha}: run "${sync}"`,
			{details: {branch: branch.name, provider_sha: branch.sha, verified_sha: mirror.record.pinned_sha, remedy: sync}},
		);
	}

	return mirror;
}
