import {spawnSync} from 'node:child_process';
import {chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import test from 'ava';
import {BailiffError} from '../../core/errors.ts';
import {readSensitiveFile} from '../../evidence/sensitive-file.ts';
import {type EvidenceDirectory, withEvidenceDirectory} from '../helpers/evidence-directory.ts';

function put(directory: EvidenceDirectory, text: string | Uint8Array): string {
	const file = directory.path('values');
	writeFileSync(file, text, {mode: 0o600});
	return file;
}

for (const [title, text, values] of [
	['one a line', 'correct-horse\nbattery-staple\n', ['correct-horse', 'battery-staple']],
	['a last line without its end', 'correct-horse', ['correct-horse']],
	['CRLF and empty lines', '\r\ncorrect-horse\r\n\r\n', ['correct-horse']],
	['blanks within and around a value', '  two words  \n', ['  two words  ']],
	['exactly 8 bytes, also of four characters', '12345678\n\u00e4\u00f6\u00fc\u00df\n', ['12345678', '\u00e4\u00f6\u00fc\u00df']],
] as const) {
	test(`readSensitiveFile() reads ${title}`, t => {
		withEvidenceDirectory(directory => {
			t.deepEqual(
				readSensitiveFile(put(directory, text)).map(value => value.toString('utf8')),
				[...values],
			);
		});
	});
}

test('values are bytes: they need not be UTF-8', t => {
	withEvidenceDirectory(directory => {
		const value = Buffer.from('ff00fe01fd02fc03fb', 'hex');
		t.deepEqual(readSensitiveFile(put(directory, value)), [value]);
	});
});

for (const [title, change, pattern] of [
	['a file that is not there', () => {}, /is not there/],
	['a value of 7 bytes', (directory: EvidenceDirectory) => put(directory, 'long-enough\nsecret7\n'), /less than 8 bytes in line 2/],
	['an empty file', (directory: EvidenceDirectory) => put(directory, ''), /holds no value/],
	['a file of line ends', (directory: EvidenceDirectory) => put(directory, '\n\r\n'), /holds no value/],
	['mode 0644', (directory: EvidenceDirectory) => chmodSync(put(directory, 'long-enough'), 0o644), /chmod 600/],
	['mode 0400', (directory: EvidenceDirectory) => chmodSync(put(directory, 'long-enough'), 0o400), /exact mode/],
	['two names', (directory: EvidenceDirectory) => linkSync(put(directory, 'long-enough'), directory.path('twin')), /more than one name/],
	[
		'a link',
		(directory: EvidenceDirectory) => {
			writeFileSync(directory.path('real'), 'long-enough', {mode: 0o600});
			symlinkSync(directory.path('real'), directory.path('values'));
		},
		/symbolic link/,
	],
	['a directory', (directory: EvidenceDirectory) => mkdirSync(directory.path('values')), /not of the expected kind/],
	[
		'a pipe, without waiting for its writer',
		(directory: EvidenceDirectory) => spawnSync('mkfifo', ['-m', '600', directory.path('values')]),
		/not of the expected kind/,
	],
	['more than 1 MiB', (directory: EvidenceDirectory) => put(directory, 'x'.repeat(1_048_577)), /larger than allowed/],
] as const) {
	test(`readSensitiveFile() refuses ${title} and quotes nothing of it`, t => {
		withEvidenceDirectory(directory => {
			change(directory);
			const error = t.throws(() => readSensitiveFile(directory.path('values')), {instanceOf: BailiffError, code: 'RUN_SENSITIVE_FILE', message: pattern});
			t.notRegex(JSON.stringify(error), /long-enough|secret7/);
		});
	});
}
