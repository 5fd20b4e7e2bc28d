import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {openRunCgroup} from '../../../runner/sandbox/cgroup.ts';

test.serial('a process that joined is bound by the limits, and the groups are gone afterwards', async t => {
	const group = await openRunCgroup();
	const directories = group.joinFiles.map(file => path.dirname(file));
	if (group.abilities.processes === null) {
		t.log('no pids cgroup can be written here');
		t.deepEqual(group.setLimits({memoryBytes: null, processes: 5}), false);
		return;
	}

	t.true(group.setLimits({memoryBytes: group.abilities.memory === null ? null : 64 * 1024 * 1024, processes: 4}));
	const child = spawn('/bin/sh', ['-c', 'read go; i=0; while [ $i -lt 20 ]; do sleep 5 & i=$((i+1)); done; wait'], {stdio: ['pipe', 'ignore', 'pipe']});
	for (const file of group.joinFiles) {
		writeFileSync(file, String(child.pid));
	}

	const memberships = readFileSync(`/proc/${child.pid}/cgroup`, 'utf8');
	t.true(group.memberships.every(membership => memberships.includes(membership)));
	let complaint = '';
	child.stderr.on('data', (bytes: Buffer) => {
		complaint += bytes.toString();
	});
	child.stdin.end('go\n');
	const [code] = await once(child, 'exit');
	t.not(code, 0);
	t.regex(complaint, /fork/);
	for (const file of group.joinFiles) {
		for (const pid of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
			process.kill(Number(pid), 'SIGKILL');
		}
	}

	t.true(await group.remove());
	t.true(directories.every(directory => !existsSync(directory)));
});

test.serial('groups that killed runners left are swept up, and only those', async t => {
	const first = await openRunCgroup();
	const [file] = first.joinFiles;
	if (file === undefined) {
		t.log('no cgroup can be written here');
		t.true(await first.remove());
		return;
	}

	const parent = path.dirname(path.dirname(file));
	const dead = spawnSync('/bin/true').pid;
	const stale = path.join(parent, `bailiff-${dead}-00000000`);
	mkdirSync(stale);
	const second = await openRunCgroup();
	t.false(existsSync(stale));
	t.true(existsSync(path.dirname(file)), 'a group of a living runner stays');
	t.true(await second.remove());
	t.true(await first.remove());
});

test.serial('where nothing is mounted nothing is claimed', async t => {
	const group = await openRunCgroup({cgroups: '0::/\n', mounts: ''});
	t.deepEqual(group.abilities, {memory: null, processes: null});
	t.false(group.setLimits({memoryBytes: 1, processes: null}));
	t.true(group.setLimits({memoryBytes: null, processes: null}));
	t.true(await group.remove());
});
