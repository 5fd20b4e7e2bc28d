import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {openCheckout, openGit} from '../cache/index.ts';
import {spawnProgram} from '../runner/spawn.ts';
import {makeRepository, type TestRepository} from '../test/helpers/repository.ts';
import type {Figure} from './figure.ts';

const manyFiles = 10_000;
const fewFiles = 100;
const rounds = 7;

/** The checkout check alone: a whole proof of 10,000 files with its memory, and the look after each command at 100 files. */
export async function measure(): Promise<readonly Figure[]> {
	const directory = mkdtempSync(path.join(tmpdir(), 'bailiff-bench-'));
	try {
		const many = makeFiles(path.join(directory, 'many'), manyFiles);
		const few = makeFiles(path.join(directory, 'few'), fewFiles);
		return [...(await measureProof(many)), await measureDrift(few)];
	} finally {
		rmSync(directory, {recursive: true});
	}
}

async function measureProof(repository: TestRepository): Promise<readonly Figure[]> {
	const samples: Array<{readonly ms: number; readonly peakMb: number}> = [];
	for (let round = 0; round < rounds; round++) {
		samples.push(await proofInFreshProcess(repository));
	}

	const ms = Math.min(...samples.map(sample => sample.ms));
	const peakMb = Math.max(...samples.map(sample => sample.peakMb));
	const note = `best of ${rounds} fresh processes`;
	return [
		{id: 'C-PERF-1', name: `proof of a checkout of ${manyFiles} files`, measured: ms, unit: 'ms', wanted: {atMost: 1000}, note},
		{id: 'C-PERF-1', name: 'peak memory of that process, Node included', measured: peakMb, unit: 'MB', wanted: {atMost: 100}, note: `largest of ${rounds}`},
	];
}

/** In a process of its own, since memory that was once used stays with a process. */
async function proofInFreshProcess(repository: TestRepository): Promise<{readonly ms: number; readonly peakMb: number}> {
	const script = `
		import {openCheckout} from ${JSON.stringify(new URL('../cache/checkout-check.js', import.meta.url).href)};
		import {openGit} from ${JSON.stringify(new URL('../cache/git-command.js', import.meta.url).href)};
		const checkout = openCheckout({git: await openGit(), path: ${JSON.stringify(repository.path)}, isCanonical: false});
		const start = process.hrtime.bigint();
		await checkout.verify(${JSON.stringify(repository.sha)});
		console.log(Number(process.hrtime.bigint() - start) / 1e6, process.resourceUsage().maxRSS / 1024);`;
	const result = await spawnProgram({
		file: process.execPath,
		args: ['--input-type=module', '-e', script],
		cwd: '/',
		env: {PATH: '/usr/bin:/bin'},
		maxStdoutBytes: 10_000,
		maxStderrBytes: 10_000,
		timeoutMs: 60_000,
		graceMs: 100,
	});
	const [ms = Number.NaN, peakMb = Number.NaN] = result.stdout.toString().trim().split(' ').map(Number);
	return {ms, peakMb};
}

async function measureDrift(repository: TestRepository): Promise<Figure> {
	const checkout = openCheckout({git: await openGit(), path: repository.path, isCanonical: false});
	await checkout.verify(repository.sha);
	let best = Number.POSITIVE_INFINITY;
	for (let round = 0; round < 200; round++) {
		const start = process.hrtime.bigint();
		for (let look = 0; look < 20; look++) {
			await checkout.drift();
		}

		best = Math.min(best, Number(process.hrtime.bigint() - start) / 20e6);
	}

	return {
		id: 'R-PERF-1',
		name: `look for drift at ${fewFiles} files`,
		measured: best,
		unit: 'ms',
		wanted: {atMost: 0.3},
		note: 'our own bound; best of 200 rounds of 20',
	};
}

function makeFiles(directory: string, count: number): TestRepository {
	for (let number = 0; number < count; number++) {
		const file = path.join(directory, `part-${number % Math.ceil(count / 50)}`, `file-${number}.txt`);
		mkdirSync(path.dirname(file), {recursive: true});
		writeFileSync(file, `${number}\n`.repeat(200));
	}

	// Before git makes it: a collection in the background would be measured too.
	mkdirSync(path.join(directory, '.git'));
	writeFileSync(path.join(directory, '.git/config'), '[gc]\n\tauto = 0\n');
	return makeRepository(directory, {'.gitattributes': '* text=auto\n*.bat eol=crlf\n'});
}
