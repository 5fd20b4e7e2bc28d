/** `850 ms`, `1.5 s`, `2 min 3 s`: a duration of whole milliseconds for people. */
export function durationText(durationMs: number): string {
	if (durationMs < 1000) {
		return `${durationMs} ms`;
	}

	if (durationMs < 60_000) {
		return `${trimmed(durationMs / 1000)} s`;
	}

	const seconds = Math.round(durationMs / 1000);
	const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
	return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`;
}

/** `20 bytes`, `1.5 KiB`, `64 MiB`. */
export function bytesText(bytes: number): string {
	if (bytes < 1024) {
		return bytes === 1 ? '1 byte' : `${bytes} bytes`;
	}

	const units = ['KiB', 'MiB', 'GiB', 'TiB'];
	const power = Math.min(units.length, Math.floor(Math.log2(bytes) / 10));
	return `${trimmed(bytes / 1024 ** power)} ${units[power - 1] ?? ''}`;
}

/** `1 command`, `2 commands`. */
export function countText(count: number, noun: string): string {
	return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function trimmed(value: number): string {
	return String(Number(value.toFixed(value < 10 ? 2 : 1)));
}
