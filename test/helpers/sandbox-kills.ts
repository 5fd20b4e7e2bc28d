import {once} from 'node:events';
import {readdirSync, readFileSync} from 'node:fs';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {createWorld, userIds, type World} from '../runner/sandbox/world.ts';
import {sandboxTest as test} from './sandbox-ability.ts';
import {runSandboxed, startSandboxed} from './sandboxed.ts';

// Every process of a sandbox names a path of its world in its command line, bubblewrap and our own first process included.
const workers = 4;

/** Living processes that name the world: in their command line or in their environment. */
function survivors(world: World): string[] {
	return readdirSync('/proc')
		.filter(name => /^\d+$/.test(name) && Number(name) !== process.pid)
		.flatMap(name => {
			try {
				const commandLine = readFileSync(`/proc/${name}/cmdline`, 'utf8');
				const isOurs = commandLine.includes(world.base) || readFileSync(`/proc/${name}/environ`, 'utf8').includes(world.base);
				return isOurs ? [`${name} ${commandLine.replaceAll('\0', ' ').slice(0, 60)}`] : [];
			} catch {
				return [];
			}
		});
}

async function vanished(world: World): Promise<string[]> {
	const giveUp = performance.now() + 15_000;
	let left = survivors(world);
	while (left.length > 0 && performance.now() < giveUp) {
		await sleep(20);
		left = survivors(world);
	}

	return left;
}

function children(pid: number): number[] {
	try {
		return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
	} catch {
		return [];
	}
}

function kill(pid: number): void {
	try {
		process.kill(pid, 'SIGKILL');
	} catch {
		// Gone already.
	}
}

const busy = {argv: ['/bin/sh', '-c', '(setsid sleep 60 &) ; sleep 60 & echo x >made; exec sleep 0.03'], timeout_seconds: 0.06};

/** Declares the tests: so many runners killed, and so many commands aborted in their first 50 ms, shared out among the users. */
export function declareKills({kills, aborts}: {readonly kills: number; readonly aborts: number}): void {
	for (const userId of userIds) {
		const as = userId === 0 ? 'as root' : 'as an ordinary user';
		for (let worker = 0; worker < workers; worker++) {
			test(`${as} a runner that is killed at a random moment leaves nobody and no file (${worker + 1} of ${workers})`, async t => {
				t.timeout(170_000);
				const world = createWorld(userId);
				t.teardown(world.remove);
				const before = new Set([...readdirSync(world.facts.checkout), 'made']);
				for (let round = 0; round < kills / workers / userIds.length; round++) {
					const driver = startSandboxed(world, {commands: [busy], repeat: 'endless'});
					await Promise.race([once(driver.stdout, 'data'), once(driver, 'exit')]);
					t.is(driver.exitCode, null, 'the driver runs');
					await sleep(Math.random() * 200);
					// Every second time the supervisor dies with its runner: then only the end of the pipe is left to end the inside.
					const victims = round % 2 === 0 ? [driver.pid ?? 0] : [...children(driver.pid ?? 0), driver.pid ?? 0];
					for (const victim of victims) {
						kill(victim);
					}

					await once(driver, 'exit');
					t.deepEqual(await vanished(world), [], `round ${round}`);
				}

				t.deepEqual(
					readdirSync(world.facts.checkout).filter(name => !before.has(name)),
					[],
				);
			});
		}

		test(`${as} a command that is aborted in its first 50 ms ends, and nobody is left`, async t => {
			t.timeout(170_000);
			const world = createWorld(userId);
			t.teardown(world.remove);
			const told = await runSandboxed(world, {
				commands: [{...busy, timeout_seconds: 20, argv: ['/bin/sh', '-c', 'setsid sleep 60 & sleep 60']}],
				repeat: aborts / userIds.length,
			});
			const outcomes = told.slice(1);
			t.is(outcomes.length, aborts / userIds.length, JSON.stringify(told.at(-1)));
			t.deepEqual(
				outcomes.filter(({kind}) => kind !== 'interrupted'),
				[],
			);
			t.deepEqual(await vanished(world), []);
		});
	}
}
