import {chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'ava';
import {sha256Hex} from '../../core/digest.ts';
import {createExecutableFinder} from '../../runner/executables.ts';

const checkout = mkdtempSync(path.join(os.tmpdir(), 'bailiff-executables-'));
const elsewhere = mkdtempSync(path.join(os.tmpdir(), 'bailiff-path-'));
test.after.always(() => {
	rmSync(checkout, {recursive: true, force: true});
	rmSync(elsewhere, {recursive: true, force: true});
});

const script = '#!/bin/sh\nexit 0\n';
mkdirSync(path.join(checkout, 'sub'));
mkdirSync(path.join(elsewhere, 'first'));
mkdirSync(path.join(elsewhere, 'second'));
mkdirSync(path.join(elsewhere, 'second', 'directory-tool'));
writeFileSync(path.join(checkout, 'sub', 'gradlew'), script, {mode: 0o755});
writeFileSync(path.join(checkout, 'git'), 'a trap in the cwd', {mode: 0o755});
writeFileSync(path.join(elsewhere, 'first', 'plain'), script, {mode: 0o644});
writeFileSync(path.join(elsewhere, 'second', 'plain'), `${script}# second\n`, {mode: 0o755});
writeFileSync(path.join(elsewhere, 'second', 'hidden'), script, {mode: 0o755});
symlinkSync('/nowhere/at/all', path.join(elsewhere, 'first', 'dangling'));
const searchPath = `${elsewhere}/first:${elsewhere}/second`;

function find(name: string, cwd = '.') {
	return createExecutableFinder().find({name, checkout, cwd, searchPath});
}

test('a name is taken from the first entry of the path where it can be executed, and is digested', t => {
	t.deepEqual(find('plain'), {
		program: `${elsewhere}/second/plain`,
		recordedPath: `${elsewhere}/second/plain`,
		sha256: sha256Hex(`${script}# second\n`),
	});
});

test('a path with a slash starts at the cwd of the command and is recorded relative to the checkout', t => {
	t.deepEqual(find('./gradlew', 'sub'), {program: './gradlew', recordedPath: 'sub/gradlew', sha256: sha256Hex(script)});
});

test('an absolute path inside the checkout is recorded relative to it', t => {
	t.deepEqual(find(path.join(checkout, 'sub/gradlew')), {program: path.join(checkout, 'sub/gradlew'), recordedPath: 'sub/gradlew', sha256: sha256Hex(script)});
});

test('a directory whose name begins with two dots lies inside the checkout, too', t => {
	mkdirSync(path.join(checkout, '..tools'));
	writeFileSync(path.join(checkout, '..tools', 'tool'), script, {mode: 0o755});
	t.deepEqual(find('./..tools/tool'), {program: './..tools/tool', recordedPath: '..tools/tool', sha256: sha256Hex(script)});
});

const failures = [
	['a program that lies only in the cwd is not found by its name', 'git', 'ENOENT'],
	['a name that exists nowhere is ENOENT', 'no-such-program', 'ENOENT'],
	['a directory of that name is no program', 'directory-tool', 'EACCES'],
	['a dangling link is ENOENT', 'dangling', 'ENOENT'],
	['a missing path with a slash is ENOENT', './missing', 'ENOENT'],
	['a path through a file is ENOTDIR', './git/x', 'ENOTDIR'],
] as const;
for (const [title, name, errno] of failures) {
	test(title, t => {
		const found = find(name);
		t.is('errno' in found ? found.errno : 'found', errno);
	});
}

test('a program that lost its executable bit everywhere is EACCES', t => {
	const file = path.join(elsewhere, 'second', 'hidden');
	chmodSync(file, 0o644);
	const found = find('hidden');
	t.is('errno' in found ? found.errno : 'found', 'EACCES');
});
