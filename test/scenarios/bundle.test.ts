import {execFileSync} from 'node:child_process';
import {rmSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {version} from '../../core/version.ts';
import {runCli} from '../helpers/run-cli.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

test('the bundled start behaves as the command line that tsc wrote, also through a link, with broken compiled code and with none', async t => {
	const directory = temporaryDirectory(t);
	execFileSync(process.execPath, [path.resolve('.ci', 'bundle.js'), directory]);
	const entry = path.join(directory, 'link');
	symlinkSync('bailiff.cjs', entry);
	t.true((statSync(entry).mode & 0o111) === 0o111);
	const compiled = path.join(directory, 'command-line.compiled');
	for (const change of [() => {}, () => writeFileSync(compiled, 'garbage'), () => rmSync(compiled)]) {
		change();
		for (const argv of [
			['--version'],
			['plan', 'check', path.resolve('test', 'vectors', 'plans', 'bad-bom.json'), '--json'],
			['completion', 'bash'],
			['init', '--root', 'relative'],
			['paln'],
		]) {
			const {exitCode, stdout, stderr} = await runCli(argv);
			t.like(await runCli(argv, {entry}), {exitCode, stdout, stderr}, argv.join(' '));
		}
	}

	t.is((await runCli(['--version'], {entry})).stdout, `${version}\n`);
});
