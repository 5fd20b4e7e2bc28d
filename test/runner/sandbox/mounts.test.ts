import {spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import path from 'node:path';
import process from 'node:process';
import type {SandboxProfile} from '../../../evidence/index.ts';
import {sandboxArguments} from '../../../runner/sandbox/bubblewrap.ts';
import {readHostView} from '../../../runner/sandbox/host-view.ts';
import {isVisible, planMounts} from '../../../runner/sandbox/mounts.ts';
import {resolveProfile} from '../../../runner/sandbox/profile.ts';
import {sandboxTest as test} from '../../helpers/sandbox-ability.ts';
import {createWorld, userIds, type World} from './world.ts';

const bwrap = '/usr/bin/bwrap';

function inside(world: World, profile: SandboxProfile, script: string): {readonly status: number | null; readonly stdout: string; readonly stderr: string} {
	const {facts, userId} = world;
	const resolved = resolveProfile(profile, facts);
	const view = readHostView({userId, network: resolved.network, root: resolved.root});
	const mounts = planMounts({profile: resolved, facts, view, tmpBytes: 1_048_576, supervisor: process.execPath});
	const argv = sandboxArguments({profile: resolved, mounts, userId, filterDescriptor: 5});
	const end = argv.indexOf('--seccomp');
	return spawnSync(bwrap, [...argv.slice(1, end), '--', '/bin/sh', '-c', script], {
		encoding: 'utf8',
		env: {PATH: '/usr/local/bin:/usr/bin:/bin', HOME: facts.privateHome, CHECKOUT: facts.checkout, BASE: world.base},
		uid: userId,
		gid: userId,
	});
}

const required: SandboxProfile = {mode: 'required'};

for (const userId of userIds) {
	const as = userId === 0 ? 'root' : 'an ordinary user';

	test(`as ${as} the checkout is writable and nothing around it is`, t => {
		const world = createWorld(userId);
		t.teardown(world.remove);
		writeFileSync(path.join(world.base, 'outside'), 'before');
		symlinkSync(path.join(world.base, 'outside'), path.join(world.facts.checkout, 'link'));
		const result = inside(
			world,
			required,
			`cd "$CHECKOUT" && echo new >made || exit 9
			echo x >link; echo x >>.git; rm -f .git; mv .git gone; echo x >$BASE/planted; chmod 777 $BASE; touch -d @0 $BASE; ln file $BASE/alias
			ls $BASE/root/owner/repository/worktrees/issue-1`,
		);
		t.is(result.stdout.trim(), 'checkout', 'the evidence is not even seen');
		t.is(readFileSync(path.join(world.facts.checkout, 'made'), 'utf8'), 'new\n');
		t.is(readFileSync(path.join(world.base, 'outside'), 'utf8'), 'before');
		t.true(existsSync(path.join(world.facts.checkout, '.git')));
		t.false(existsSync(path.join(world.base, 'planted')));
		t.deepEqual(readdirSync(world.facts.checkout).toSorted(), ['.git', 'file', 'link', 'made']);
	});

	test(`as ${as} homes, secrets and private directories of the host are empty or hidden`, t => {
		const world = createWorld(userId);
		t.teardown(world.remove);
		mkdirSync(world.facts.environmentHome);
		writeFileSync(path.join(world.facts.environmentHome, '.npmrc'), 'token=secret', {mode: 0o644});
		const result = inside(
			world,
			required,
			`cat $BASE/user/.ssh/id $BASE/profile/.env; ls -A $BASE/user $BASE/environment-home /root /home /var/tmp /dev/shm; cat /etc/shadow; ls -A /run; echo x >/root/x; echo x >$BASE/user/x; echo x >/dev/x`,
		);
		t.notRegex(result.stdout, /secret|\$/);
		t.regex(result.stdout, /bailiff-supervisor/);
		t.is(result.stdout.split('\n').filter(line => line !== '' && !line.endsWith(':') && line !== 'bailiff-supervisor').length, 0, result.stdout);
	});

	test(`as ${as} neither /proc nor a remount opens the host`, t => {
		const world = createWorld(userId);
		t.teardown(world.remove);
		const result = inside(
			world,
			required,
			`for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/printk_ratelimit /proc/sysrq-trigger /proc/mtrr /proc/irq/default_smp_affinity; do
				[ -e $f ] && [ -w $f ] && echo "writable $f"; done
			mount -o remount,rw,bind / && echo remounted; mount -t tmpfs x /mnt && echo mounted; unshare -Ur true && echo unshared
			grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status | grep -v 0000000000000000; echo end`,
		);
		t.is(result.stdout.trim(), 'end');
	});

	test(`as ${as} a private directory holds no more than its limit`, t => {
		const world = createWorld(userId);
		t.teardown(world.remove);
		const result = inside(world, required, 'for d in /tmp /var/tmp /dev/shm /run; do head -c 3000000 /dev/zero >$d/f; wc -c <$d/f; done');
		const sizes = result.stdout.trim().split('\n').map(Number);
		t.is(sizes.length, 4);
		t.true(
			sizes.every(size => size <= 1_048_576),
			result.stdout,
		);
	});

	test(`as ${as} deny wins over write, write over read, and a hidden .git is gone`, t => {
		const world = createWorld(userId);
		t.teardown(world.remove);
		for (const name of ['denied', 'both']) {
			mkdirSync(path.join(world.facts.checkout, name));
			writeFileSync(path.join(world.facts.checkout, name, 'content'), 'old');
		}

		spawnSync('chown', ['-R', `${userId}:${userId}`, world.base]);
		const profile: SandboxProfile = {
			mode: 'required',
			filesystem: {read: ['both'], write: ['.', 'both', 'denied'], deny: [path.join(world.facts.checkout, 'denied')], git: 'hidden'},
		};
		const result = inside(
			world,
			profile,
			'cd "$CHECKOUT"; ls denied; echo x >denied/new; echo new >both/content; cat .git || echo unreadable; ls $BASE/root/owner/repository',
		);
		t.is(result.stdout.trim(), 'unreadable\nworktrees');
		t.is(readFileSync(path.join(world.facts.checkout, 'both/content'), 'utf8'), 'new\n');
		t.deepEqual(readdirSync(path.join(world.facts.checkout, 'denied')), ['content']);
	});

	test(`as ${as} the minimal root holds programs and what was asked for`, t => {
		const world = createWorld(userId);
		t.teardown(world.remove);
		const profile: SandboxProfile = {mode: 'required', filesystem: {root: 'minimal', read: ['/etc/hostname']}};
		const result = inside(
			world,
			profile,
			'ls /etc/hostname /etc/passwd /srv /var/lib; mkdir /planted; cd "$CHECKOUT" && git rev-parse --git-dir && cc --version >/dev/null && echo compiled',
		);
		t.regex(result.stdout, /^\/etc\/hostname\n.*repository\.git\/worktrees\/checkout\ncompiled\n$/s);
		t.notRegex(result.stdout, /passwd/);
	});

	test(`as ${as} a socket of the host cannot be reached`, async t => {
		const world = createWorld(userId);
		t.teardown(world.remove);
		const socket = path.join(world.facts.checkout, 'sock');
		let connections = 0;
		const server = createServer(connection => {
			connections += 1;
			connection.destroy();
		});
		await new Promise<void>(resolve => server.listen(socket, resolve));
		t.teardown(() => server.close());
		spawnSync('chmod', ['777', socket]);
		inside(world, required, `python3 -c 'import socket,os; s=socket.socket(socket.AF_UNIX); s.connect(os.environ["CHECKOUT"]+"/sock")'`);
		await new Promise(resolve => setImmediate(resolve));
		t.is(connections, 0);
	});

	test(`as ${as} odd checkout paths are only paths`, t => {
		for (const name of ['with blank', '--bind', 'new\nline', 'ünïcode', "quo'te"]) {
			const world = createWorld(userId, name);
			t.teardown(world.remove);
			const result = inside(world, required, 'cd -- "$CHECKOUT" && echo ok >made && cat made');
			t.is(result.stdout, 'ok\n', result.stderr);
			t.deepEqual(readdirSync(path.dirname(world.facts.checkout)).toSorted(), [name, 'verification'].toSorted());
		}
	});
}

test('isVisible() answers by the last mount that covers a path', t => {
	const mounts = [
		{kind: 'bind', path: '/', source: '/', isWritable: false},
		{kind: 'tmpfs', path: '/home', maxBytes: 1},
		{kind: 'bind', path: '/home/u/tool', source: '/home/u/tool', isWritable: false},
		{kind: 'bind', path: '/home/u/tool/key', source: '/dev/null', isWritable: false},
	] as const;
	t.true(isVisible(mounts, '/usr/lib'));
	t.false(isVisible(mounts, '/home/u'));
	t.true(isVisible(mounts, '/home/u/tool/bin'));
	t.false(isVisible(mounts, '/home/u/tool/key'));
	t.true(isVisible(mounts, '/homely'));
});
