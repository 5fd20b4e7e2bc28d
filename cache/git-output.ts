/**
 * Takes `-z` output apart without holding more of a long one than the field at hand.
 *
 * @yields the fields in order, as latin1
 */
export function* zeroTerminated(output: Buffer): Generator<string> {
	for (let at = 0; at < output.length; ) {
		const end = output.indexOf(0, at);
		const stop = end === -1 ? output.length : end;
		yield output.toString('latin1', at, stop);
		at = stop + 1;
	}
}

/**
 * Puts fields into rows; an incomplete last row is dropped.
 *
 * @yields rows of `width` fields
 */
export function* inRows(fields: Iterable<string>, width: number): Generator<readonly string[]> {
	let row: string[] = [];
	for (const field of fields) {
		row.push(field);
		if (row.length === width) {
			yield row;
			row = [];
		}
	}
}
