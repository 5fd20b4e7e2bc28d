/** How a stretch of terminal text looks. Colours are the sixteen of a terminal, so that a theme can keep each legible on each. */
export type TextStyle = {
	readonly foreground: number | null;
	readonly background: number | null;
	readonly bold: boolean;
	readonly dim: boolean;
	readonly italic: boolean;
	readonly underline: boolean;
	readonly strike: boolean;
	readonly inverse: boolean;
};

/** Text as it comes. */
export const plainStyle: TextStyle = {
	foreground: null,
	background: null,
	bold: false,
	dim: false,
	italic: false,
	underline: false,
	strike: false,
	inverse: false,
};

const switches: ReadonlyMap<number, Partial<TextStyle>> = new Map<number, Partial<TextStyle>>([
	[0, plainStyle],
	[1, {bold: true}],
	[2, {dim: true}],
	[3, {italic: true}],
	[4, {underline: true}],
	[7, {inverse: true}],
	[9, {strike: true}],
	[21, {underline: true}],
	[22, {bold: false, dim: false}],
	[23, {italic: false}],
	[24, {underline: false}],
	[27, {inverse: false}],
	[29, {strike: false}],
	[39, {foreground: null}],
	[49, {background: null}],
]);

/**
 * The style after one SGR sequence with these parameters (`1;38;5;196`). Unknown parameters change nothing; concealed text is not concealed.
 *
 * Colours of the 256 and of 24 bits become the nearest of the sixteen. Source: ECMA-48 8.3.117.
 */
export function applySgr(style: TextStyle, parameters: string): TextStyle {
	const codes = parameters.split(/[;:]/).map(code => (code === '' ? 0 : Number(code)));
	let now = style;
	for (let at = 0; at < codes.length; at++) {
		const code = codes[at] ?? 0;
		if (code === 38 || code === 48) {
			const {color, taken} = extendedColor(codes.slice(at + 1));
			at += taken;
			now = color === null ? now : {...now, [code === 38 ? 'foreground' : 'background']: color};
		} else {
			now = {...now, ...(switches.get(code) ?? simpleColor(code))};
		}
	}

	return now;
}

function simpleColor(code: number): Partial<TextStyle> {
	const tens = Math.floor(code / 10);
	const color = code % 10;
	if (color > 7) {
		return {};
	}

	switch (tens) {
		case 3:
			return {foreground: color};
		case 4:
			return {background: color};
		case 9:
			return {foreground: color + 8};
		case 10:
			return {background: color + 8};
		default:
			return {};
	}
}

function extendedColor(codes: readonly number[]): {readonly color: number | null; readonly taken: number} {
	const [kind, first = 0, second = 0, third = 0] = codes;
	if (kind === 5) {
		return {color: indexedColor(first), taken: 2};
	}

	return kind === 2 ? {color: nearestColor([first, second, third]), taken: 4} : {color: null, taken: 0};
}

function indexedColor(index: number): number | null {
	if (!Number.isInteger(index) || index < 0 || index > 255) {
		return null;
	}

	if (index < 16) {
		return index;
	}

	if (index >= 232) {
		const grey = 8 + (index - 232) * 10;
		return nearestColor([grey, grey, grey]);
	}

	const cube = index - 16;
	return nearestColor([cubeLevel(Math.floor(cube / 36)), cubeLevel(Math.floor(cube / 6) % 6), cubeLevel(cube % 6)]);
}

/** One of the six levels of the colour cube. */
function cubeLevel(step: number): number {
	return step === 0 ? 0 : 55 + step * 40;
}

/** Red, green, blue to the colour whose hue is nearest; greys to the four of the palette. */
function nearestColor([red, green, blue]: readonly [number, number, number]): number {
	const highest = Math.max(red, green, blue);
	const lowest = Math.min(red, green, blue);
	if (highest - lowest < 40) {
		const greys = [0, 8, 7, 15];
		return greys[Math.min(3, Math.floor(Math.min(255, highest) / 64))] ?? 7;
	}

	const middle = (highest + lowest) / 2;
	const base = (red > middle ? 1 : 0) + (green > middle ? 2 : 0) + (blue > middle ? 4 : 0);
	return highest > 200 ? base + 8 : base;
}
