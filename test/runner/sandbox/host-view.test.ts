import {execFileSync, spawnSync} from 'node:child_process';
import {chmodSync, mkdirSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import test from 'ava';
import {createWorld, userIds, visibleParent} from './world.ts';

const module = new URL('../../../runner/sandbox/host-view.js', import.meta.url).href;
const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0;

// Only root can mount what an ordinary user then cannot reach, as container engines do below their own directories.
const mountTest = canMount ? test : test.skip;

for (const userId of userIds) {
	mountTest(`a mount is ${userId === 0 ? 'reached by root' : 'covered with the outermost directory that an ordinary user cannot enter'}`, t => {
		const world = createWorld(userId, 'checkout', visibleParent());
		t.teardown(world.remove);
		const closed = path.join(world.base, 'closed');
		const point = path.join(closed, 'deep/mount');
		mkdirSync(point, {recursive: true});
		chmodSync(closed, 0o700);
		const look = `import {readHostView} from ${JSON.stringify(module)};
			console.log(readHostView({userId: ${userId}, network: 'loopback', root: 'host-ro'}).unreachable.includes(${JSON.stringify(closed)}));`;
		const script = 'mount -t tmpfs none "$1" && exec setpriv --reuid "$2" --regid "$2" --clear-groups "$3" --input-type=module -e "$4"';
		const seen = execFileSync('unshare', ['-m', 'sh', '-c', script, 'sh', point, String(userId), process.execPath, look], {cwd: '/', encoding: 'utf8'});
		t.is(seen.trim(), String(userId !== 0));
	});
}
