import {spawn} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {createInterface} from 'node:readline';
import {setTimeout as sleep} from 'node:timers/promises';
import {TapCounter, type TapCounts} from './tap.ts';

/** Test files that run with one setting: `concurrency` files at a time. */
export type TestGroup = {readonly name: string; readonly concurrency: number; readonly files: readonly string[]};

/** Where and how a run happens. */
export type ReportOptions = {
	/** The folder that holds package.json and node_modules. */
	readonly root: string;
	readonly write: (text: string) => void;
	/** A skipped test fails the run (CI sets BAILIFF_MUST_SANDBOX=1). */
	readonly mustNotSkip: boolean;
};

const marker = 'BAILIFF_TEST_RUN';
const progressMs = 5000;

/** Sorts compiled test files into groups: what measures time or starts processes runs one file at a time, the rest two at a time. */
export function groupTests(files: readonly string[], serialFolders: readonly string[]): TestGroup[] {
	const isSerial = (file: string): boolean => serialFolders.some(folder => file.includes(`/${folder}/`));
	const groups = [
		{name: 'two files at a time', concurrency: 2, files: files.filter(file => !isSerial(file))},
		{name: 'one file at a time', concurrency: 1, files: files.filter(file => isSerial(file))},
	];
	return groups.filter(group => group.files.length > 0);
}

/** Runs the groups one after the other, shows progress and failures, writes the last line `N passed, N failed[, N skipped]`, and tells whether all is well. */
export async function report(groups: readonly TestGroup[], options: ReportOptions): Promise<boolean> {
	const total: TapCounts = {passed: 0, failed: 0, skipped: 0};
	const runId = `${process.pid}-${Date.now()}`;
	for (const group of groups) {
		const counts = await runGroup(group, runId, options);
		total.passed += counts.passed;
		total.failed += counts.failed;
		total.skipped += counts.skipped;
	}

	for (const survivor of await survivors(runId)) {
		total.failed++;
		options.write(`not ok - a process of the tests is still alive: ${survivor}\n`);
	}

	if (total.passed + total.failed === 0) {
		options.write('no test ran\n');
	}

	const isSkipFault = options.mustNotSkip && total.skipped > 0;
	if (isSkipFault) {
		options.write('a skipped test is a failure here (BAILIFF_MUST_SANDBOX=1)\n');
	}

	options.write(`${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}\n`);
	return total.failed === 0 && total.passed > 0 && !isSkipFault;
}

async function runGroup(group: TestGroup, runId: string, options: ReportOptions): Promise<TapCounts> {
	options.write(`${group.files.length} test files, ${group.name}\n`);
	const child = spawn(process.execPath, ['node_modules/ava/entrypoints/cli.mjs', '--tap', `--concurrency=${group.concurrency}`, ...group.files], {
		cwd: options.root,
		stdio: ['ignore', 'pipe', 'pipe'],
		env: {...process.env, NO_COLOR: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null', [marker]: runId},
	});
	child.stderr.setEncoding('utf8').on('data', (text: string) => options.write(text));
	const ended = new Promise<string | null>(resolve => {
		child.on('error', error => resolve(error.message));
		child.on('close', (code, signal) => resolve(code === 0 ? null : `exit code ${code ?? signal}`));
	});
	const counter = new TapCounter(text => options.write(text));
	let shownAt = Date.now();
	for await (const line of createInterface({input: child.stdout})) {
		counter.push(line);
		if (Date.now() - shownAt >= progressMs) {
			shownAt = Date.now();
			options.write(`  ${counter.counts.passed} passed, ${counter.counts.failed} failed so far: ${counter.title}\n`);
		}
	}

	counter.end();
	const fault = await ended;
	if (!counter.isComplete || (fault !== null && counter.counts.failed === 0)) {
		counter.counts.failed++;
		options.write(`not ok - the test runner broke off (${fault ?? 'no closing line'}) after: ${counter.title}\n`);
	}

	return counter.counts;
}

/** Processes that carry the mark of this run in their environment, after up to two seconds to end by themselves. */
async function survivors(runId: string): Promise<string[]> {
	for (let attempt = 0; attempt < 20 && marked(runId).length > 0; attempt++) {
		await sleep(100);
	}

	return marked(runId);
}

function marked(runId: string): string[] {
	return readdirSync('/proc')
		.filter(name => /^\d+$/.test(name))
		.filter(pid => read(`/proc/${pid}/environ`).split('\0').includes(`${marker}=${runId}`))
		.map(pid => `${pid} ${read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`);
}

function read(file: string): string {
	try {
		return readFileSync(file, 'utf8');
	} catch {
		return '';
	}
}

/** The compiled test files below `folder` (relative to `root`), sorted. */
export function testFiles(root: string, folder: string): string[] {
	return readdirSync(path.join(root, folder), {recursive: true, encoding: 'utf8'})
		.filter(name => name.endsWith('.test.js'))
		.map(name => path.join(folder, name))
		.toSorted();
}
