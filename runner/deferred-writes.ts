import {type CommandFiles, type RunStage, writeCommandFiles} from '../evidence/index.ts';

/** Scanned files that wait to be written while the next command already runs: writing them costs as much as a short command does (R-PERF-1). */
export class DeferredWrites {
	readonly #stage: RunStage;
	#waiting: CommandFiles | null = null;

	constructor(stage: RunStage) {
		this.#stage = stage;
	}

	/** Keeps the files of one command; those of the command before are written first, so that no more than one command's waits in memory. */
	defer(files: CommandFiles): void {
		this.flush();
		this.#waiting = files;
	}

	/** Writes what waits. Refuses: EVIDENCE_WRITE_FAILED. */
	flush(): void {
		const files = this.#waiting;
		this.#waiting = null;
		if (files !== null) {
			writeCommandFiles(this.#stage, files);
		}
	}
}
