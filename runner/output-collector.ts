import type {TraceLine} from '../evidence/index.ts';
import type {CapturedStream} from './outcome.ts';

/** The most chunk lines of one command's trace (shapes.ts: TraceLine). */
const maxChunkLines = 4096;

type Mark = {readonly tUs: number; readonly offset: number; length: number};

/** The kept bytes of one stream and the places where its chunks begin. Memory is O(bound): chunks are copied, neighbours joined. */
class StreamCollector {
	readonly #maxBytes: number;
	#buffer: Buffer = Buffer.alloc(0);
	#length = 0;
	#marks: Mark[] = [];

	constructor(maxBytes: number) {
		this.#maxBytes = maxBytes;
	}

	get length(): number {
		return this.#length;
	}

	get markCount(): number {
		return this.#marks.length;
	}

	append(bytes: Buffer, tUs: number): void {
		this.#reserve(this.#length + bytes.length);
		bytes.copy(this.#buffer, this.#length);
		this.#marks.push({tUs, offset: this.#length, length: bytes.length});
		this.#length += bytes.length;
	}

	/** Joins each second mark to the one before it. */
	halveMarks(): void {
		const halved: Mark[] = [];
		for (const [index, mark] of this.#marks.entries()) {
			const last = halved.at(-1);
			if (index % 2 === 1 && last !== undefined) {
				last.length += mark.length;
			} else {
				halved.push({...mark});
			}
		}

		this.#marks = halved;
	}

	bytes(): Buffer {
		return this.#buffer.subarray(0, this.#length);
	}

	lines(kind: 'out' | 'err'): TraceLine[] {
		return this.#marks.map(mark => ({t_us: mark.tUs, kind, offset: mark.offset, length: mark.length, cpu_us: null, rss_bytes: null, processes: null}));
	}

	#reserve(bytes: number): void {
		if (bytes > this.#buffer.length) {
			const grown = Buffer.alloc(Math.min(this.#maxBytes, Math.max(bytes, 2 * this.#buffer.length, 4096)));
			this.#buffer.copy(grown, 0, 0, this.#length);
			this.#buffer = grown;
		}
	}
}

/** What one command wrote: raw bytes up to the bound, and a trace of at most 4,096 chunk lines (R-OUT-1, R-OUT-3). */
export class OutputCollector {
	readonly #maxBytes: number;
	readonly #out: StreamCollector;
	readonly #err: StreamCollector;

	constructor(maxBytes: number) {
		this.#maxBytes = maxBytes;
		this.#out = new StreamCollector(maxBytes);
		this.#err = new StreamCollector(maxBytes);
	}

	/** Takes one chunk. False, and nothing is taken, when it does not follow the last one or crosses the bound: the sender is at fault. */
	add(stream: 'out' | 'err', chunk: {readonly offset: number; readonly tUs: number; readonly bytes: Buffer}): boolean {
		const target = stream === 'out' ? this.#out : this.#err;
		if (chunk.offset !== target.length || this.#out.length + this.#err.length + chunk.bytes.length > this.#maxBytes) {
			return false;
		}

		if (this.#out.markCount + this.#err.markCount >= maxChunkLines) {
			this.#out.halveMarks();
			this.#err.halveMarks();
		}

		target.append(chunk.bytes, chunk.tUs);
		return true;
	}

	/** The bytes of one stream, with what the supervisor says about it. */
	captured(stream: 'out' | 'err', facts: {readonly seenBytes: number; readonly isAtEnd: boolean}): CapturedStream {
		const bytes = (stream === 'out' ? this.#out : this.#err).bytes();
		return {bytes, seenBytes: facts.seenBytes, isComplete: facts.isAtEnd && facts.seenBytes === bytes.length};
	}

	/** How many bytes of a stream were taken. */
	lengthOf(stream: 'out' | 'err'): number {
		return (stream === 'out' ? this.#out : this.#err).length;
	}

	/** Chunk and sample lines in the order of time. */
	trace(samples: readonly TraceLine[]): TraceLine[] {
		return [...this.#out.lines('out'), ...this.#err.lines('err'), ...samples].toSorted((a, b) => a.t_us - b.t_us);
	}
}
