import {chmodSync, mkdirSync, rmSync, writeFileSync} from 'node:fs';
import {homedir} from 'node:os';
import path from 'node:path';
import {layGround, runCommands} from '../helpers/planned-run.ts';
import {refusalLater} from '../helpers/refusal.ts';
import {sandboxTest as test} from '../helpers/sandbox-ability.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const sandboxed = {sandbox: {mode: 'required'}};

test('a run in the default sandbox is published, names its tool, and a reader finds it valid', async t => {
	const ground = layGround(temporaryDirectory(t));
	const {manifest, answer, output} = await runCommands(
		ground,
		[
			{id: 'write', argv: ['sh', '-c', 'echo kept >$HOME/kept; echo other >$TMPDIR/other; pwd']},
			{id: 'read', argv: ['sh', '-c', 'cat $HOME/kept $TMPDIR/other; git rev-parse HEAD; git status --short']},
		],
		{plan: sandboxed},
	);
	t.is(manifest.result, 'passed', JSON.stringify(manifest.stop));
	t.is(answer.verdict, 'valid-v3', JSON.stringify(answer.problems));
	t.is(manifest.environment.containment, 'pid-namespace');
	t.is(manifest.environment.sandbox.mode, 'required');
	t.regex(manifest.environment.sandbox.tool?.path ?? '', /bwrap$/);
	t.like(manifest.commands[1]?.sandbox, {mode: 'required', network: 'loopback', leftovers: 0, quiet: true});
	t.is(output('output/001.log'), `kept\nother\n${ground.repository.sha}\n`);
});

test('a command without a sandbox beside one with it makes the run mixed, and its containment the weaker', async t => {
	const ground = layGround(temporaryDirectory(t));
	const {manifest, answer} = await runCommands(ground, [
		{id: 'off', argv: ['true']},
		{id: 'on', argv: ['true'], ...sandboxed},
	]);
	t.is(manifest.result, 'passed');
	t.is(answer.verdict, 'valid-v3', JSON.stringify(answer.problems));
	t.is(manifest.environment.sandbox.mode, 'mixed');
	t.is(manifest.environment.containment, 'descent');
	t.deepEqual(
		manifest.commands.map(({sandbox}) => sandbox?.mode ?? null),
		[null, 'required'],
	);
});

test('a leftover is counted in the record of its command', async t => {
	const ground = layGround(temporaryDirectory(t));
	const {manifest, answer} = await runCommands(ground, [{id: 'leaves', argv: ['sh', '-c', 'setsid sleep 60 >/dev/null 2>&1 </dev/null &']}], {plan: sandboxed});
	t.is(manifest.commands[0]?.execution_status, 'descendant_cleanup');
	t.is(manifest.commands[0]?.sandbox?.leftovers, 1);
	t.is(answer.verdict, 'valid-v3', JSON.stringify(answer.problems));
});

test('a program in a hidden home is refused with its mend before anything runs', async t => {
	const home = homedir();
	const directory = path.join(home, `.bailiff-test-${process.pid}`);
	mkdirSync(directory);
	t.teardown(() => rmSync(directory, {recursive: true, force: true}));
	writeFileSync(path.join(directory, 'tool'), '#!/bin/sh\necho tool\n');
	chmodSync(path.join(directory, 'tool'), 0o755);
	const ground = layGround(temporaryDirectory(t));
	const plan = {...sandboxed, path: `${directory}:/usr/bin:/bin`};
	const error = await refusalLater(async () => runCommands(ground, [{id: 'hidden', argv: ['tool']}], {plan}));
	t.is(error?.code, 'RUN_EXECUTABLE_MISSING');
	t.regex(error?.message ?? '', /filesystem\.read/);
	const shown = {path: plan.path, sandbox: {mode: 'required', filesystem: {read: [directory]}}};
	const {manifest, output} = await runCommands(ground, [{id: 'shown', argv: ['tool']}], {plan: shown});
	t.is(manifest.result, 'passed');
	t.is(output('output/000.log'), 'tool\n');
});
