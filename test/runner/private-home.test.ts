import {chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'ava';
import {createPrivateHome} from '../../runner/private-home.ts';

test('home and temporary directory are new, empty and private, and are gone after removal', t => {
	const home = createPrivateHome();
	for (const directory of [home.home, home.tmp]) {
		t.is(statSync(directory).mode & 0o7777, 0o700);
		t.deepEqual(readdirSync(directory), []);
	}

	t.not(createdBeside(home.home), undefined);
	t.true(home.remove());
	t.false(existsSync(path.dirname(home.home)));
});

test('what a command made unreadable is removed too, and links are not followed', t => {
	const home = createPrivateHome();
	const outside = createPrivateHome();
	writeFileSync(path.join(outside.home, 'kept'), 'kept');
	mkdirSync(path.join(home.home, 'closed/inner'), {recursive: true});
	writeFileSync(path.join(home.home, 'closed/inner/file'), 'x');
	symlinkSync(outside.home, path.join(home.home, 'link'));
	chmodSync(path.join(home.home, 'closed/inner'), 0);
	chmodSync(path.join(home.home, 'closed'), 0);
	t.true(home.remove());
	t.false(existsSync(home.home));
	t.true(existsSync(path.join(outside.home, 'kept')));
	t.true(outside.remove());
});

function createdBeside(directory: string): string | undefined {
	return readdirSync(os.tmpdir()).find(name => directory.startsWith(path.join(os.tmpdir(), name)));
}
