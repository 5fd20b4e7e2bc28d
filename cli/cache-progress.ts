import type {MirrorStep} from '../cache/index.ts';
import type {RepositoryName} from '../core/ids.ts';
import {visibleLine} from '../core/visible-text.ts';
import type {ProgressSink} from './progress.ts';

const eraseLine = '\r\u001b[2K';

/**
 * One display for mirrors that are worked on side by side: on a terminal one line with what each does now, else a line for each change.
 *
 * Source: cache.md, "For people".
 */
export class CacheProgress {
	readonly #sink: ProgressSink;
	readonly #steps = new Map<string, MirrorStep>();
	readonly #total: number;
	#done = 0;

	constructor(sink: ProgressSink, total: number) {
		this.#sink = sink;
		this.#total = total;
	}

	/** A mirror begins another step. */
	step(name: RepositoryName, step: MirrorStep): void {
		const key = keyOf(name);
		this.#steps.set(key, step);
		if (this.#sink.isTerminal) {
			this.#draw();
		} else {
			this.#sink.write(`${key}: ${step}\n`);
		}
	}

	/** A mirror is done: its line stays. */
	end(name: RepositoryName, outcome: string): void {
		const key = keyOf(name);
		this.#steps.delete(key);
		this.#done++;
		const place = this.#total === 1 ? '' : `[${this.#done}/${this.#total}] `;
		this.#sink.write(`${this.#sink.isTerminal ? eraseLine : ''}${place}${key}: ${outcome}\n`);
		if (this.#sink.isTerminal && this.#steps.size > 0) {
			this.#draw();
		}
	}

	#draw(): void {
		const text = [...this.#steps].map(([key, step]) => `${key} ${step}`).join(', ');
		this.#sink.write(`${eraseLine}${text.slice(0, Math.max(this.#sink.columns() - 1, 10))}`);
	}
}

function keyOf({owner, repository}: RepositoryName): string {
	return visibleLine(`${owner}/${repository}`, 200);
}
