import {mkdirSync, readFileSync, truncateSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {runCli} from '../helpers/run-cli.ts';
import {RunGround} from '../helpers/run-ground.ts';

const injected = 'printf "::error::injected\\n##[error]injected\\n::add-mask::x\\n"; exit 1';

test('in a job of Actions a run leaves a summary and annotations, and no output can speak to the runner', async t => {
	const ground = await RunGround.make(t);
	const summary = path.join(ground.directory, 'summary.md');
	writeFileSync(summary, 'before\n');
	const env = {GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary};
	const {exitCode, stderr, stdout} = await runCli(ground.runArguments(ground.plan([{id: 'unit', argv: ['sh', '-c', injected]}]), '--run-id', 'r1'), {env});
	t.is(exitCode, 1);
	t.regex(readFileSync(summary, 'utf8'), /^before\n# failed: verification of `acme\/widget#7`\n/);
	const lines = `${stderr}\n${stdout}`.split('\n');
	const commands = lines.filter(line => line.startsWith('::') || line.includes('##['));
	t.is(commands.filter(line => line.startsWith('::error title=unit::ended with exit code 1')).length, 1);
	const stop = lines.findIndex(line => /^::stop-commands::[\da-f]{32}$/.test(line));
	const token = lines[stop]?.slice('::stop-commands::'.length) ?? '';
	const resume = lines.indexOf(`::${token}::`);
	for (const [index, line] of lines.entries()) {
		if (/injected|add-mask/.test(line) && !line.startsWith('::error title=unit::')) {
			t.true(stop < index && index < resume, line);
		}
	}
});

test('with --json stdout holds one object in a job, too; a passed run has no annotation', async t => {
	const ground = await RunGround.make(t);
	const summary = path.join(ground.directory, 'summary.md');
	const env = {GITEA_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary};
	const {json, stderr} = await runCli(ground.runArguments(ground.plan([{id: 'unit', argv: ['true']}]), '--json'), {env});
	t.is(json()['result'], 'passed');
	t.false(stderr.includes('::'));
	t.regex(readFileSync(summary, 'utf8'), /^# passed/);
});

test('a summary that is full, missing or no file changes nothing about the run', async t => {
	const ground = await RunGround.make(t);
	const full = path.join(ground.directory, 'full.md');
	writeFileSync(full, '');
	truncateSync(full, 899_999);
	const directory = path.join(ground.directory, 'directory');
	mkdirSync(directory);
	for (const [file, said] of [
		[full, /the job summary is full/],
		[directory, /could not be written \(EISDIR\)/],
		[path.join(ground.directory, 'none', 'summary.md'), /could not be written \(ENOENT\)/],
	] as const) {
		const {exitCode, stderr} = await runCli(ground.runArguments(ground.plan([{id: 'unit', argv: ['true']}])), {
			env: {GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: file},
		});
		t.is(exitCode, 0, stderr);
		t.regex(stderr, said);
	}
});

test('outside of a job nothing of it is done', async t => {
	const ground = await RunGround.make(t);
	const summary = path.join(ground.directory, 'summary.md');
	const {stderr} = await runCli(ground.runArguments(ground.plan([{id: 'unit', argv: ['sh', '-c', injected]}])), {
		env: {CI: 'true', GITHUB_STEP_SUMMARY: summary},
	});
	t.false(stderr.includes('::stop-commands::'));
	t.throws(() => readFileSync(summary));
});
