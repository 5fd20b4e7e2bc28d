import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {createSocket} from 'node:dgram';
import {once} from 'node:events';
import {chmodSync, copyFileSync, linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import anyTest from 'ava';
import {runSandboxed} from '../../helpers/sandboxed.ts';
import {createWorld, userIds, visibleParent, type World} from './world.ts';

// One at a time: the sandbox hides the sockets that it finds on the host, and those of another test come and go.
const test = anyTest.serial;
const attempts = fileURLToPath(new URL('../../../../test/fixtures/bin/escape-attempts.py', import.meta.url));
const fixture = (name: string): string => fileURLToPath(new URL(`../../../../test/fixtures/bin/${name}`, import.meta.url));

function own(world: World): void {
	spawnSync('chown', ['-R', `${world.userId}:${world.userId}`, world.base]);
}

/** Ends with what each attempt must have come to; anything but "ok" is told by the kernel. */
const mustFail = [
	'write outside',
	'create outside',
	'write through a link',
	'chmod outside',
	'utime outside',
	'rename outside',
	'hard link of outside',
	'set-user-ID file',
	'device',
	'write .git',
	'replace .git',
	'write git config',
	'plant hook',
	'host unix socket in the checkout',
	'host unix socket outside',
	'abstract socket',
	'tcp',
	'tcp6',
	'vsock',
	'raw',
	'packet',
	'fifo',
	'mount',
	'unshare user',
	'ptrace init',
	'read init memory',
	'read init environment',
	'sysctl',
	'irq',
	'evidence',
	'home',
	'profile',
	'dev',
] as const;

for (const userId of userIds) {
	const as = userId === 0 ? 'as root' : 'as an ordinary user';

	test(`${as} no forbidden act comes about, and the host is as it was`, async t => {
		const world = createWorld(userId, 'checkout', visibleParent());
		t.teardown(world.remove);
		const {facts} = world;
		const outside = path.join(world.base, 'outside');
		const fifo = path.join(world.base, 'fifo');
		const socket = path.join(world.base, 'outside.sock');
		writeFileSync(outside, 'before');
		execFileSync('mkfifo', ['-m', '666', fifo]);
		symlinkSync(outside, path.join(facts.checkout, 'link-out'));
		copyFileSync(attempts, path.join(facts.checkout, 'attempts.py'));
		const reached: string[] = [];
		const listen = async (name: string, target: object): Promise<number> => {
			const server = createServer(connection => {
				reached.push(name);
				connection.destroy();
			});
			server.listen(target);
			await once(server, 'listening');
			t.teardown(() => server.close());
			const address = server.address();
			return typeof address === 'object' && address !== null ? address.port : 0;
		};
		const tcp = await listen('tcp', {host: '127.0.0.1', port: 0});
		await listen('tcp6', {host: '::1', port: tcp, ipv6Only: true});
		await listen('socket in the checkout', {path: path.join(facts.checkout, 'host.sock')});
		await listen('socket outside', {path: socket});
		await listen('abstract socket', {path: `\0bailiff-${process.pid}-${userId}`});
		spawnSync('chmod', ['777', socket, path.join(facts.checkout, 'host.sock')]);
		const datagrams = createSocket('udp4', () => reached.push('udp'));
		datagrams.bind(0, '127.0.0.1');
		await once(datagrams, 'listening');
		t.teardown(() => datagrams.close());
		own(world);
		const before = lstatSync(outside, {bigint: true});
		const canary = `canary-${process.pid}-${userId}`;
		process.env['BAILIFF_TEST_CANARY'] = canary;
		const env = {
			FACTS: JSON.stringify({
				outside,
				fifo,
				socket,
				tcp,
				udp: datagrams.address().port,
				canary,
				abstract: `bailiff-${process.pid}-${userId}`,
				mirror: facts.git.commonDir,
				evidence: facts.evidence,
				home: facts.home,
				profile: path.join(world.base, 'profile'),
			}),
		};
		const [told] = await runSandboxed(world, {commands: [{argv: ['/usr/bin/python3', 'attempts.py'], env}]});
		t.is(told?.exit_code, 9, JSON.stringify(told));
		const results = JSON.parse(told?.output ?? '{}');
		// Where only /tmp could be had, what the command made there lies in its own /tmp: the host is looked at below.
		const isHidden = world.base.startsWith(`${tmpdir()}/`);
		for (const name of mustFail) {
			t.true(results[name] !== 'ok' || (isHidden && name === 'create outside'), name);
			t.not(results[name], undefined, name);
		}

		t.false(readdirSync(world.base).includes('planted'));

		t.false(results['canary seen']);
		t.deepEqual(results.descriptors, [0, 1, 2]);
		t.true(results.processes <= 5);
		await new Promise(resolve => setTimeout(resolve, 50));
		t.deepEqual(reached, []);
		const after = lstatSync(outside, {bigint: true});
		t.deepEqual([after.mode, after.mtimeNs, after.ino, readFileSync(outside, 'utf8')], [before.mode, before.mtimeNs, before.ino, 'before']);
		t.deepEqual(readdirSync(facts.checkout).toSorted(), ['.git', 'attempts.py', 'file', 'host.sock', 'link-out', 'suid']);
		t.is(lstatSync(path.join(facts.checkout, 'suid')).mode & 0o7000, 0);
	});

	test(`${as} what a command plants is not executed by the git of the host`, async t => {
		const world = createWorld(userId, 'checkout', visibleParent());
		t.teardown(world.remove);
		const proof = path.join(world.base, 'executed');
		const script = `git config core.fsmonitor "touch ${proof}"; printf '[core]\\n\\tfsmonitor = touch ${proof}\\n' >>.git
			mkdir -p hooks && printf '#!/bin/sh\\ntouch ${proof}\\n' >hooks/post-index-change && chmod +x hooks/post-index-change; git config core.hooksPath hooks; true`;
		const [told] = await runSandboxed(world, {commands: [{argv: ['/bin/sh', '-c', script]}]});
		t.is(told?.kind, 'ended');
		spawnSync('git', ['-c', 'safe.directory=*', '-C', world.facts.checkout, 'status'], {env: {PATH: '/usr/bin:/bin', GIT_CONFIG_GLOBAL: '/dev/null'}});
		t.false(readdirSync(world.base).includes('executed'));
	});

	test(`${as} a file with a second name outside, and a named pipe, refuse the run`, async t => {
		const world = createWorld(userId);
		t.teardown(world.remove);
		const outside = path.join(world.base, 'outside');
		writeFileSync(outside, 'before');
		linkSync(outside, path.join(world.facts.checkout, 'alias'));
		own(world);
		const [told] = await runSandboxed(world, {commands: [{argv: ['/bin/true']}]});
		t.is(told?.error?.code, 'RUN_SANDBOX_ALIAS');
		t.regex(told?.error?.message ?? '', /alias.*second name/);
		execFileSync('rm', [path.join(world.facts.checkout, 'alias')]);
		execFileSync('mkfifo', [path.join(world.facts.checkout, 'pipe')]);
		const [other] = await runSandboxed(world, {commands: [{argv: ['/bin/true']}]});
		t.is(other?.error?.code, 'RUN_SANDBOX_ALIAS');
	});

	test(`${as} a program with a set-user-ID bit that a command could change refuses the run`, async t => {
		const world = createWorld(userId);
		t.teardown(world.remove);
		const program = path.join(world.facts.checkout, 'program');
		writeFileSync(program, '');
		own(world);
		chmodSync(program, 0o4755);
		const [told] = await runSandboxed(world, {commands: [{argv: ['/bin/true']}]});
		t.is(told?.error?.code, 'RUN_SANDBOX_ALIAS');
		t.regex(told?.error?.message ?? '', /program.*set-user-ID/);
	});

	test(`${as} what is denied cannot be moved away with its directory for the next command`, async t => {
		const world = createWorld(userId);
		t.teardown(world.remove);
		const secret = path.join(world.facts.checkout, 'conf/deep/secret');
		mkdirSync(path.dirname(secret), {recursive: true});
		writeFileSync(secret, 'kept back');
		own(world);
		const move = 'mv conf/deep conf/moved; mv conf gone; mkdir -p conf/deep; echo decoy >conf/deep/secret; true';
		const commands = [move, 'cat conf/moved/secret gone/deep/secret conf/deep/secret'].map(script => ({argv: ['/bin/sh', '-c', script]}));
		const told = await runSandboxed(world, {commands, sandbox: {mode: 'required', filesystem: {deny: [secret]}}});
		t.is(told.length, 2);
		t.notRegex(told[1]?.output ?? 'kept back', /kept back/);
		t.is(readFileSync(secret, 'utf8'), 'kept back');
	});

	test(`${as} a checkout in a wider writable place cannot be replaced`, async t => {
		const world = createWorld(userId, 'checkout', visibleParent());
		t.teardown(world.remove);
		const checkout = path.join(world.base, 'wide/inner/checkout');
		mkdirSync(checkout, {recursive: true});
		writeFileSync(path.join(checkout, '.git'), 'gitdir: elsewhere\n');
		own(world);
		const wide = path.join(world.base, 'wide');
		const facts = {...world.facts, checkout, git: {...world.facts.git, dotGit: path.join(checkout, '.git')}};
		const script = `cd ${wide}; mv inner gone; mv inner/checkout inner/gone; mkdir -p inner/checkout; echo planted >inner/checkout/.git; true`;
		const [told] = await runSandboxed(
			{...world, facts},
			{
				commands: [{argv: ['/bin/sh', '-c', script]}],
				sandbox: {mode: 'required', filesystem: {write: [wide]}},
			},
		);
		t.is(told?.kind, 'ended', JSON.stringify(told));
		t.is(readFileSync(path.join(checkout, '.git'), 'utf8'), 'gitdir: elsewhere\n');
	});

	test(`${as} a socket is hidden under the name that it has now`, async t => {
		const world = createWorld(userId, 'checkout', visibleParent());
		t.teardown(world.remove);
		const script = `import os, socket
os.chdir(${JSON.stringify(world.base)})
held = [socket.socket(socket.AF_UNIX) for _ in range(2)]
for server, name in zip(held, ["relative", ${JSON.stringify(path.join(world.base, 'renamed.new'))}]):
    server.bind(name)
    os.chmod(name, 0o777)
    server.listen()
os.rename("renamed.new", "renamed")
os.link("renamed", "second")
print("ready", flush=True)
input()`;
		const server = spawn('/usr/bin/python3', ['-c', script], {stdio: ['pipe', 'pipe', 'inherit']});
		t.teardown(() => server.stdin.end('\n'));
		await once(server.stdout, 'data');
		const client = `import os, socket
for name in ["relative", "renamed", "second"]:
    try:
        socket.socket(socket.AF_UNIX).connect(os.path.join(${JSON.stringify(world.base)}, name))
        print(name, "reached")
    except OSError as error:
        print(name, "kept away")`;
		const [told] = await runSandboxed(world, {commands: [{argv: ['/usr/bin/python3', '-c', client]}]});
		t.is(told?.output, 'relative kept away\nrenamed kept away\nsecond kept away\n');
	});

	test(`${as} servers on one port stand side by side, each on a loopback of its own`, async t => {
		const worlds = [createWorld(userId), createWorld(userId)];
		t.teardown(() => worlds.map(world => world.remove()));
		const script = `
import http.server, threading, urllib.request, time
server = http.server.HTTPServer(("127.0.0.1", 8123), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
for _ in range(20):
    assert urllib.request.urlopen("http://127.0.0.1:8123/file").read() == b"content\\n"
    time.sleep(0.05)
print("served")`;
		const commands = [{argv: ['/usr/bin/python3', '-c', script]}];
		const told = await Promise.all(worlds.map(world => runSandboxed(world, {commands})));
		t.deepEqual(
			told.map(([first]) => [first?.exit_code, first?.output?.endsWith('served\n')]),
			[
				[0, true],
				[0, true],
			],
			JSON.stringify(told),
		);
	});

	test(`${as} without a network not even a socket can be made, and children can`, async t => {
		const world = createWorld(userId);
		t.teardown(world.remove);
		const script = `
import socket, subprocess, errno
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
    try:
        socket.socket(family)
        print("made", family)
    except OSError as error:
        assert error.errno == errno.EAFNOSUPPORT
subprocess.check_call(["node", "-e", "require('child_process').execFileSync('true')"])
print("end")`;
		const [told] = await runSandboxed(world, {commands: [{argv: ['/usr/bin/python3', '-c', script]}], sandbox: {mode: 'required', network: 'none'}});
		t.is(told?.output, 'end\n', JSON.stringify(told));
		t.is(told?.sandbox?.network, 'none');
	});

	test(`${as} the shared network of the host is recorded as such`, async t => {
		const world = createWorld(userId);
		t.teardown(world.remove);
		const [told] = await runSandboxed(world, {commands: [{argv: ['/bin/true']}], sandbox: {mode: 'required', network: 'host'}});
		t.is(told?.exit_code, 0, JSON.stringify(told));
		t.is(told?.sandbox?.network, 'host');
		t.is(told?.sandbox?.layers.network, 'none');
	});

	test(`${as} a nested sandbox works where the profile says so, and only there`, async t => {
		const world = createWorld(userId);
		t.teardown(world.remove);
		const argv = ['/usr/bin/bwrap', '--unshare-user', '--ro-bind', '/', '/', '--bind', '/proc', '/proc', '/bin/echo', 'nested'];
		const [free] = await runSandboxed(world, {commands: [{argv}], sandbox: {mode: 'required', nested: true}});
		t.is(free?.output, 'nested\n', JSON.stringify(free));
		const [bound] = await runSandboxed(world, {commands: [{argv}]});
		t.not(bound?.exit_code, 0);
	});

	test(`${as} whoever makes himself root of a nested namespace still gets nowhere`, async t => {
		const world = createWorld(userId, 'checkout', visibleParent());
		t.teardown(world.remove);
		const outside = path.join(world.base, 'outside');
		writeFileSync(outside, 'before');
		copyFileSync(fixture('nested-attempts.py'), path.join(world.facts.checkout, 'attempts.py'));
		own(world);
		const commands = [{argv: ['/usr/bin/python3', 'attempts.py'], env: {OUTSIDE: outside}}];
		const [told] = await runSandboxed(world, {commands, sandbox: {mode: 'required', nested: true}});
		const {unshare, setgroups, 'uid map': uidMap, 'gid map': gidMap, 'private mount': privateMount, ...rest} = JSON.parse(told?.output ?? '{}');
		t.deepEqual([unshare, setgroups, uidMap, gidMap, privateMount], ['ok', 'ok', 'ok', 'ok', 'ok'], 'the attempts start as root of a namespace');
		t.deepEqual(
			Object.entries(rest).filter(([, answer]) => answer === 'ok'),
			[],
		);
		t.is(Object.keys(rest).length, 12);
		t.is(readFileSync(outside, 'utf8'), 'before');
	});

	test(`${as} exit 137, death by KILL, a memory hog and a crowd end each in its own way`, async t => {
		const world = createWorld(userId);
		t.teardown(world.remove);
		const crowd = 'i=0; while [ $i -lt 60 ]; do sleep 30 & i=$((i+1)); done; wait';
		const told = await runSandboxed(world, {
			commands: [
				{argv: ['/bin/sh', '-c', 'exit 137']},
				{argv: ['/bin/sh', '-c', 'kill -9 $$']},
				{argv: ['/usr/bin/python3', '-c', 'x = bytearray(400_000_000); print(len(x))'], limits: {memory_bytes: 100_000_000}},
				{argv: ['/bin/sh', '-c', crowd], ...(userId === 0 ? {} : {limits: {processes: 20}}), timeout_seconds: 3},
			],
		});
		t.is(told.length, 4, JSON.stringify(told));
		t.like(told[0], {exit_code: 137, signal: null});
		t.like(told[1], {exit_code: null, signal: 'SIGKILL'});
		t.not(told[2]?.exit_code, 0, JSON.stringify(told[2]));
		t.is(told[3]?.execution_status, userId === 0 ? 'timeout' : told[3]?.execution_status);
		if (userId !== 0) {
			t.regex(told[3]?.output ?? '', /fork/, JSON.stringify(told[3]));
		}
	});

	test(`${as} a chain that forks and exits under a process limit is gone in time`, async t => {
		const world = createWorld(userId);
		t.teardown(world.remove);
		execFileSync('cc', ['-O1', '-o', path.join(world.facts.checkout, 'rabbit'), fixture('rabbit.c')]);
		own(world);
		const [told] = await runSandboxed(world, {commands: [{argv: ['./rabbit'], timeout_seconds: 1}]});
		t.is(told?.execution_status, 'timeout', JSON.stringify(told));
		t.true(told?.sandbox?.quiet);
	});

	test(`${as} a bubblewrap that builds nothing is found out before anything runs`, async t => {
		const world = createWorld(userId);
		t.teardown(world.remove);
		const fake = path.join(world.base, 'bwrap');
		const proof = path.join(world.facts.checkout, 'ran');
		writeFileSync(
			fake,
			'#!/bin/sh\n[ "$1" = --version ] && { echo bubblewrap 0.8.0; exit 0; }\nwhile [ "$1" != --bind-none ] && [ $# -gt 0 ]; do [ "$2" = /run/bailiff-supervisor ] && [ "${1#/}" != "$1" ] && real=$1; [ "$1" = -- ] && { shift; shift; break; }; shift; done\nexec "$real" "$@"\n',
			{mode: 0o755},
		);
		mkdirSync(path.join(world.base, 'any'));
		own(world);
		const [told] = await runSandboxed(world, {commands: [{argv: ['/bin/sh', '-c', `touch ${proof}`]}], tool: fake});
		t.true(['RUN_SANDBOX_UNMET', 'RUN_SANDBOX_UNAVAILABLE'].includes(told?.error?.code ?? ''), JSON.stringify(told));
		t.false(readdirSync(world.facts.checkout).includes('ran'));
	});

	test(`${as} odd checkout paths are only paths`, async t => {
		for (const name of ['with blank', '--bind', 'new\nline', 'ünïcode', "quo'te"]) {
			const world = createWorld(userId, name);
			t.teardown(world.remove);
			const [told] = await runSandboxed(world, {commands: [{argv: ['/bin/sh', '-c', 'echo ok >made && cat made && git rev-parse HEAD >/dev/null']}]});
			t.is(told?.output, 'ok\n', JSON.stringify(told));
			t.is(told?.exit_code, 0);
			t.deepEqual(readdirSync(world.facts.checkout).toSorted(), ['.git', 'file', 'made']);
		}
	});
}
