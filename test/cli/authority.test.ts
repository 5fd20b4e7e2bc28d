import path from 'node:path';
import test from 'ava';
import {openGit} from '../../cache/index.ts';
import {openAuthority} from '../../cli/authority.ts';
import {localGround, newProfile} from '../helpers/local-authority.ts';
import {refusalOf} from '../helpers/refusal.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

test('a profile of kind local opens the authority that its URL names', async t => {
	const {profile, git, source, target} = await localGround(t);
	const authority = openAuthority(profile, git);
	t.is(authority.kind, 'local');
	t.is((await authority.branch(target, 'main')).sha, source.sha);
});

test('a kind that this version does not speak to is refused by name, not taken for another', async t => {
	const profile = newProfile(path.join(temporaryDirectory(t), 'profile'), {kind: 'gitea', url: 'https://git.example.test/'});
	const git = await openGit();
	const refusal = refusalOf(() => openAuthority(profile, git));
	t.is(refusal?.code, 'CACHE_PROFILE_INVALID');
	t.regex(refusal?.message ?? '', /gitea/);
});
