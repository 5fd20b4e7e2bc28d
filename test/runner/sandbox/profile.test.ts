import {execFileSync} from 'node:child_process';
import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import test from 'ava';
import {BailiffError} from '../../../core/errors.ts';
import {type ProfileWish, resolveProfile} from '../../../runner/sandbox/profile.ts';
import {createWorld, type World} from './world.ts';

const userId = process.getuid?.() ?? 0;
type Path = string | ((world: World) => string);

const at = (written: Path, world: World): string => (typeof written === 'string' ? written : written(world));

const refused: ReadonlyArray<readonly [title: string, list: 'read' | 'write', written: Path, reason: RegExp]> = [
	['the whole machine', 'write', '/', /whole machine/],
	['the home directory', 'write', '~', /home directory/],
	['a parent of the home directory', 'write', world => path.dirname(world.facts.home), /home directory/],
	['the root of bailiff', 'write', world => world.facts.root, /root of bailiff/],
	['a parent of the root, by dots', 'write', world => `${world.facts.root}/..`, /holds it/],
	['the evidence directory', 'write', world => world.facts.evidence, /evidence/],
	['a place in the evidence directory', 'write', world => path.join(world.facts.evidence, 'run'), /evidence/],
	['the mirror', 'write', world => world.facts.git.commonDir, /git directory/],
	['a place in the mirror', 'write', world => path.join(world.facts.git.commonDir, 'hooks'), /git directory/],
	['the installation', 'write', world => world.facts.install, /installation/],
	['a link to the mirror', 'write', 'link-to-mirror', /git directory/],
	['what is not there: no mount point is ever made', 'write', 'missing', /does not exist/],
	['a directory of the system', 'write', '/etc', /system/],
	['a store of objects that the checkout borrows from', 'write', 'store', /store of git objects/],
	['a place in the devices', 'write', '/dev/null', /neither a directory nor a regular file/],
	['a directory that is private inside', 'write', '/run', /private/],
	['a named pipe', 'write', 'pipe', /neither a directory nor a regular file/],
	['what is not there', 'read', 'missing', /does not exist/],
	['the whole machine', 'read', '/', /whole machine/],
	['a directory that is private inside', 'read', '/run', /private/],
	['the processes', 'read', '/proc', /sandbox itself/],
];

for (const [title, list, written, reason] of refused) {
	test(`resolveProfile() refuses to ${list} ${title}`, t => {
		const world = createWorld(userId);
		t.teardown(world.remove);
		mkdirSync(path.join(world.facts.evidence, 'run'));
		symlinkSync(world.facts.git.commonDir, path.join(world.facts.checkout, 'link-to-mirror'));
		execFileSync('mkfifo', [path.join(world.facts.checkout, 'pipe')]);
		const store = path.join(world.facts.checkout, 'store');
		mkdirSync(store);
		const facts = {...world.facts, git: {...world.facts.git, alternates: [store]}};
		const wish: ProfileWish = {filesystem: {[list]: [at(written, world)]}};
		const error = t.throws(() => resolveProfile(wish, facts), {instanceOf: BailiffError, code: 'RUN_SANDBOX_PATH'});
		t.regex(error?.message ?? '', reason);
		t.regex(error?.message ?? '', new RegExp(`/sandbox/filesystem/${list}/0`));
	});
}

test('resolveProfile() names every path at fault at once', t => {
	const world = createWorld(userId);
	t.teardown(world.remove);
	const error = t.throws(() => resolveProfile({filesystem: {read: ['none'], write: ['.', '/', 'neither']}}, world.facts), {instanceOf: BailiffError});
	t.like(error?.details, {problems: {length: 3}});
});

test('resolveProfile() fills in the defaults, and takes a plan’s own .git for what it is', t => {
	const world = createWorld(userId);
	t.teardown(world.remove);
	const facts = {...world.facts, git: {...world.facts.git, commonDir: world.facts.git.dotGit}};
	const resolved = resolveProfile({}, facts);
	t.like(resolved, {root: 'host-ro', read: [], deny: [], git: 'readonly', network: 'loopback', nested: false});
	t.deepEqual(resolved.require, ['fs_write', 'network', 'pid', 'env', 'syscalls']);
	t.deepEqual(
		resolved.write.map(place => place.path),
		[world.facts.checkout],
	);
});

test('resolveProfile() resolves links, and puts parents before what lies in them', t => {
	const world = createWorld(userId);
	t.teardown(world.remove);
	const tool = path.join(world.facts.home, 'tool');
	mkdirSync(path.join(tool, 'bin'), {recursive: true});
	writeFileSync(path.join(tool, 'bin/x'), '');
	symlinkSync(tool, path.join(world.facts.home, 'current'));
	const resolved = resolveProfile({filesystem: {read: ['~/current/bin', '~/tool'], deny: ['~/.ssh', '~/nothing']}}, world.facts);
	t.deepEqual(
		resolved.read.map(place => place.path),
		[tool, path.join(tool, 'bin')],
	);
	t.deepEqual(resolved.links, [{path: path.join(world.facts.home, 'current'), target: tool}]);
	t.deepEqual(
		resolved.deny.map(place => place.path),
		[path.join(world.facts.home, '.ssh')],
	);
});

test('resolveProfile() refuses a network layer that the profile itself switches off', t => {
	const world = createWorld(userId);
	t.teardown(world.remove);
	t.throws(() => resolveProfile({network: 'host', require: ['network']}, world.facts), {code: 'RUN_SANDBOX_UNMET'});
	t.false(resolveProfile({network: 'host'}, world.facts).require.includes('network'));
});
