import test from 'ava';
import {pageStyle} from '../../../evidence/report/html-style.ts';

const [lightSheet = '', darkSheet = ''] = pageStyle.split('@media(prefers-color-scheme:dark){.f0');
const darkStart = pageStyle.indexOf('@media(prefers-color-scheme:dark){:root');
const themes = {
	light: {rules: lightSheet.slice(lightSheet.indexOf('.f0')), variables: pageStyle.slice(0, darkStart)},
	dark: {rules: `.f0${darkSheet}`, variables: pageStyle.slice(darkStart)},
} as const;

/** Relative luminance and contrast. Source: WCAG 2.2. */
const luminance = (color: string): number => {
	const full = color.length === 4 ? color.replaceAll(/[\da-f]/g, '$&$&') : color;
	const [red = 0, green = 0, blue = 0] = [1, 3, 5]
		.map(at => Number.parseInt(full.slice(at, at + 2), 16) / 255)
		.map(part => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
	return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const contrast = (one: string, other: string): number => {
	const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((left, right) => left - right);
	return (high + 0.05) / (low + 0.05);
};

for (const theme of ['light', 'dark'] as const) {
	const {rules, variables} = themes[theme];
	const colorOf = (name: string): string => new RegExp(`--${name}:(#[\\da-f]{3,6})`).exec(variables)?.[1] ?? '';
	const foregrounds = [...rules.matchAll(/\.f\d+\{color:(#[\da-f]{6})\}/g)].map(([, color = '']) => color);
	const backgrounds = [...rules.matchAll(/\.b\d+\{background:(#[\da-f]{6})\}/g)].map(([, color = '']) => color);

	test(`in the ${theme} theme each of sixteen colours is legible on the page of outputs and on each of sixteen grounds (4.5:1)`, t => {
		t.is(foregrounds.length, 16);
		t.is(backgrounds.length, 16);
		for (const ground of [colorOf('term'), ...backgrounds]) {
			for (const color of [colorOf('ink'), ...foregrounds]) {
				t.true(contrast(color, ground) >= 4.5, `${color} on ${ground}: ${contrast(color, ground).toFixed(2)}`);
			}
		}
	});

	test(`in the ${theme} theme the words of the page are legible (4.5:1)`, t => {
		for (const ground of ['ground', 'sheet']) {
			for (const color of ['ink', 'soft', 'link', 'good', 'bad', 'rss']) {
				t.true(contrast(colorOf(color), colorOf(ground)) >= 4.5, `${color} on ${ground}`);
			}
		}
	});
}
