import {startSupervisor} from '../runner/supervisor.ts';
import type {Figure} from './figure.ts';
import {plainRequest, withDirectory} from './fixture.ts';

const seconds = 10;
const processes = 20;

/** R-RES-1: what bailiff itself spends while a command of 20 sleeping processes runs for 10 s, sampling included. */
export async function measure(): Promise<readonly Figure[]> {
	return withDirectory(async directory => {
		const supervisor = await startSupervisor();
		try {
			// The first sample of a process loads pidusage, once; that is no cost of sampling.
			await supervisor.run(plainRequest(['/bin/sleep', '0.3'], directory, {timeoutNs: 5_000_000_000n}));
			const script = `for i in $(seq ${processes}); do sleep ${seconds} & done; wait`;
			const before = process.cpuUsage();
			const outcome = await supervisor.run(plainRequest(['/bin/sh', '-c', script], directory, {timeoutNs: 60_000_000_000n}));
			const spent = process.cpuUsage(before);
			if (outcome.kind !== 'ended' || outcome.status !== 'completed') {
				throw new Error(`the command was expected to end by itself, not by ${outcome.kind}`);
			}

			const wallUs = Number(outcome.endedNs - outcome.startedNs) / 1000;
			return [
				{
					id: 'R-RES-1',
					name: 'share of one core while a command runs',
					measured: (100 * (spent.user + spent.system)) / wallUs,
					unit: '%',
					wanted: {atMost: 1},
					note: `${outcome.resources?.samples ?? 0} samples of ${processes} processes in ${seconds} s`,
				},
			];
		} finally {
			await supervisor.close();
		}
	});
}
