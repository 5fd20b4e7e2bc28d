import {BailiffError} from '../core/errors.ts';
import {parseStrictJson} from '../core/strict-json.ts';
import {type CommandRecord, type OutputFile, traceLineSchema} from './manifest-schema.ts';
import type {Problem} from './problems.ts';
import {isDropped} from './truth-table.ts';

/** Bounds of a trace file: the chunk lines of shapes.ts, and samples at a steady rate over an hour. */
export const traceLimits = {maxBytes: 16 * 1_048_576, maxChunkLines: 4096, maxProblems: 10} as const;

type Line = {
	readonly kind: string;
	readonly offset: number | null;
	readonly length: number | null;
	readonly rssBytes: number | null;
	readonly hasSample: boolean;
	readonly timeUs: number;
};

const count = '(0|[1-9][0-9]{0,15})';
const countOrNull = '(null|0|[1-9][0-9]{0,15})';
/** Exactly what strict parse, schema and canonical form together accept: one look per line instead of three. */
const canonicalLine = new RegExp(
	`\\{"cpu_us":${countOrNull},"kind":"(out|err|sample)","length":${countOrNull},"offset":${countOrNull},"processes":${countOrNull},"rss_bytes":${countOrNull},"t_us":${count}\\}\\n`,
	'y',
);

/**
 * Everything that is wrong in the trace file of one command: form of every line, times that run backwards, chunks that do not cover the
 * stored output, samples that the totals do not know.
 *
 * Pure; any bytes give an answer, at most ten problems a file; pointer `/<index of the line>`. Source: R-OUT-3, shapes.ts: TraceLine.
 */
export function traceProblems(bytes: Buffer, command: CommandRecord): Problem[] {
	const check = new TraceCheck(command);
	// Latin-1 keeps one character a byte; whatever is not ASCII fails the form.
	const text = bytes.toString('latin1');
	canonicalLine.lastIndex = 0;
	for (let at = 0; at < text.length && !check.isFull; ) {
		canonicalLine.lastIndex = at;
		const found = canonicalLine.exec(text);
		const end = found === null ? lineEnd(text, at) : canonicalLine.lastIndex;
		const line = found === null ? null : lineOf(found);
		if (line === null) {
			check.refuse(formFault(bytes.subarray(at, end)));
		} else {
			check.take(line);
		}

		at = end;
	}

	check.finish();
	return check.problems;
}

class TraceCheck {
	readonly problems: Problem[] = [];
	readonly #command: CommandRecord;
	readonly #ends = {out: 0, err: 0};
	#index = 0;
	#timeUs = 0;
	#chunks = 0;
	#samples = 0;
	#peakRssBytes = 0;

	constructor(command: CommandRecord) {
		this.#command = command;
	}

	get isFull(): boolean {
		return this.problems.length >= traceLimits.maxProblems;
	}

	refuse(message: string): void {
		this.#report(`/${this.#index}`, message);
		this.#index++;
	}

	take(line: Line): void {
		if (line.timeUs < this.#timeUs) {
			this.#report(`/${this.#index}/t_us`, 'the time runs backwards');
		}

		this.#timeUs = line.timeUs;
		if (line.kind === 'sample') {
			this.#takeSample(line);
		} else {
			this.#takeChunk(line, line.kind === 'out' ? 'out' : 'err');
		}

		this.#index++;
	}

	finish(): void {
		if (this.isFull) {
			return;
		}

		this.#finishStream('out', this.#command.output);
		this.#finishStream('err', this.#command.extra_outputs[0]);
		const {resources} = this.#command;
		if (resources !== null && (this.#samples > resources.samples || this.#peakRssBytes > (resources.peak_group_rss_bytes ?? 0))) {
			this.#report('', 'the trace holds more samples or more memory than the resources of the command');
		}
	}

	#takeSample(line: Line): void {
		if (!line.hasSample || line.offset !== null || line.length !== null) {
			this.#report(`/${this.#index}`, 'a sample has cpu_us, rss_bytes and processes, no offset and no length');
		}

		this.#samples++;
		this.#peakRssBytes = Math.max(this.#peakRssBytes, line.rssBytes ?? 0);
	}

	#takeChunk(line: Line, stream: 'out' | 'err'): void {
		const {offset, length} = line;
		if (offset === null || length === null || line.hasSample) {
			this.#report(`/${this.#index}`, 'a chunk has offset and length and nothing of a sample');
			return;
		}

		if (++this.#chunks === traceLimits.maxChunkLines + 1) {
			this.#report(`/${this.#index}`, `there are more than ${traceLimits.maxChunkLines} chunk lines`);
		}

		const output = this.#outputOf(stream);
		if (output === undefined) {
			this.#report(`/${this.#index}/kind`, 'the command has no such stream');
			return;
		}

		const end = this.#ends[stream];
		if (offset !== end) {
			this.#report(`/${this.#index}/offset`, `the chunk must start at ${end}`);
		}

		if (offset + length > output.bytes) {
			this.#report(`/${this.#index}/length`, `the chunk ends beyond the stored ${output.bytes} bytes`);
		}

		this.#ends[stream] = offset + length;
	}

	#finishStream(stream: 'out' | 'err', output: OutputFile | undefined): void {
		if (output === undefined || (isDropped(output) && this.#ends[stream] === 0)) {
			return;
		}

		if (this.#ends[stream] !== output.bytes) {
			this.#report('', `the chunks of ${stream} cover ${this.#ends[stream]} of ${output.bytes} stored bytes`);
		}
	}

	#outputOf(stream: 'out' | 'err'): OutputFile | undefined {
		return stream === 'out' ? this.#command.output : this.#command.extra_outputs[0];
	}

	#report(pointer: string, message: string): void {
		if (!this.isFull) {
			this.problems.push({code: 'EVIDENCE_TRACE', path: this.#command.trace.path, pointer, message});
		}
	}
}

function lineEnd(text: string, start: number): number {
	const end = text.indexOf('\n', start);
	return end === -1 ? text.length : end + 1;
}

function lineOf(found: RegExpExecArray): Line | null {
	const [, cpu, kind = '', length, offset, processes, rss, time] = found;
	const numbers = [cpu, length, offset, processes, rss, time].map(text => (text === 'null' ? null : Number(text)));
	if (numbers.some(number => number !== null && !Number.isSafeInteger(number))) {
		return null;
	}

	const [cpuUs, lengthBytes = null, offsetBytes = null, processCount, rssBytes = null, timeUs] = numbers;
	const samples = [cpuUs, processCount, rssBytes].filter(number => number !== null);
	if (samples.length !== 0 && samples.length !== 3) {
		return null;
	}

	return {kind, offset: offsetBytes, length: lengthBytes, rssBytes, hasSample: samples.length === 3, timeUs: timeUs ?? 0};
}

/** Says in the words of parser and schema why a line is not in the form. */
function formFault(line: Buffer): string {
	if (line.at(-1) !== 0x0a) {
		return 'the last line does not end in a line feed';
	}

	try {
		const parsed = traceLineSchema.safeParse(parseStrictJson(line.subarray(0, -1), {maxBytes: 1024, maxDepth: 24}));
		return parsed.success ? 'a line is canonical JSON (RFC 8785), with a sample as a whole or not at all' : 'this is not the shape of a trace line';
	} catch (error) {
		if (error instanceof BailiffError) {
			return `this is not a trace line: ${error.message}`;
		}

		throw error;
	}
}
