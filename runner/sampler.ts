import type {Clock} from '../core/clock.ts';
import type {TraceLine} from '../evidence/index.ts';
import type {NativeParts} from '../native/index.ts';
import {testify} from './witness.ts';

/** First look soon, for short commands; then ever rarer, so that an hour gives about 600 lines (R-RES-1). */
const firstMs = 50;
const secondMs = 200;
const growth = 1.05;
const longestMs = 7000;
/** The pause after a sample is at least this many times the processor time that it took: below 1 % of one core. */
const restFactor = 120;
/** pidusage holds one descriptor for each process: more processes than this are not sampled at all rather than in part. */
const maxProcesses = 256;
/** How long pidusage keeps what it knows of a process. Not 0: then it would read the same file for ever. */
const memoryMs = 1000;

/** What the samples of one command say. */
export type Samples = {readonly lines: readonly TraceLine[]; readonly peakRssBytes: number | null};

/** Whose processes are sampled; `startedNs` is a moment of `clock`. */
export type SampledCommand = {readonly leader: number; readonly supervisor: number; readonly startedNs: bigint; readonly clock: Clock};

type Usage = Readonly<Record<string, {readonly ctime: number; readonly memory: number} | null | undefined>>;

/** Samples CPU time and memory of a command's processes while it runs. Costs nothing before the first 50 ms are over. */
export class Sampler {
	readonly #native: NativeParts;
	readonly #target: SampledCommand;
	readonly #lines: TraceLine[] = [];
	#peakRssBytes: number | null = null;
	#timer: NodeJS.Timeout;
	#intervalMs = secondMs;
	#isStopped = false;

	constructor(native: NativeParts, target: SampledCommand) {
		this.#native = native;
		this.#target = target;
		this.#timer = this.#arm(firstMs);
	}

	/** Ends the sampling and gives what was taken; a sample that is being taken is dropped. */
	stop(): Samples {
		this.#isStopped = true;
		clearTimeout(this.#timer);
		return {lines: this.#lines, peakRssBytes: this.#peakRssBytes};
	}

	#arm(afterMs: number): NodeJS.Timeout {
		const timer = setTimeout(() => {
			void this.#tick();
		}, afterMs);
		timer.unref();
		return timer;
	}

	async #tick(): Promise<void> {
		let before = process.cpuUsage();
		try {
			const usageOf = await loadUsage();
			before = process.cpuUsage();
			await this.#sample(usageOf);
		} catch {
			// A process that ended while it was looked at is no fault: the next sample sees who is left.
		}

		if (!this.#isStopped) {
			const spent = process.cpuUsage(before);
			const costMs = (spent.user + spent.system) / 1000;
			this.#timer = this.#arm(Math.max(this.#intervalMs, restFactor * costMs));
			this.#intervalMs = Math.min(longestMs, this.#intervalMs * growth);
		}
	}

	async #sample(usageOf: UsageOf): Promise<void> {
		const tUs = Number((this.#target.clock.monotonicNs() - this.#target.startedNs) / 1000n);
		const pids = testify(this.#native, this.#target).alive.map(row => row.pid);
		if (pids.length === 0 || pids.length > maxProcesses) {
			return;
		}

		const usage = await usageOf(pids);
		const found = Object.values(usage).filter(one => one !== null && one !== undefined);
		if (this.#isStopped || found.length === 0) {
			return;
		}

		const rssBytes = found.reduce((sum, one) => sum + one.memory, 0);
		const cpuUs = Math.round(found.reduce((sum, one) => sum + one.ctime * 1000, 0));
		this.#peakRssBytes = Math.max(this.#peakRssBytes ?? 0, rssBytes);
		this.#lines.push({t_us: tUs, kind: 'sample', offset: null, length: null, cpu_us: cpuUs, rss_bytes: rssBytes, processes: found.length});
	}
}

type UsageOf = (pids: readonly number[]) => Promise<Usage>;
let loaded: Promise<UsageOf> | null = null;

/** Loads pidusage on first use (a run of short commands never needs it) and lets it ask once for clock tick and page size. */
async function loadUsage(): Promise<UsageOf> {
	loaded ??= (async () => {
		const {default: pidusage} = await import('pidusage');
		await pidusage(process.pid, {maxage: memoryMs});
		return pids => pidusage([...pids], {maxage: memoryMs});
	})();
	return loaded;
}
