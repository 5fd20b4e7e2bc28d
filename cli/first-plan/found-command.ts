/** One command that a project offers. */
export type FoundCommand = {
	/** Unique in the list, a command id. */
	readonly id: string;
	readonly argv: readonly string[];
	readonly timeoutSeconds: number;
	/** The file that offers it. */
	readonly from: string;
	/** Programs that must be found beside argv[0]. */
	readonly helpers: readonly string[];
	/** It fetches packages: without the network it cannot work. */
	readonly needsNetwork: boolean;
};

/** Seconds that a first plan allows; a person who knows better writes another number. */
export const firstTimeouts = {install: 600, build: 900, lint: 300, test: 1800} as const;
