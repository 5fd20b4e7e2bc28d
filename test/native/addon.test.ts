import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {
	chmodSync,
	closeSync,
	constants,
	copyFileSync,
	existsSync,
	fstatSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	readlinkSync,
	rmdirSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';

import {errnoOf} from '../../core/errors.ts';
import {loadNative, type ProcessRow} from '../../native/index.ts';
import {eventually} from '../helpers/eventually.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const native = loadNative();
const nativeUrl = new URL('../../native/index.js', import.meta.url).href;
const isRoot = process.geteuid?.() === 0;

/** Starts a program as the leader of its own session and ends that whole group afterwards. */
function start(t: ExecutionContext, command: string, argv: readonly string[]): {readonly pid: number; readonly ended: Promise<void>} {
	const child = spawn(command, argv, {detached: true, stdio: 'ignore'});
	const {pid} = child;
	if (pid === undefined) {
		throw new Error(`${command} did not start`);
	}

	const ended = new Promise<void>(resolve => {
		child.once('exit', () => {
			resolve();
		});
	});
	t.teardown(async () => {
		try {
			process.kill(-pid, 'SIGKILL');
		} catch {
			// Gone already.
		}

		await ended;
	});
	return {pid, ended};
}

function errnoFrom(act: () => unknown): string | null {
	try {
		act();
	} catch (error) {
		return errnoOf(error);
	}

	return null;
}

function fieldsOf(pid: number): {readonly ppid: number; readonly pgrp: number; readonly session: number; readonly startTime: number} {
	const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
	const fields = text
		.slice(text.lastIndexOf(')') + 2)
		.split(' ')
		.map(Number);
	return {ppid: fields[1] ?? -1, pgrp: fields[2] ?? -1, session: fields[3] ?? -1, startTime: fields[19] ?? -1};
}

function pidsOf(rows: readonly ProcessRow[]): number[] {
	return rows.map(row => row.pid);
}

function boundOf(text: string | undefined): number | null {
	return text === 'unlimited' ? null : Number(text);
}

/** Runs a module text in a fresh Node, which sees `native`, and returns what it printed as JSON. */
function inNode(before: readonly string[], body: string): unknown {
	const source = `import {loadNative} from ${JSON.stringify(nativeUrl)}; const native = loadNative(); ${body}`;
	const [command, ...argv] = [...before, process.execPath, '--input-type=module', '-e', source];
	return JSON.parse(execFileSync(command, argv, {encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit']}));
}

for (const way of ['scan', 'scanByTable'] as const) {
	const scan = native[way];
	for (const name of ['two words', 'x) Z 1 1 (y', '((', ')', 'tab\there', 'new\nline', '\u{1F600}']) {
		test(`${way}() reads a process named ${JSON.stringify(name)} from its last bracket`, async t => {
			const program = path.join(temporaryDirectory(t), name);
			copyFileSync('/bin/sleep', program);
			chmodSync(program, 0o755);
			const {pid} = start(t, program, ['60']);
			const row = await eventually('the renamed sleep', () => scan({groups: [pid]}).rows.find(found => readlinkSync(`/proc/${found.pid}/exe`) === program));
			t.deepEqual({...row, state: 'S'}, {pid, ...fieldsOf(pid), state: 'S', isLive: true});
			t.is(row.pgrp, pid);
			t.is(row.session, pid);
		});
	}

	test(`${way}() tells group and session apart`, async t => {
		const {pid} = start(t, 'bash', ['-c', 'set -m; sleep 60 & sleep 60']);
		const rows = await eventually('three processes in the session', () => {
			const found = scan({sessions: [pid]}).rows;
			return found.filter(row => row.ppid === pid && row.pgrp === row.pid).length === 2 && found;
		});
		t.is(rows.length, 3);
		t.deepEqual(pidsOf(rows.filter(row => row.pgrp === pid)), [pid]);
		t.teardown(() => {
			for (const row of rows) {
				native.signalProcess(row.pid, row.startTime, 9);
			}
		});
		t.deepEqual(pidsOf(scan({groups: [pid]}).rows), pidsOf(rows), 'the jobs left the group but descend from its leader');
	});

	test(`${way}() asks for nobody where nothing is asked`, t => {
		const result = scan({});
		t.deepEqual(result.rows, []);
		t.deepEqual(result.unreadable, []);
	});

	test(`${way}() finds the whole descent and not the ancestor`, async t => {
		const {pid} = start(t, 'sh', ['-c', 'sh -c "sleep 60 & wait" & wait']);
		const rows = await eventually('two descendants', () => {
			const found = scan({ancestors: [pid]}).rows;
			return found.length === 2 && found;
		});
		t.false(pidsOf(rows).includes(pid));
		t.true(pidsOf(scan({ancestors: [process.pid]}).rows).includes(rows[1]?.pid ?? 0));
	});

	test(`${way}() counts a process as living while any of its threads runs, though its row says Z`, async t => {
		const program = path.join(temporaryDirectory(t), 'zombie-leader');
		const source = path.join(import.meta.dirname, '../../../test/fixtures/bin/zombie-leader.c');
		execFileSync('cc', ['-pthread', '-o', program, source]);
		const {pid} = start(t, program, []);
		const row = await eventually('the ended main thread', () => scan({groups: [pid]}).rows.find(found => found.state === 'Z'));
		t.true(row.isLive);
	});

	test(`${way}() shows a zombie as not living`, async t => {
		const {pid} = start(t, 'sh', ['-c', 'sleep 0 & exec sleep 60']);
		const row = await eventually('an unreaped child', () => scan({groups: [pid]}).rows.find(found => found.ppid === pid && found.state === 'Z'));
		t.false(row.isLive);
	});

	test(`${way}() never fails while processes come and go`, async t => {
		const {pid, ended} = start(t, 'sh', ['-c', 'i=0; while [ $i -lt 300 ]; do (true & true &) ; i=$((i+1)); done']);
		let isOver = false;
		void (async () => {
			await ended;
			isOver = true;
		})();
		let scans = 0;
		await eventually('the end of the loop', () => {
			const result = scan({groups: [pid], ancestors: [process.pid]});
			t.deepEqual(result.unreadable, []);
			scans++;
			return isOver;
		});
		t.true(scans > 1);
	});
}

test('both ways of scanning find the same rows of a standing tree', async t => {
	const {pid} = start(t, 'bash', ['-c', 'set -m; for i in 1 2 3; do sh -c "sleep 60 & sleep 60 & wait" & done; sh -c "setsid sleep 60 & wait" & wait']);
	await eventually('eleven descendants, one of them in a session of its own', () => {
		const {rows} = native.scan({ancestors: [pid]});
		return rows.length === 11 && rows.some(row => row.session !== pid) && rows.every(row => row.pgrp !== pid);
	});
	t.teardown(() => {
		for (const row of native.scan({ancestors: [pid]}).rows) {
			native.signalProcess(row.pid, row.startTime, 9);
		}
	});
	for (const query of [{groups: [pid]}, {sessions: [pid]}, {ancestors: [pid]}, {groups: [pid], sessions: [pid], ancestors: [pid, process.pid]}]) {
		t.deepEqual(native.scan(query).rows, native.scanByTable(query).rows);
	}
});

test('scan() follows the children of every thread', async t => {
	const program = path.join(temporaryDirectory(t), 'forking-thread');
	execFileSync('cc', ['-pthread', '-o', program, path.join(import.meta.dirname, '../../../test/fixtures/bin/forking-thread.c')]);
	const {pid} = start(t, program, []);
	const row = await eventually('the child of the second thread', () => native.scan({ancestors: [pid]}).rows.find(found => found.session !== pid));
	t.is(row.ppid, pid);
	t.teardown(() => {
		native.signalProcess(row.pid, row.startTime, 9);
	});
});

const unshared = ['unshare', '-Urpf'];
const canUnshare = spawnSync('unshare', ['-Urpf', 'true']).status === 0;

test('scan() refuses a /proc of another pid namespace instead of finding nobody', t => {
	if (!canUnshare) {
		t.log('skipped: user namespaces are not allowed here');
		t.pass();
		return;
	}

	t.is(inNode(unshared, 'let code = null; try { native.scan({}); } catch (error) { code = error.code; } console.log(JSON.stringify(code));'), 'ENODEV');
	t.deepEqual(inNode([...unshared, '--mount-proc'], 'console.log(JSON.stringify(native.scan({groups: [1]}).unreadable));'), []);
});

test('scan() names what it may not read', t => {
	if (!isRoot) {
		t.log('skipped: only root can mount /proc with hidepid');
		t.pass();
		return;
	}

	// Root without CAP_SYS_PTRACE: another user could not read a checkout below a private home.
	const script =
		'mount -t proc -o hidepid=1 proc /proc; setpriv --reuid 65534 --clear-groups sleep 60 & exec setpriv --regid 65534 --clear-groups --inh-caps=-sys_ptrace --bounding-set=-sys_ptrace "$@"';
	const found = inNode(
		['unshare', '-mpf', '--kill-child', 'sh', '-c', script, 'sh'],
		'const each = query => [native.scan(query), native.scanByTable(query)].map(result => result.unreadable.length); console.log(JSON.stringify([each({}), each({ancestors: [1]})]));',
	);
	t.deepEqual(
		found,
		[
			[0, 1],
			[1, 1],
		],
		'by walking only relatives are looked at, and none of them is passed over',
	);
});

test.serial('an orphan that left the session is adopted by the subreaper, found by descent, ended by identity and reaped alone', async t => {
	t.false(native.isSubreaper());
	native.setSubreaper(true);
	t.teardown(() => {
		native.setSubreaper(false);
	});
	t.true(native.isSubreaper());
	const pid = Number(execFileSync('sh', ['-c', 'setsid sleep 60 >/dev/null 2>&1 & echo $!'], {encoding: 'utf8'}));
	const row = await eventually('adoption', () => native.scan({ancestors: [process.pid]}).rows.find(found => found.pid === pid && found.ppid === process.pid));
	t.is(native.reapChild(pid), null);
	t.false(native.signalProcess(pid, row.startTime + 1, 9), 'another start time is another process');
	t.is(native.reapChild(pid), null);
	t.true(native.signalProcess(pid, row.startTime, 9));
	const reaped = await eventually('its end', () => native.reapChild(pid));
	t.is(reaped.waitStatus, 9);
	t.true(reaped.maxRssBytes > 0);
	t.false(native.signalProcess(pid, row.startTime, 9));
	t.is(
		errnoFrom(() => native.reapChild(pid)),
		'ECHILD',
	);
});

test('reapChild() leaves the children of Node to Node', async t => {
	const child = spawn('sh', ['-c', 'exit 7'], {stdio: 'ignore'});
	const code = await new Promise(resolve => child.once('exit', resolve));
	t.is(code, 7);
	t.is(
		errnoFrom(() => native.reapChild(1)),
		'ECHILD',
	);
});

for (const [title, act] of [
	['no array', () => Reflect.apply(native.reapChild, null, ['1'])],
	['a pid of 0', () => native.reapChild(0)],
	['a negative pid, which would mean a group', () => native.reapChild(-1)],
	['a fraction', () => native.scan({groups: [1.5]})],
	['NaN', () => native.scan({groups: [Number.NaN]})],
	['a path with NUL', () => native.openLock('/tmp/a\0b', true)],
	['a missing argument', () => Reflect.apply(native.tryLock, null, [])],
] as const) {
	test(`the addon refuses ${title}`, t => {
		t.throws(act, {code: 'ERR_INVALID_ARG_TYPE'});
	});
}

for (const [way, open] of [
	['openat2', native.openNoLinks],
	['the chain of openat', native.openNoLinksByChain],
] as const) {
	test(`opening by ${way} follows no link in any position`, t => {
		const base = temporaryDirectory(t);
		mkdirSync(path.join(base, 'a/b'), {recursive: true});
		writeFileSync(path.join(base, 'a/b/file'), 'x');
		symlinkSync('a', path.join(base, 'link'));
		symlinkSync('b', path.join(base, 'a/link'));
		symlinkSync('file', path.join(base, 'a/b/link'));
		symlinkSync('nowhere', path.join(base, 'a/b/dangling'));
		const descriptor = open(path.join(base, 'a/b/file'), constants.O_RDONLY);
		t.is(fstatSync(descriptor).ino, statSync(path.join(base, 'a/b/file')).ino);
		t.regex(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'), /flags:\s*0?2\d{6}/, 'closed on exec');
		closeSync(descriptor);
		const flags = constants.O_RDONLY;
		const openPath = 0o10000000;
		const table: readonly (readonly [string, number, string])[] = [
			['link/b/file', flags, 'ELOOP'],
			['a/link/file', flags, 'ELOOP'],
			['a/b/link', flags, 'ELOOP'],
			['a/b/dangling', flags | constants.O_CREAT, 'ELOOP'],
			['a/b/link', openPath, 'ELOOP'],
			['a/link', flags | constants.O_DIRECTORY, 'ELOOP'],
			['a/../a/b/file', flags, 'EINVAL'],
			['a/./b/file', flags, 'EINVAL'],
			['a//b/file', flags, 'EINVAL'],
			['a/b/', flags, 'EINVAL'],
			['a/b/file/x', flags, 'ENOTDIR'],
			['a/c/file', flags, 'ENOENT'],
			['a/b/file', flags | constants.O_DIRECTORY, 'ENOTDIR'],
			['a/b/file', flags | constants.O_CREAT | constants.O_EXCL, 'EEXIST'],
		];
		for (const [name, asked, errno] of table) {
			t.is(
				errnoFrom(() => open(`${base}/${name}`, asked, asked & constants.O_CREAT ? 0o600 : 0)),
				errno,
				name,
			);
		}

		t.false(existsSync(path.join(base, 'a/b/nowhere')));
		t.is(
			errnoFrom(() => open('relative', flags)),
			'EINVAL',
		);
		closeSync(open('/', constants.O_RDONLY | constants.O_DIRECTORY));
	});
}

test('openLock() makes an empty file with mode 0600 under any umask, and opens what is there', t => {
	const file = path.join(temporaryDirectory(t), 'x.lock');
	t.is(
		errnoFrom(() => native.openLock(file, false)),
		'ENOENT',
	);
	const before = process.umask(0o777);
	const descriptor = native.openLock(file, true);
	process.umask(before);
	t.is(lstatSync(file).mode & 0o7777, 0o600);
	t.is(lstatSync(file).size, 0);
	const again = native.openLock(file, false);
	t.is(fstatSync(again).ino, fstatSync(descriptor).ino);
	t.true(native.tryLock(descriptor));
	t.true(native.tryLock(descriptor), 'the same descriptor has it already');
	t.false(native.tryLock(again), 'another opening is another holder');
	closeSync(descriptor);
	t.true(native.tryLock(again));
	closeSync(again);
	t.is(
		errnoFrom(() => native.tryLock(again)),
		'EBADF',
	);
});

test('renameNoReplace() moves, and never onto anything', t => {
	const base = temporaryDirectory(t);
	const at = (name: string): string => path.join(base, name);
	for (const name of ['from', 'empty', 'full/x']) {
		mkdirSync(at(name), {recursive: true});
	}

	writeFileSync(at('file'), '');
	symlinkSync('nowhere', at('dangling'));
	for (const name of ['empty', 'full', 'file', 'dangling', 'from']) {
		const error = t.throws(() => {
			native.renameNoReplace(at('from'), at(name));
		});
		t.is(errnoOf(error), 'EEXIST', name);
	}

	t.is(
		errnoFrom(() => {
			native.renameNoReplace(at('from'), at('from/inside'));
		}),
		'EINVAL',
		'a directory into itself is a mistake of the caller, not of the filesystem',
	);
	t.is(
		errnoFrom(() => {
			native.renameNoReplace(at('absent'), at('to'));
		}),
		'ENOENT',
	);
	native.renameNoReplace(at('from'), at('to'));
	t.false(existsSync(at('from')));
	t.true(existsSync(at('to')));
});

test('renameNoReplace() says ENOTSUP where the filesystem lacks the primitive', t => {
	let place: string;
	try {
		place = mkdtempSync('/sys/fs/cgroup/pids/bailiff-test-');
	} catch {
		t.log('skipped: no writable filesystem without the primitive here (a cgroup of version 1, as root, would do)');
		t.pass();
		return;
	}

	t.teardown(() => {
		rmdirSync(place);
	});
	t.is(
		errnoFrom(() => {
			native.renameNoReplace(place, `${place}-moved`);
		}),
		'ENOTSUP',
	);
});

test('syncDirectory() and syncFilesystem() take a directory and nothing else', t => {
	const base = temporaryDirectory(t);
	writeFileSync(path.join(base, 'file'), 'x');
	symlinkSync('.', path.join(base, 'link'));
	for (const sync of [native.syncDirectory, native.syncFilesystem]) {
		t.notThrows(() => {
			sync(base);
		});
		for (const [name, errno] of [
			['file', 'ENOTDIR'],
			['link', 'ELOOP'],
			['absent', 'ENOENT'],
		] as const) {
			t.is(
				errnoFrom(() => {
					sync(path.join(base, name));
				}),
				errno,
			);
		}
	}
});

test('groupMembers() joins primary groups and member lists', t => {
	const accounts = execFileSync('getent', ['passwd'], {encoding: 'utf8'})
		.trim()
		.split('\n')
		.map(line => line.split(':'));
	const groups = execFileSync('getent', ['group'], {encoding: 'utf8'})
		.trim()
		.split('\n')
		.map(line => line.split(':'));
	t.true(groups.length > 0);
	for (const [name = '', , gid = '', members = ''] of groups) {
		const listed = members.split(',').filter(member => member !== '');
		const expected = accounts.filter(account => account[3] === gid || listed.includes(account[0] ?? '')).map(account => Number(account[2]));
		const found = native.groupMembers(Number(gid));
		t.true(found.names.includes(name));
		if (groups.filter(group => group[2] === gid).length === 1) {
			t.deepEqual(new Set(found.uids), new Set(expected), name);
		}
	}

	t.deepEqual(native.groupMembers(4_000_000_001), {names: [], uids: [], unresolved: []});
});

test('groupMembers() reads every entry that carries the number, and names who is no account', t => {
	if (!canUnshare) {
		t.log('skipped: user namespaces are not allowed here');
		t.pass();
		return;
	}

	const base = temporaryDirectory(t);
	writeFileSync(`${base}/passwd`, 'root:x:0:0::/:/bin/sh\nann:x:1001:5000::/:/bin/sh\nbob:x:1002:1002::/:/bin/sh\n', {mode: 0o644});
	writeFileSync(`${base}/group`, 'root:x:0:\ndev:x:5000:\nother:x:5001:bob\nalias:x:5000:bob,ghost\n', {mode: 0o644});
	const script = `mount --bind ${base}/passwd /etc/passwd && mount --bind ${base}/group /etc/group && exec "$@"`;
	const found = inNode(
		['unshare', '-Urm', 'sh', '-c', script, 'sh'],
		'console.log(JSON.stringify([native.groupMembers(5000), native.groupMembers(5001), native.groupMembers(5002)]));',
	);
	t.deepEqual(found, [
		{names: ['dev', 'alias'], uids: [1002, 1001], unresolved: ['ghost']},
		{names: ['other'], uids: [1002], unresolved: []},
		{names: [], uids: [], unresolved: []},
	]);
});

test('hasAccessList() sees a list that the mode does not show', t => {
	const base = temporaryDirectory(t);
	t.false(native.hasAccessList(base));
	if (spawnSync('setfacl', ['-m', 'u:1:rwx', base]).status !== 0) {
		const script =
			'import os,struct,sys;e=lambda t,p,i=0xffffffff:struct.pack("<HHI",t,p,i);os.setxattr(sys.argv[1],"system.posix_acl_access",struct.pack("<I",2)+e(1,7)+e(2,7,1)+e(4,5)+e(16,7)+e(32,5))';
		if (spawnSync('python3', ['-c', script, base]).status !== 0) {
			t.log('skipped: neither setfacl nor python3 can set an access list here');
			return;
		}
	}

	t.true(native.hasAccessList(base));
	t.throws(() => native.hasAccessList(path.join(base, 'absent')), {code: 'ENOENT'});
});

test('resourceBound() gives what the kernel says of this process', t => {
	const limits = readFileSync('/proc/self/limits', 'utf8');
	for (const [name, label] of [
		['openFiles', 'Max open files'],
		['memoryBytes', 'Max address space'],
		['cpuSeconds', 'Max cpu time'],
		['processes', 'Max processes'],
		['fileSizeBytes', 'Max file size'],
	] as const) {
		const match = new RegExp(`^${label} +(\\S+) +(\\S+)`, 'm').exec(limits);
		t.deepEqual(native.resourceBound(name), {soft: boundOf(match?.[1]), hard: boundOf(match?.[2])}, name);
	}
});

test('errors name the call and the path', t => {
	const missing = path.join(temporaryDirectory(t), 'absent');
	const error = t.throws(() => {
		native.renameNoReplace(missing, `${missing}-too`);
	});
	t.like(error, {code: 'ENOENT', syscall: 'renameat2', path: `${missing}-too`});
});
