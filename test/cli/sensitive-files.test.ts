import {execFileSync} from 'node:child_process';
import {chmodSync, linkSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {readSensitiveFiles} from '../../cli/sensitive-files.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

for (const [title, text, expected] of [
	['one value', 'correct horse', ['correct horse']],
	['values line by line', 'correct horse\nbattery staple\n', ['correct horse', 'battery staple']],
	['lines of another system', 'correct horse\r\nbattery staple\r\n', ['correct horse', 'battery staple']],
	['empty lines', '\n\ncorrect horse\n\n', ['correct horse']],
	['blanks that belong to a value', '  12345678 \n', ['  12345678 ']],
	['nothing', '', []],
] as const) {
	test(`a sensitive file of ${title} is read`, t => {
		const file = path.join(temporaryDirectory(t), 'sensitive');
		writeFileSync(file, text, {mode: 0o600});
		t.deepEqual(readSensitiveFiles([file]).map(String), expected);
	});
}

for (const [title, prepare, message] of [
	['that others may read', file => chmodSync(file, 0o640), /mode.*\(0600\): chmod 600/],
	['with a second name', file => linkSync(file, `${file}2`), /more than one name/],
	[
		'behind a link',
		file => {
			execFileSync('mv', [file, `${file}2`]);
			symlinkSync('sensitive2', file);
		},
		/symbolic link/,
	],
	['that is a FIFO', file => execFileSync('sh', ['-c', 'rm "$0" && mkfifo -m 600 "$0"', file]), /not of the expected kind/],
	['that is not there', file => execFileSync('rm', [file]), /is not there/],
	['with a short value', file => writeFileSync(file, 'long enough\nsecret!\n'), /less than 8 bytes in line 2/],
] as const satisfies ReadonlyArray<readonly [string, (file: string) => unknown, RegExp]>) {
	test(`a sensitive file ${title} is refused, and no value shows`, t => {
		const file = path.join(temporaryDirectory(t), 'sensitive');
		writeFileSync(file, 'long enough\n', {mode: 0o600});
		prepare(file);
		const error = t.throws(() => readSensitiveFiles([file]), {code: 'RUN_SENSITIVE_FILE', message});
		t.false(JSON.stringify([error?.message, error]).includes('secret!'));
	});
}
