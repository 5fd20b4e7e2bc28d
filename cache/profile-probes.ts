import {askpassPath} from '../native/index.ts';
import {type Probe, sound} from '../runner/probe.ts';
import type {Authority} from './authority.ts';
import {refusedProbe} from './cache-probes.ts';
import {confirmAccount, type Profile, readProfile, readProfileToken, tokenKeyOf} from './profile.ts';

/**
 * Looks at a profile as every command does: its files, for a forge the token's form and the program that hands it on, and whom the authority takes us for.
 *
 * The token is never shown. Source: design.md, "doctor"; C-CRED-1, C-BOOT-1.
 */
export async function probeProfile(directory: string, openAuthority: (profile: Profile) => Authority): Promise<Probe[]> {
	let profile: Profile;
	try {
		profile = readProfile(directory);
	} catch (error) {
		return [refusedProbe('profile', error, 'bailiff profile new writes a profile; the message names what a person may change')];
	}

	const {kind, url} = profile.provider;
	const seen = `${profile.role} as ${profile.login} (${profile.accountId}) at ${kind} ${url}`;
	return [sound('profile', seen), ...(tokenKeyOf(kind) === null ? [] : [probeToken(profile)]), await probeAuthority(profile, openAuthority)];
}

function probeToken(profile: Profile): Probe {
	try {
		const {length} = readProfileToken(profile);
		return sound('token', `${length} characters, handed to git by ${askpassPath()}`);
	} catch (error) {
		return refusedProbe('token', error, 'write .env of the profile as the message says, and build the native parts');
	}
}

async function probeAuthority(profile: Profile, openAuthority: (profile: Profile) => Authority): Promise<Probe> {
	try {
		const {id, login, authenticated} = await confirmAccount(profile, openAuthority(profile));
		return sound('authority', `takes us for ${login} (${id}) by ${authenticated}`);
	} catch (error) {
		return refusedProbe('authority', error, 'docs/authority.md says what an authority needs');
	}
}
