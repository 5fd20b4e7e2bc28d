import test from 'ava';
import {readAuthorityState, requireVerifiedMirror, syncMirror} from '../../cache/index.ts';
import {type MirrorGround, mirroredGround, mirrorGround} from '../helpers/mirror-ground.ts';
import {refusalLater} from '../helpers/refusal.ts';

async function use(ground: MirrorGround) {
	const {profile, authority, git, paths, request} = ground;
	const state = await readAuthorityState({profile, authority}, request.name);
	return requireVerifiedMirror({git, paths, state});
}

test('a mirror is used only at exactly the state that its authority has now', async t => {
	const ground = await mirroredGround(t);
	t.is((await use(ground)).record.pinned_sha, ground.source.sha);
	const sha = ground.commit('second');
	const refusal = await refusalLater(() => use(ground));
	t.is(refusal?.code, 'CACHE_DEFAULT_BRANCH_MISMATCH');
	t.regex(refusal?.message ?? '', /bailiff cache sync --root/);
	t.is((await syncMirror(ground.request)).status, 'ok');
	t.is((await use(ground)).record.pinned_sha, sha);
});

test('a mirror that is absent, or not sound, is not used', async t => {
	t.is((await refusalLater(async () => use(await mirrorGround(t))))?.code, 'CACHE_ABSENT');
	const ground = await mirroredGround(t);
	await ground.git.run({command: ['update-ref', 'refs/heads/mine', ground.source.sha], gitDir: ground.paths.mirror});
	t.is((await refusalLater(() => use(ground)))?.code, 'CACHE_FOREIGN_REF');
});
