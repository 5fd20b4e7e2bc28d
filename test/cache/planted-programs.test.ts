import {chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {maintainMirror, mirrorStatus, restoreConfig, syncMirror, verifyMirror} from '../../cache/index.ts';
import {type MirrorGround, mirroredGround} from '../helpers/mirror-ground.ts';

/** Every way in which a repository asks git to start a program; PROGRAM stands for its path. */
const settings: Readonly<Record<string, string>> = {
	'core.hooksPath': '[core]\n\thooksPath = DIRECTORY\n',
	'core.fsmonitor': '[core]\n\tfsmonitor = PROGRAM\n',
	'core.sshCommand': '[core]\n\tsshCommand = PROGRAM\n',
	'core.gitProxy': '[core]\n\tgitProxy = PROGRAM\n',
	'core.pager': '[core]\n\tpager = PROGRAM\n',
	'core.editor': '[core]\n\teditor = PROGRAM\n',
	'core.askPass': '[core]\n\taskPass = PROGRAM\n',
	'core.alternateRefsCommand': '[core]\n\talternateRefsCommand = PROGRAM\n',
	'credential.helper': '[credential]\n\thelper = PROGRAM\n',
	'filter.x': '[filter "x"]\n\tclean = PROGRAM\n\tsmudge = PROGRAM\n\tprocess = PROGRAM\n\trequired = true\n',
	'diff.external': '[diff]\n\texternal = PROGRAM\n',
	'diff.x.textconv': '[diff "x"]\n\ttextconv = PROGRAM\n',
	'merge.x.driver': '[merge "x"]\n\tdriver = PROGRAM\n',
	'alias.fetch': '[alias]\n\tfetch = !PROGRAM\n\trev-list = !PROGRAM\n',
	'include.path': '[include]\n\tpath = DIRECTORY/more\n',
	includeIf: '[includeIf "gitdir:/"]\n\tpath = DIRECTORY/more\n',
	'url.insteadOf': '[url "ext::PROGRAM"]\n\tinsteadOf = file://\n',
	'remote.uploadpack': '[remote "origin"]\n\tuploadpack = PROGRAM\n\treceivepack = PROGRAM\n',
	'remote.vcs': '[remote "origin"]\n\tvcs = x\n',
	'remote.pushurl': '[remote "origin"]\n\tpushurl = ext::PROGRAM\n',
	'hook.command': '[hook "x"]\n\tcommand = PROGRAM\n\tevent = reference-transaction\n',
	'uploadpack.packObjectsHook': '[uploadpack]\n\tpackObjectsHook = PROGRAM\n',
	'extensions.partialClone': '[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\tpromisor = true\n',
	'extensions.worktreeConfig': '[extensions]\n\tworktreeConfig = true\n',
	'protocol.ext.allow': '[protocol "ext"]\n\tallow = always\n',
	'gpg.program': '[gpg]\n\tprogram = PROGRAM\n',
};
const hooks = ['reference-transaction', 'post-checkout', 'post-index-change', 'pre-push', 'pre-auto-gc', 'post-rewrite', 'fsmonitor-watchman', 'proc-receive'];

type Trap = {readonly directory: string; readonly program: string; readonly sprung: () => boolean};

function layTrap(ground: MirrorGround): Trap {
	const directory = path.join(ground.base, 'trap');
	const canary = path.join(ground.base, 'canary');
	mkdirSync(directory);
	const program = path.join(directory, 'program');
	for (const name of ['program', ...hooks]) {
		writeFileSync(path.join(directory, name), `#!/bin/sh\ntouch ${canary}\n`, {mode: 0o755});
	}

	writeFileSync(path.join(directory, 'more'), `[core]\n\tfsmonitor = ${program}\n\thooksPath = ${directory}\n`);
	return {directory, program, sprung: () => existsSync(canary)};
}

async function useEverything(ground: MirrorGround): Promise<readonly string[]> {
	const {request} = ground;
	const reports = [
		await syncMirror(request),
		await verifyMirror(request, {isFull: true}),
		await maintainMirror(request),
		await restoreConfig(request, {expectSha256: '0'.repeat(64)}),
		await mirrorStatus(request),
	];
	return reports.map(({status, cache}) => `${status} ${cache.state}`);
}

test('a setting by which git would start a program is refused by name, and nothing is ever started', async t => {
	const ground = await mirroredGround(t);
	const trap = layTrap(ground);
	const config = path.join(ground.paths.mirror, 'config');
	const own = readFileSync(config, 'utf8');
	for (const [name, text] of Object.entries(settings)) {
		writeFileSync(config, own + text.replaceAll('PROGRAM', trap.program).replaceAll('DIRECTORY', trap.directory));
		const report = await syncMirror(ground.request);
		t.is(report.status, 'refused', name);
		t.true(['CACHE_FOREIGN_CONFIG', 'CACHE_ORIGIN_MISMATCH'].includes(report.error?.code ?? ''), `${name}: ${JSON.stringify(report.error)}`);
		t.is((await verifyMirror(ground.request, {isFull: true})).status, 'no', name);
		t.is((await maintainMirror(ground.request)).status, 'refused', name);
		t.is((await restoreConfig(ground.request, {expectSha256: '0'.repeat(64)})).status, 'refused', name);
		t.is((await mirrorStatus(ground.request)).cache.state, 'unusable', name);
		t.false(trap.sprung(), `${name}: the program ran`);
	}

	writeFileSync(config, own);
	t.is((await syncMirror(ground.request)).status, 'ok');
});

test('planted hooks are refused as a whole, and never run', async t => {
	const ground = await mirroredGround(t);
	const trap = layTrap(ground);
	const directory = path.join(ground.paths.mirror, 'hooks');
	mkdirSync(directory, {mode: 0o700});
	for (const name of hooks) {
		writeFileSync(path.join(directory, name), readFileSync(trap.program), {mode: 0o700});
	}

	ground.commit('second');
	t.deepEqual(await useEverything(ground), ['refused unusable', 'no unusable', 'refused unusable', 'refused absent', 'ok unusable']);
	t.false(trap.sprung());
	rmSync(directory, {recursive: true});
	t.is((await syncMirror(ground.request)).status, 'ok');
});

test("what is planted in an issue's checkout never runs for a command on the mirror (C-LOCK-5)", async t => {
	const ground = await mirroredGround(t);
	const trap = layTrap(ground);
	const checkout = path.join(ground.paths.worktrees, 'issue-7/checkout');
	mkdirSync(path.dirname(checkout), {recursive: true, mode: 0o700});
	ground.source.git('--git-dir', ground.paths.mirror, 'worktree', 'add', '-q', '--detach', '--lock', checkout, 'main');
	const evil = path.join(ground.base, 'evil');
	ground.source.git('init', '-q', evil);
	writeFileSync(path.join(evil, '.git/config'), `[core]\n\tfsmonitor = ${trap.program}\n\thooksPath = ${trap.directory}\n`);
	writeFileSync(path.join(checkout, '.git'), `gitdir: ${path.join(evil, '.git')}\n`);
	chmodSync(path.join(checkout, '.git'), 0o644);
	ground.commit('second');
	const report = await syncMirror(ground.request);
	t.is(report.status, 'ok', JSON.stringify(report.error));
	t.is((await verifyMirror(ground.request, {isFull: true})).status, 'ok');
	t.false(trap.sprung());
});
