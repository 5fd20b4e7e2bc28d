// Runs every bench (or those whose file name holds one of the words given) one after the other and prints one table.
import {readdirSync} from 'node:fs';
import os from 'node:os';
import {type Figure, figureTable, type Measure} from './figure.ts';

const words = process.argv.slice(2);
const files = readdirSync(import.meta.dirname)
	.filter(file => file.endsWith('.js') && !['main.js', 'figure.js'].includes(file))
	.filter(file => words.length === 0 || words.some(word => file.includes(word)))
	.toSorted();
const figures: Figure[] = [];
for (const file of files) {
	process.stderr.write(`${file} ...\n`);
	try {
		const {measure}: {measure?: Measure} = await import(`./${file}`);
		if (measure !== undefined) {
			figures.push(...(await measure()));
		}
	} catch (error) {
		process.exitCode = 1;
		console.error(`${file} broke off:`, error);
	}
}

console.log(`Node ${process.version}, Linux ${os.release()}, ${os.availableParallelism()} cores, load ${os.loadavg()[0]?.toFixed(2)}\n`);
if ((os.loadavg()[0] ?? 0) > os.availableParallelism()) {
	console.log('This machine is busy with other work: ratios hold, times in ms are not those of an idle machine.\n');
}

console.log(figureTable(figures));
if (figures.length === 0) {
	process.exitCode = 1;
}
