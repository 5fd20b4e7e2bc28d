import type {Authority, Git, Profile} from '../cache/index.ts';
import {BailiffError} from '../core/errors.ts';
import {openLocalAuthority} from '../publish/local/index.ts';

/**
 * The authority of a profile: the one place where a kind becomes an implementation.
 *
 * Refuses: CACHE_PROFILE_INVALID for a kind that this version does not speak to. Source: authority.md section 3.
 */
export function openAuthority(profile: Profile, git: Git): Authority {
	const {kind} = profile.provider;
	if (kind === 'local') {
		return openLocalAuthority(profile, git);
	}

	throw new BailiffError('CACHE_PROFILE_INVALID', `this version of bailiff does not speak to ${kind} yet, only to a local authority`, {
		details: {path: profile.directory, kind},
	});
}
