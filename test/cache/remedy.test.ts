import {execFileSync} from 'node:child_process';
import {chmodSync, lstatSync, mkdirSync} from 'node:fs';
import test from 'ava';
import * as fc from 'fast-check';

import {chmodCommand, modeText, shellWord} from '../../cache/remedy.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

test('a shell reads back exactly the word that was quoted', t => {
	const words = ['/plain/path-1.x', 'two words', "it's", '$HOME', '`id`', 'a"b', 'a\nb', '-x', '*', '\\', '!', '~'];
	const said = execFileSync('sh', ['-c', `printf '%s\\0' ${words.map(shellWord).join(' ')}`], {encoding: 'utf8'});
	t.deepEqual(said.split('\0').slice(0, -1), words);
	t.is(shellWord('/plain/path-1.x'), '/plain/path-1.x');
	fc.assert(fc.property(fc.string(), word => /^[A-Za-z0-9_./:@%+=,-]*$/.test(shellWord(word)) || shellWord(word).startsWith("'")));
});

test('modes are written with four digits', t => {
	t.deepEqual([0o100600, 0o42755, 0o7, 0].map(modeText), ['0600', '2755', '0007', '0000']);
});

test('the command that is shown really gives the mode that is wanted', t => {
	for (const mode of [0o777, 0o2700, 0o6711, 0o1755, 0o500]) {
		const place = `${temporaryDirectory(t)}/it's`;
		mkdirSync(place);
		chmodSync(place, mode);
		execFileSync('sh', ['-c', chmodCommand(place, mode, 0o700)]);
		t.is(lstatSync(place).mode & 0o7777, 0o700, modeText(mode));
	}
});
