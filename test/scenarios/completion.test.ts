import {execFileSync} from 'node:child_process';
import test from 'ava';
import {catalogue} from '../../cli/catalogue/index.ts';
import {runCli} from '../helpers/run-cli.ts';

test('the bash script of the built command line offers every command to bash itself', async t => {
	const {stdout, exitCode} = await runCli(['completion', 'bash']);
	t.is(exitCode, 0);
	for (const [words, expected] of [
		[['bailiff', ''], catalogue.map(({path}) => path.split(' ')[0])],
		[
			['bailiff', 'plan', ''],
			['check', 'new'],
		],
		[
			['bailiff', 'validate', '--'],
			['--require-passed', '--run', '--json'],
		],
	] as const) {
		const program = `${stdout}\nCOMP_WORDS=(${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _bailiff; printf '%s\\n' "\${COMPREPLY[@]}"`;
		const offered = execFileSync('bash', ['--norc', '-c', program], {encoding: 'utf8'}).split('\n');
		for (const word of expected) {
			t.true(offered.includes(word ?? ''), `${words.join(' ')}: ${word}`);
		}
	}
});

for (const shell of ['zsh', 'fish']) {
	test(`there is a script for ${shell} that names every command`, async t => {
		const {stdout} = await runCli(['completion', shell]);
		for (const {path} of catalogue) {
			t.true(stdout.includes(path), path);
		}
	});
}

test('completion --json holds the script', async t => {
	const script = (await runCli(['completion', 'fish'])).stdout;
	t.is(`${String((await runCli(['completion', 'fish', '--json'])).json()['script'])}\n`, script);
});
