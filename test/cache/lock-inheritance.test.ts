import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {FileLock, syncMirror} from '../../cache/index.ts';
import {eventually} from '../helpers/eventually.ts';
import {mirroredGround} from '../helpers/mirror-ground.ts';
import {refusalLater} from '../helpers/refusal.ts';

const modules = (name: string): string => JSON.stringify(new URL(`../../${name}`, import.meta.url).href);

test('a killed bailiff leaves the lock to the git that still works, and no longer (C-HARD-5)', async t => {
	const ground = await mirroredGround(t);
	const directory = path.join(ground.base, 'bin');
	const pidFile = path.join(ground.base, 'git.pid');
	mkdirSync(directory);
	writeFileSync(
		path.join(directory, 'git'),
		`#!/bin/sh\ncase " $* " in *" fetch "*) echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; exec sleep 60;; esac\nexec /usr/bin/git "$@"\n`,
	);
	chmodSync(path.join(directory, 'git'), 0o755);
	const script = `
		import {openGit, readProfile, syncMirror} from ${modules('cache/index.js')};
		import {openLocalAuthority} from ${modules('publish/local/index.js')};
		const git = await openGit({searchPath: ${JSON.stringify(directory)}});
		const profile = readProfile(${JSON.stringify(ground.profile.directory)});
		const openAuthority = async () => ({profile, authority: openLocalAuthority(profile, git)});
		await syncMirror({contractPath: ${JSON.stringify(ground.request.contractPath)}, name: ${JSON.stringify(ground.request.name)}, git, openAuthority});`;
	const child = spawn(process.execPath, ['--input-type=module', '-e', script], {stdio: 'ignore'});
	const ended = once(child, 'exit');
	await eventually('the fetch', () => existsSync(pidFile));
	child.kill('SIGKILL');
	await ended;
	const fetchPid = Number(readFileSync(pidFile, 'utf8'));
	const refusal = await refusalLater(() => FileLock.acquire(ground.paths.repositoryLock));
	t.is(refusal?.code, 'CACHE_LOCK_BUSY');
	process.kill(fetchPid, 'SIGKILL');
	const lock = await FileLock.acquire(ground.paths.repositoryLock, {timeoutMs: 10_000});
	lock.close();
	t.is((await syncMirror(ground.request)).status, 'ok', "the pending record stands in nobody's way");
});
