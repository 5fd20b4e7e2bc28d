import {chmodSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import type {Authority} from '../../cache/authority.ts';
import {probeProfile} from '../../cache/profile-probes.ts';
import {openLocalAuthority} from '../../publish/local/index.ts';
import {localGround, newProfile} from '../helpers/local-authority.ts';

const states = (probes: ReadonlyArray<{readonly id: string; readonly state: string}>): string[] => probes.map(({id, state}) => `${id} ${state}`);

test('a role at a local authority is sound in two lines, and a stranger there is named', async t => {
	const {profile, git, directory} = await localGround(t);
	const open = (): Authority => openLocalAuthority(profile, git);
	t.deepEqual(states(await probeProfile(profile.directory, open)), ['profile ok', 'authority ok']);
	writeFileSync(path.join(directory, 'authority.json'), '{"schema": "bailiff.local-authority/v1", "accounts": []}');
	const [, authority] = await probeProfile(profile.directory, open);
	t.is(authority?.state, 'fail');
	t.regex(authority?.seen ?? '', /CACHE_AUTHORITY_UNAUTHENTICATED/);
});

test('a forge’s token is looked at and never shown; a profile that cannot be read is one line', async t => {
	const {base, authority} = await localGround(t);
	const {directory} = newProfile(path.join(base, 'forge'), {kind: 'gitea', url: 'https://git.example.test/'});
	const open = (): Authority => authority;
	const probes = await probeProfile(directory, open);
	t.deepEqual(states(probes), ['profile ok', 'token ok', 'authority ok']);
	t.false(JSON.stringify(probes).includes('0123456789abcdef'));
	writeFileSync(path.join(directory, '.env'), 'TOKEN=0123456789abcdef\n');
	const spoiled = await probeProfile(directory, open);
	t.deepEqual(states(spoiled), ['profile ok', 'token fail', 'authority ok']);
	t.false(JSON.stringify(spoiled).includes('0123456789abcdef'));
	chmodSync(directory, 0o755);
	t.deepEqual(states(await probeProfile(directory, open)), ['profile fail']);
});
