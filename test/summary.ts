// Runs the whole suite (or `soak` alone, or the files named) and ends with one plain line. Called by the Makefile.
import path from 'node:path';
import {groupTests, report, testFiles} from './reporter.ts';

const root = path.resolve(import.meta.dirname, '../..');
/** These suites start real processes under deadlines, so nothing else runs beside them. */
const serialFolders = ['native', 'runner', 'scenarios', 'soak'];

const asked = process.argv.slice(2);
const isSoak = asked[0] === 'soak';
const all = testFiles(root, 'build/test').filter(file => file.includes('/soak/') === isSoak);
const files = asked.length === 0 || isSoak ? all : all.filter(file => asked.some(name => file.includes(name)));
const isGood = await report(groupTests(files, serialFolders), {
	root,
	write: text => {
		process.stdout.write(text);
	},
	mustNotSkip: process.env['BAILIFF_MUST_SANDBOX'] === '1',
});
process.exitCode = isGood ? 0 : 1;
