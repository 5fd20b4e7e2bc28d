import {spawnSync} from 'node:child_process';
import {supervisorPath} from '../native/index.ts';
import {startSupervisor} from '../runner/supervisor.ts';
import {type Figure, median} from './figure.ts';
import {plainRequest, withDirectory} from './fixture.ts';

const rounds = 20;
const bound = 1_048_576;

/** R-PERF-4: how soon a flood is cut after it crossed the bound, with what memory, and how fast the supervisor alone passes bytes through. */
export async function measure(): Promise<readonly Figure[]> {
	return withDirectory(async directory => {
		const supervisor = await startSupervisor();
		try {
			const afterCrossing: number[] = [];
			const before = process.memoryUsage.rss();
			for (let round = 0; round < rounds; round++) {
				const outcome = await supervisor.run(plainRequest(['/usr/bin/head', '-c', '10G', '/dev/zero'], directory, {maxOutputBytes: bound}));
				if (outcome.kind !== 'ended' || outcome.status !== 'output_limit') {
					throw new Error('the flood was not cut');
				}

				const crossedUs = outcome.trace.findLast(line => line.kind === 'out')?.t_us ?? 0;
				afterCrossing.push(Number(outcome.endedNs - outcome.startedNs) / 1e6 - crossedUs / 1000);
			}

			const grownMb = (process.memoryUsage.rss() - before) / 1e6;
			return [
				{
					id: 'R-PERF-4',
					name: 'a 10 GiB flood gone after crossing the bound, worst',
					measured: Math.max(...afterCrossing),
					unit: 'ms',
					wanted: {atMost: 50},
					note: `median ${median(afterCrossing).toFixed(1)} ms of ${rounds}`,
				},
				{
					id: 'R-PERF-4',
					name: 'memory that bailiff grew by in these floods',
					measured: grownMb,
					unit: 'MB',
					wanted: {atMost: 50},
					note: `${rounds} floods, bound 1 MiB`,
				},
				passThrough(),
			];
		} finally {
			await supervisor.close();
		}
	});
}

/** The supervisor's own way of a byte, without bailiff. */
function passThrough(): Figure {
	const rates: number[] = [];
	for (let round = 0; round < 5; round++) {
		const {stdout, status} = spawnSync(supervisorPath(), ['--bench-passthrough', String(2 ** 30)], {encoding: 'utf8'});
		if (status !== 0) {
			throw new Error(`the supervisor's own bench ended with ${status}: ${stdout}`);
		}

		const {bytes, ns}: {bytes: number; ns: number} = JSON.parse(stdout);
		rates.push((bytes * 1000) / ns);
	}

	return {
		id: 'R-PERF-4',
		name: 'the supervisor alone passes 1 GiB through',
		measured: median(rates),
		unit: 'MB/s',
		wanted: {atLeast: 1000},
		note: `${rates.length} rounds`,
	};
}
