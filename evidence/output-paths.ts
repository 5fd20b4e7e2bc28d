/** Run-relative paths of what command `index` leaves. Source: shapes.ts: OutputFile. */
export function outputPaths(index: number): {readonly output: string; readonly errorOutput: string; readonly trace: string} {
	const name = `output/${String(index).padStart(3, '0')}`;
	return {output: `${name}.log`, errorOutput: `${name}.err`, trace: `${name}.trace.jsonl`};
}
