import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, readdirSync} from 'node:fs';
import test from 'ava';
import {mirrorStatus} from '../../cache/index.ts';
import {isHeld} from '../../cache/staging.ts';
import {eventually} from '../helpers/eventually.ts';
import {mirrorGround} from '../helpers/mirror-ground.ts';
import {cliPath} from '../helpers/run-cli.ts';

for (const [signal, exitCode] of [
	['SIGINT', 130],
	['SIGTERM', 143],
	['SIGHUP', 129],
] as const) {
	test(`${signal} during a bootstrap ends its git, removes its staging, frees the locks and is said`, async t => {
		const ground = await mirrorGround(t);
		const args = ['cache', 'bootstrap', '--root', ground.root, '--profile', ground.profile.directory, '--target', 'acme/widget', '--json'];
		const child = spawn(process.execPath, [cliPath, ...args], {stdio: ['ignore', 'pipe', 'ignore']});
		let answer = '';
		child.stdout.on('data', (chunk: Buffer) => {
			answer += chunk.toString();
		});
		const ended = once(child, 'close');
		await eventually(
			'the staging directory',
			() => existsSync(ground.paths.owner) && readdirSync(ground.paths.owner).some(name => name.startsWith('.staging-')),
		);
		child.kill(signal);
		const [code] = await ended;
		if (code === 0) {
			// It was done before the signal arrived.
			t.is((await mirrorStatus(ground.request)).cache.state, 'usable');
			return;
		}

		t.is(code, exitCode, answer);
		t.like(JSON.parse(answer), {command: 'cache bootstrap', status: 'refused', complete: false});
		t.regex(answer, new RegExp(`CLI_INTERRUPTED.*${signal}`));
		t.deepEqual(readdirSync(ground.paths.owner), []);
		t.false(isHeld(ground.paths.bootstrapLock));
	});
}
