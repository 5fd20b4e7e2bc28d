import {cpSync, existsSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {runCli} from '../helpers/run-cli.ts';
import {RunGround} from '../helpers/run-ground.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const build = path.resolve(import.meta.dirname, '../..');

test('without its native parts bailiff runs nothing, says how to build them, and doctor says the same', async t => {
	const directory = temporaryDirectory(t);
	for (const folder of ['cli', 'core', 'evidence', 'runner', 'cache', 'publish']) {
		cpSync(path.join(build, folder), path.join(directory, 'build', folder), {recursive: true});
	}

	cpSync(path.join(build, 'native/index.js'), path.join(directory, 'build/native/index.js'));
	symlinkSync(path.resolve('node_modules'), path.join(directory, 'node_modules'));
	writeFileSync(path.join(directory, 'package.json'), '{"type": "module"}');
	const entry = path.join(directory, 'build/cli/main.js');
	const ground = await RunGround.make(t);
	const ran = await runCli(ground.runArguments(ground.plan([{id: 'touch', argv: ['touch', path.join(directory, 'ran')]}])), {entry});
	t.is(ran.exitCode, 3);
	t.regex(ran.stderr, /^bailiff: RUN_NATIVE_MISSING: .*make/);
	t.false(existsSync(path.join(directory, 'ran')));
	const doctor = await runCli(['doctor'], {entry});
	t.is(doctor.exitCode, 1);
	t.regex(doctor.stdout, /^fail {2}native-addon .*\n +run "make native"/m);
	t.is((await runCli(['plan', 'check', path.resolve('test/vectors/plans/good-minimal.json')], {entry})).exitCode, 0);
});
