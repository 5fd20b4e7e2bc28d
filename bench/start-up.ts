import {spawnSync} from 'node:child_process';
import path from 'node:path';
import {performance} from 'node:perf_hooks';
import type {Figure} from './figure.ts';

const launcher = path.resolve(import.meta.dirname, '../bin/bailiff.cjs');
const plan = path.resolve('test', 'vectors', 'plans', 'good-minimal.json');
const rounds = 25;

/** R-PERF-5: the start of the two commands that people wait for, beside a bare Node. The smallest time of each counts: whatever else runs here only adds. */
export async function measure(): Promise<readonly Figure[]> {
	const starts = {bare: ['-e', '0'], version: [launcher, '--version'], check: [launcher, 'plan', 'check', plan]};
	const samples: Record<keyof typeof starts, number[]> = {bare: [], version: [], check: []};
	for (let round = 0; round < rounds; round++) {
		samples.bare.push(millisecondsOf(starts.bare));
		samples.version.push(millisecondsOf(starts.version));
		samples.check.push(millisecondsOf(starts.check));
	}

	const bareMs = Math.min(...samples.bare);
	const figure = (name: string, ms: number): Figure => ({
		id: 'R-PERF-5',
		name: `start of ${name}, to node -e 0`,
		measured: ms / bareMs,
		unit: 'x',
		wanted: {atMost: 1.5},
		note: `${ms.toFixed(0)} ms to ${bareMs.toFixed(0)} ms, the smallest of ${rounds} each`,
	});
	return [figure('bailiff --version', Math.min(...samples.version)), figure('bailiff plan check', Math.min(...samples.check))];
}

function millisecondsOf(args: readonly string[]): number {
	const started = performance.now();
	const {status} = spawnSync(process.execPath, args, {stdio: 'ignore'});
	const took = performance.now() - started;
	if (status !== 0) {
		throw new Error(`${args.join(' ')} ended with ${status}: run "make build" first`);
	}

	return took;
}
