import {execFileSync} from 'node:child_process';
import {mkdirSync, symlinkSync, truncateSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {projectFiles} from '../../../cli/first-plan/project-files.ts';
import {temporaryDirectory} from '../../helpers/temporary-directory.ts';

test('only regular files of at most 1 MiB count; a link, a FIFO, a directory or a giant is as absent as nothing', t => {
	const checkout = temporaryDirectory(t);
	writeFileSync(path.join(checkout, 'a'), 'text');
	symlinkSync('a', path.join(checkout, 'link'));
	execFileSync('mkfifo', [path.join(checkout, 'fifo')]);
	mkdirSync(path.join(checkout, 'directory'));
	writeFileSync(path.join(checkout, 'giant'), '');
	truncateSync(path.join(checkout, 'giant'), 2 ** 31);
	const files = projectFiles(checkout);
	t.is(files.read('a'), 'text');
	for (const name of ['link', 'fifo', 'directory', 'giant', 'none']) {
		t.is(files.read(name), null, name);
	}
});
