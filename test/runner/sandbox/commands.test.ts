import process from 'node:process';
import {sandboxTest as test} from '../../helpers/sandbox-ability.ts';
import {runSandboxed, type Told} from '../../helpers/sandboxed.ts';
import {differences, type HostileCase, hostileCases, markedProcesses} from '../../helpers/supervised.ts';
import {createWorld, userIds} from './world.ts';

// Every hostile command of the contract once more, inside the default sandbox: the runner's promises hold there too.
const shares = 3;

for (const userId of userIds) {
	for (let share = 0; share < shares; share++) {
		const cases = hostileCases().filter((_, index) => index % shares === share);
		test(`inside the default sandbox, as user ${userId}, the hostile commands end as they must (${share + 1} of ${shares})`, async t => {
			const world = createWorld(userId);
			t.teardown(world.remove);
			const mark = `${process.pid}-${userId}-${share}`;
			const told = await runSandboxed(world, {commands: cases.map(hostile => toCommand(hostile, mark))});
			t.is(told.length, cases.length, JSON.stringify(told.at(-1)));
			for (const [index, hostile] of cases.entries()) {
				const found: Told = told[index] ?? {};
				const passed = found.execution_status === 'completed' && found.exit_code === hostile.expected_exit_code;
				t.deepEqual(differences(hostile, {...found, passed}), [], `${hostile.id}: ${JSON.stringify(found)}`);
				t.true(found.sandbox?.quiet, hostile.id);
			}

			t.deepEqual(markedProcesses(mark), []);
		});
	}
}

function toCommand(hostile: HostileCase, mark: string) {
	return {
		argv: [...hostile.argv],
		timeout_seconds: hostile.timeout_seconds,
		max_output_bytes: hostile.max_output_bytes,
		...(hostile.leak_timeout_seconds === undefined ? {} : {leak_timeout_seconds: hostile.leak_timeout_seconds}),
		env: {BAILIFF_TEST_MARK: mark},
	};
}
