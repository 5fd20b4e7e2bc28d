import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'ava';
import {runCli} from '../helpers/run-cli.ts';
import {RunGround} from '../helpers/run-ground.ts';

const canary = 'canary-5f1b2c77d0';

test('evidence holds no inherited environment value, no name of host or user, and no absolute path of checkout, root or home (E-V3-6)', async t => {
	const ground = await RunGround.make(t);
	const plan = ground.plan([
		{id: 'quiet', argv: ['true']},
		{id: 'environment', argv: ['env']},
		{id: 'fails', argv: ['false']},
	]);
	const home = path.join(ground.directory, canary);
	const env = {SOME_TOKEN: canary, HOME: home, USER: canary, LOGNAME: canary, HOSTNAME: canary, NODE_OPTIONS: '', npm_config_user_agent: canary};
	await runCli(ground.runArguments(plan, '--run-id', 'r1'), {env});
	const directory = ground.runDirectory('r1');
	const files = readdirSync(directory, {recursive: true, withFileTypes: true}).filter(entry => entry.isFile());
	t.true(files.length >= 8);
	const hidden = [canary, ground.repository.path, ground.root, ground.directory, os.homedir()].filter(name => name.length > 2);
	for (const entry of files) {
		const text = readFileSync(path.join(entry.parentPath, entry.name), 'latin1');
		t.deepEqual(
			hidden.filter(name => text.includes(name)),
			[],
			entry.name,
		);
	}

	const manifest = readFileSync(path.join(directory, 'manifest.json'), 'utf8');
	t.false(manifest.includes(`"${os.hostname()}"`));
	const user = userName();
	// The manifest names its producer, bailiff.
	t.true(user === null || user === 'bailiff' || !manifest.includes(`"${user}"`));
});

test('a command runs once: neither its failure nor the death of bailiff starts it again (R-END-8)', async t => {
	const ground = await RunGround.make(t);
	const counter = path.join(ground.directory, 'counter');
	writeFileSync(counter, '');
	const count = (word: string): number =>
		readFileSync(counter, 'utf8')
			.split('\n')
			.filter(line => line === word).length;
	const failing = ground.plan([{id: 'fails', argv: ['sh', '-c', `echo failed >>${counter}; exit 1`]}]);
	t.is((await ground.run(failing, '--run-id', 'r1')).exitCode, 1);
	t.is(count('failed'), 1);

	const killing = ground.plan([{id: 'kills', argv: ['sh', '-c', `echo killed >>${counter}; kill -9 $(ps -o ppid= -p $PPID); sleep 5`]}]);
	t.is((await ground.run(killing, '--run-id', 'r2')).signal, 'SIGKILL');
	t.is((await ground.run(ground.plan([{id: 'next', argv: ['true']}]), '--run-id', 'r3')).exitCode, 0);
	t.is(count('killed'), 1);
	t.is((await ground.run(killing, '--run-id', 'r2')).exitCode, 3);
	t.is(count('killed'), 1);
});

/** Null for a user that the system does not know by name. */
function userName(): string | null {
	try {
		return os.userInfo().username;
	} catch {
		return null;
	}
}
