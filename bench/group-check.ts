import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {loadNative} from '../native/index.ts';
import {type Figure, median, percentile} from './figure.ts';

const unrelated = 5000;
const samples = 100;

/** R-PERF-2: one look at group, session and descent of a command while 5,000 processes live that have nothing to do with it. */
export async function measure(): Promise<readonly Figure[]> {
	const base = mkdtempSync(path.join(os.tmpdir(), 'bailiff-bench-'));
	const program = path.join(base, 'sleepers');
	execFileSync('cc', ['-O1', '-o', program, path.join(import.meta.dirname, '../../test/fixtures/bin/sleepers.c')]);
	const sleepers = spawn(program, [String(unrelated)], {detached: true, stdio: ['pipe', 'pipe', 'inherit']});
	const command = spawn('sleep', ['600'], {detached: true, stdio: 'ignore'});
	try {
		await once(sleepers.stdout, 'data');
		return figures(command.pid ?? 0);
	} finally {
		process.kill(-(sleepers.pid ?? Number.NaN), 'SIGKILL');
		command.kill('SIGKILL');
		rmSync(base, {recursive: true});
	}
}

function figures(leader: number): readonly Figure[] {
	const native = loadNative();
	const query = {groups: [leader], sessions: [leader], ancestors: [leader]};
	return (['scan', 'scanByTable'] as const).map(way => {
		const times: number[] = [];
		let scanned = 0;
		for (let round = 0; round < samples; round++) {
			const startedAt = performance.now();
			({scanned} = native[way](query));
			times.push(performance.now() - startedAt);
		}

		const middle = median(times);
		return {
			id: 'R-PERF-2',
			name: way === 'scan' ? 'group check beside 5,000 processes' : 'the same by reading every row (kernels without lists of children)',
			measured: middle,
			unit: 'ms',
			wanted: {atMost: 30},
			note: `median of ${samples}, p95 ${percentile(times, 0.95).toFixed(1)} ms, ${scanned} processes, ${((middle * 1000) / scanned).toFixed(1)} µs each`,
		};
	});
}
