import {startSupervisor} from '../runner/supervisor.ts';
import {buildFixture} from '../test/helpers/fixture.ts';
import {type Figure, median, percentile} from './figure.ts';
import {plainRequest, withDirectory} from './fixture.ts';

const timeoutNs = 30_000_000n;
const idleSamples = 200;
const busySamples = 10;

/** R-PERF-3: how late TERM comes after the deadline, and how long a group of 2,000 processes takes to be gone. */
export async function measure(): Promise<readonly Figure[]> {
	return withDirectory(async directory => {
		const supervisor = await startSupervisor();
		try {
			const program = buildFixture(directory, 'term-clock');
			const lateness = async (isBusy: boolean): Promise<number> => {
				const run = supervisor.run(plainRequest([program], directory, {timeoutNs}));
				if (isBusy) {
					setTimeout(burn, 10);
				}

				const outcome = await run;
				if (outcome.kind !== 'ended' || outcome.status !== 'timeout') {
					throw new Error(`a timeout was expected: ${JSON.stringify(outcome, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))}`);
				}

				return Number(BigInt(outcome.output.bytes.toString().trim()) - outcome.startedNs - timeoutNs) / 1e6;
			};
			const idle: number[] = [];
			for (let index = 0; index < idleSamples; index++) {
				idle.push(await lateness(false));
			}

			const busy: number[] = [];
			for (let index = 0; index < busySamples; index++) {
				busy.push(await lateness(true));
			}

			return [
				{
					id: 'R-PERF-3',
					name: 'deadline to TERM, p99',
					measured: percentile(idle, 0.99),
					unit: 'ms',
					wanted: {atMost: 5},
					note: `median ${median(idle).toFixed(2)} ms of ${idleSamples}`,
				},
				{
					id: 'R-PERF-3',
					name: 'the same while the event loop is busy for 1 s, worst',
					measured: Math.max(...busy),
					unit: 'ms',
					wanted: {atMost: 5},
					note: `of ${busySamples}`,
				},
				await endCrowd(supervisor, directory),
			];
		} finally {
			await supervisor.close();
		}
	});
}

async function endCrowd(supervisor: Awaited<ReturnType<typeof startSupervisor>>, directory: string): Promise<Figure> {
	const program = buildFixture(directory, 'crowd');
	const crowdTimeoutNs = 3_000_000_000n;
	const outcome = await supervisor.run(plainRequest([program, '2000'], directory, {timeoutNs: crowdTimeoutNs}));
	if (outcome.kind !== 'ended' || outcome.status !== 'timeout' || outcome.output.bytes.toString() !== 'ready\n') {
		throw new Error('the crowd of 2,000 did not come about or did not end');
	}

	const overMs = Number(outcome.endedNs - outcome.startedNs - crowdTimeoutNs) / 1e6;
	return {
		id: 'R-PERF-3',
		name: 'a group of 2,000 gone after the deadline',
		measured: overMs,
		unit: 'ms',
		wanted: {atMost: 750},
		note: outcome.termination.kill_sent ? 'with KILL' : 'by TERM alone',
	};
}

function burn(): void {
	const until = performance.now() + 1000;
	while (performance.now() < until) {
		// Nothing: the event loop is to be blocked.
	}
}
