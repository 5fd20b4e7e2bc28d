/** One measured figure beside the one that the contract wants. */
export type Figure = {
	/** Contract id, such as R-PERF-1. */
	readonly id: string;
	/** What was measured, in a few words. */
	readonly name: string;
	readonly measured: number;
	/** `x` is a ratio to the baseline that `name` tells. */
	readonly unit: 'x' | 'ms' | 'µs' | 's' | 'MB' | 'MB/s' | '%';
	readonly wanted: {readonly atMost: number} | {readonly atLeast: number};
	/** What the figure does not say by itself: the two times behind a ratio, the count of samples. */
	readonly note: string;
};

/** What each file of bench/ but main.ts and figure.ts exports as `measure`. */
export type Measure = () => Promise<readonly Figure[]>;

/** The measured figure is as the contract wants it. */
export function isMet({measured, wanted}: Figure): boolean {
	return 'atMost' in wanted ? measured <= wanted.atMost : measured >= wanted.atLeast;
}

/** The middle value of the samples; NaN when there are none. */
export function median(samples: readonly number[]): number {
	return percentile(samples, 0.5);
}

/** The smallest sample that at least the given share (0 to 1) of all samples does not exceed; NaN when there are none. */
export function percentile(samples: readonly number[], share: number): number {
	const sorted = samples.toSorted((left, right) => left - right);
	return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** The figures as a table with one row each, for a person. */
export function figureTable(figures: readonly Figure[]): string {
	const rows = [['id', 'what', 'measured', 'wanted', '', ''], ...figures.map(figure => figureRow(figure))];
	const widths = [0, 1, 2, 3, 4].map(column => Math.max(...rows.map(row => row[column]?.length ?? 0)));
	return rows
		.map(row =>
			row
				.map((cell, column) => (column === 2 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
				.join('  ')
				.trimEnd(),
		)
		.join('\n');
}

function figureRow(figure: Figure): string[] {
	const {id, name, measured, unit, wanted, note} = figure;
	const bound = 'atMost' in wanted ? `at most ${wanted.atMost} ${unit}` : `at least ${wanted.atLeast} ${unit}`;
	return [id, name, `${Number(measured.toPrecision(3))} ${unit}`, bound, isMet(figure) ? 'met' : 'MISSED', note];
}
