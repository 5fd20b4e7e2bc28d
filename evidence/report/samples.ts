import {BailiffError} from '../../core/errors.ts';
import {parseStrictJson} from '../../core/strict-json.ts';
import {type TraceLine, traceLineSchema} from '../manifest-schema.ts';
import type {ReportSample} from './report-schema.ts';

/** Samples that a report keeps of one command. */
const maxSamples = 400;

/**
 * The samples of a trace file, at most 400: of neighbours the highest is kept. Lines that are no samples or not in their form are passed over (the reader of
 * the run reports those).
 *
 * Pure and total. Source: R-RES-1, R-OUT-3.
 */
export function samplesOf(trace: Uint8Array): ReportSample[] {
	const samples: ReportSample[] = [];
	let before = {timeUs: 0, cpuUs: 0};
	for (const line of Buffer.from(trace).toString('latin1').split('\n')) {
		// Chunk lines are the many; only samples are worth a parse.
		const sample = line.includes('"kind":"sample"') ? parseSample(line) : null;
		if (sample === null || sample.timeUs <= before.timeUs) {
			continue;
		}

		const cpu = (1000 * Math.max(0, sample.cpuUs - before.cpuUs)) / (sample.timeUs - before.timeUs);
		samples.push({t_ms: Math.floor(sample.timeUs / 1000), cpu_millicores: Math.round(cpu), rss_bytes: sample.rssBytes, processes: sample.processes});
		before = sample;
	}

	return thinned(samples);
}

function parseSample(line: string): {readonly timeUs: number; readonly cpuUs: number; readonly rssBytes: number; readonly processes: number} | null {
	const parsed = parseTraceLine(line);
	return parsed === null || parsed.cpu_us === null || parsed.rss_bytes === null || parsed.processes === null
		? null
		: {timeUs: parsed.t_us, cpuUs: parsed.cpu_us, rssBytes: parsed.rss_bytes, processes: parsed.processes};
}

function parseTraceLine(line: string): TraceLine | null {
	try {
		return traceLineSchema.safeParse(parseStrictJson(Buffer.from(line, 'latin1'), {maxBytes: 1024, maxDepth: 2})).data ?? null;
	} catch (error) {
		if (error instanceof BailiffError) {
			return null;
		}

		throw error;
	}
}

function thinned(samples: readonly ReportSample[]): ReportSample[] {
	const size = Math.ceil(samples.length / maxSamples);
	if (size <= 1) {
		return [...samples];
	}

	return Array.from({length: Math.ceil(samples.length / size)}, (_, index) => samples.slice(index * size, (index + 1) * size)).map(group => ({
		t_ms: group.at(-1)?.t_ms ?? 0,
		cpu_millicores: Math.max(...group.map(sample => sample.cpu_millicores)),
		rss_bytes: Math.max(...group.map(sample => sample.rss_bytes)),
		processes: Math.max(...group.map(sample => sample.processes)),
	}));
}
