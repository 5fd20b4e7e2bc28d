/** What one TAP stream has said so far. */
export type TapCounts = {passed: number; failed: number; skipped: number};

/** Counts the test points of a TAP stream line by line and hands each failure, with the block that explains it, to `onFailure`. */
export class TapCounter {
	readonly counts: TapCounts = {passed: 0, failed: 0, skipped: 0};
	/** The closing line of the stream was seen: without it the run broke off. */
	isComplete = false;
	/** The title seen last. */
	title = '';
	#failure: string[] | null = null;
	readonly #onFailure: (text: string) => void;

	constructor(onFailure: (text: string) => void) {
		this.#onFailure = onFailure;
	}

	push(line: string): void {
		const point = /^(not )?ok \d+ - (.*?)( # (?:SKIP|TODO))?$/.exec(line);
		if (point !== null) {
			this.#flush();
			this.title = point[2] ?? '';
			this.#count(point[1] !== undefined, point[3] !== undefined, line);
			return;
		}

		if (/^1\.\.\d+$/.test(line)) {
			this.#flush();
			this.isComplete = true;
			return;
		}

		if (/^\s|^#/.test(line)) {
			this.#failure?.push(line);
		}
	}

	/** Call once after the last line. */
	end(): void {
		this.#flush();
	}

	#count(isFailed: boolean, isDirective: boolean, line: string): void {
		if (isDirective) {
			this.counts.skipped++;
		} else if (isFailed) {
			this.counts.failed++;
			this.#failure = [line];
		} else {
			this.counts.passed++;
		}
	}

	#flush(): void {
		if (this.#failure !== null) {
			this.#onFailure(`${this.#failure.join('\n')}\n`);
			this.#failure = null;
		}
	}
}
