import {execFileSync} from 'node:child_process';
import {chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'ava';
import {systemClock} from '../../core/clock.ts';
import {loadNative} from '../../native/index.ts';
import {createPrivateHome} from '../../runner/private-home.ts';
import {refusalOf} from '../helpers/refusal.ts';

test('home and temporary directory are new, empty and private, and are gone after removal', t => {
	const home = createPrivateHome(loadNative(), systemClock);
	for (const directory of [home.home, home.tmp]) {
		t.is(statSync(directory).mode & 0o7777, 0o700);
		t.deepEqual(readdirSync(directory), []);
	}

	t.not(createdBeside(home.home), undefined);
	t.true(home.remove());
	t.false(existsSync(path.dirname(home.home)));
});

test('what a command made unreadable is removed too, and links are not followed', t => {
	const home = createPrivateHome(loadNative(), systemClock);
	const outside = createPrivateHome(loadNative(), systemClock);
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

test('a tree nested deeper than any path is removed, whatever its names are', t => {
	const home = createPrivateHome(loadNative(), systemClock);
	const script = String.raw`import os
for _ in range(120): os.mkdir(b"\xff" * 200); os.chdir(b"\xff" * 200)
open("file", "w")
os.chmod("..", 0)`;
	execFileSync('python3', ['-c', script], {cwd: home.home});
	t.true(home.remove());
	t.false(existsSync(path.dirname(home.home)));
});

test('what a killed run left is cleared away by the next, and what a living run holds is not', t => {
	const held = createPrivateHome(loadNative(), systemClock);
	const left = mkdtempSync(path.join(os.tmpdir(), 'bailiff-run-'));
	mkdirSync(path.join(left, 'home'));
	writeFileSync(path.join(left, 'home', 'secret'), 'left behind');
	const later = createPrivateHome(loadNative(), {...systemClock, wallMs: () => systemClock.wallMs() + 3_600_000});
	t.false(existsSync(left));
	t.true(existsSync(held.home));
	t.true(later.remove());
	t.true(held.remove());
});

for (const [title, name, entry] of [
	['that holds something else', 'bailiff-run-aB3dE6', 'root'],
	['whose name only begins like ours', 'bailiff-run-of-mine', 'home'],
] as const) {
	test(`a directory of a person ${title} is never cleared away`, t => {
		const mine = path.join(os.tmpdir(), name);
		mkdirSync(path.join(mine, entry), {recursive: true, mode: 0o700});
		t.teardown(() => {
			rmSync(mine, {recursive: true, force: true});
		});
		const later = createPrivateHome(loadNative(), {...systemClock, wallMs: () => systemClock.wallMs() + 3_600_000});
		t.true(existsSync(path.join(mine, entry)));
		t.true(later.remove());
	});
}

test('what is too young to be judged stays', t => {
	const young = mkdtempSync(path.join(os.tmpdir(), 'bailiff-run-'));
	const home = createPrivateHome(loadNative(), systemClock);
	t.true(existsSync(young));
	t.true(home.remove());
	rmdirSync(young);
});

for (const [what, place] of [
	['is not there', '/nonexistent/temporary'],
	['is no directory', '/dev/null'],
	['takes no new entries', '/proc'],
] as const) {
	test.serial(`a temporary directory that ${what} refuses the run by name`, t => {
		const before = process.env['TMPDIR'];
		process.env['TMPDIR'] = place;
		t.teardown(() => {
			if (before === undefined) {
				delete process.env['TMPDIR'];
			} else {
				process.env['TMPDIR'] = before;
			}
		});
		const refusal = refusalOf(() => createPrivateHome(loadNative(), systemClock));
		t.is(refusal?.code, 'RUN_HOME_FAILED');
		t.is(refusal?.details['directory'], place);
	});
}

function createdBeside(directory: string): string | undefined {
	return readdirSync(os.tmpdir()).find(name => directory.startsWith(path.join(os.tmpdir(), name)));
}
