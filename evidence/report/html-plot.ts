import {bytesText, durationText} from './amounts.ts';
import type {Report, ReportCommand} from './report-schema.ts';

const width = 960;
const left = 78;
const plotWidth = width - left - 12;
const panelHeight = 110;
const panelGap = 40;
const top = 22;

type Point = {readonly atMs: number; readonly value: number};
type Panel = {
	readonly title: string;
	readonly name: string;
	readonly offset: number;
	readonly series: readonly (readonly Point[])[];
	readonly text: (value: number) => string;
};

/**
 * CPU and memory over the run as one SVG with a title and a description for those who do not see it; a sentence where no sample was taken.
 *
 * Shape: each command is a line of its own; attributes only, so that no style needs an exception from the policy of the page. Source: E-VIEW-1, R-RES-1.
 */
export function plotHtml(report: Report): string {
	const commands = report.commands.filter(({samples}) => samples.length > 0);
	if (commands.length === 0) {
		return '<p class="note">No sample was taken: every command ended before the first one was due. Totals of each command stand in its section.</p>';
	}

	const runMs = Math.max(1, report.duration_ms, ...commands.map(({record}) => (record === null ? 0 : record.started_at_ms + record.duration_ms)));
	const panels: Panel[] = [
		{
			title: 'Processors in use',
			name: 'cpu',
			offset: top,
			series: seriesOf(commands, sample => sample.cpu_millicores / 1000),
			text: value => String(Number(value.toFixed(2))),
		},
		{
			title: 'Memory (RSS of all processes)',
			name: 'rss',
			offset: top + panelHeight + panelGap,
			series: seriesOf(commands, sample => sample.rss_bytes),
			text: bytesText,
		},
	];
	const height = top + 2 * panelHeight + panelGap + 26;
	const peaks = panels.map(panel => `${panel.title}: at most ${panel.text(highest(panel.series))}`).join('. ');
	return [
		`<figure><div class="scroll" tabindex="0" role="group" aria-label="Plot of CPU and memory"><svg class="plot" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="plot-title plot-text">`,
		`<title id="plot-title">CPU and memory over the run</title><desc id="plot-text">${peaks}.</desc>`,
		...panels.map(panel => panelSvg(panel, {runMs, commands: report.commands})),
		ticksSvg(runMs, height),
		`</svg></div><figcaption>${peaks}. ${commands.length} of ${report.counts.executed} executed commands ran long enough to be sampled.</figcaption></figure>`,
	].join('');
}

function seriesOf(commands: readonly ReportCommand[], valueOf: (sample: ReportCommand['samples'][number]) => number): Point[][] {
	return commands.map(({samples, record}) => samples.map(sample => ({atMs: (record?.started_at_ms ?? 0) + sample.t_ms, value: valueOf(sample)})));
}

function highest(series: Panel['series']): number {
	return Math.max(0, ...series.map(points => Math.max(0, ...points.map(({value}) => value))));
}

function panelSvg(panel: Panel, run: {readonly runMs: number; readonly commands: readonly ReportCommand[]}): string {
	const ceiling = ceilingOf(panel, highest(panel.series));
	const bottom = panel.offset + panelHeight;
	const xOf = (atMs: number): string => (left + (plotWidth * Math.min(atMs, run.runMs)) / run.runMs).toFixed(1);
	const yOf = (value: number): string => (bottom - (panelHeight * Math.min(value, ceiling)) / ceiling).toFixed(1);
	const bands = run.commands.flatMap(({record, outcome, index}) =>
		record === null
			? []
			: [
					`<rect class="band ${outcome}${index % 2 === 0 ? '' : ' odd'}" x="${xOf(record.started_at_ms)}" y="${panel.offset}" width="${((plotWidth * record.duration_ms) / run.runMs).toFixed(1)}" height="${panelHeight}"/>`,
				],
	);
	const lines = panel.series.map(points => {
		const path = points.map(({atMs, value}) => `${xOf(atMs)},${yOf(value)}`);
		const [first, last] = [points[0], points.at(-1)];
		const area =
			first === undefined || last === undefined
				? ''
				: `<polygon class="area ${panel.name}" points="${xOf(first.atMs)},${bottom} ${path.join(' ')} ${xOf(last.atMs)},${bottom}"/>`;
		const dot =
			points.length === 1 && first !== undefined ? `<circle class="dot ${panel.name}" cx="${xOf(first.atMs)}" cy="${yOf(first.value)}" r="2.5"/>` : '';
		return `${area}<polyline class="line ${panel.name}" points="${path.join(' ')}"/>${dot}`;
	});
	return [
		...bands,
		`<text class="heading" x="${left}" y="${panel.offset - 8}">${panel.title}</text>`,
		...[ceiling, ceiling / 2, 0].map(
			value =>
				`<line class="grid" x1="${left}" x2="${width - 12}" y1="${yOf(value)}" y2="${yOf(value)}"/><text class="axis" x="${left - 8}" y="${Number(yOf(value)) + 4}" text-anchor="end">${panel.text(value)}</text>`,
		),
		...lines,
	].join('');
}

function ceilingOf({name}: Panel, value: number): number {
	if (name === 'rss') {
		return 2 ** Math.ceil(Math.log2(Math.max(1_048_576, value)));
	}

	return value <= 1 ? 1 : Math.ceil(value / 2) * 2;
}

function ticksSvg(runMs: number, height: number): string {
	return [0, 0.25, 0.5, 0.75, 1]
		.map(share => {
			const anchor = share === 0 ? 'start' : share === 1 ? 'end' : 'middle';
			return `<text class="axis" x="${left + plotWidth * share}" y="${height - 8}" text-anchor="${anchor}">${durationText(Math.round(runMs * share))}</text>`;
		})
		.join('');
}
