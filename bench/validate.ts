import {execFileSync, spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {performance} from 'node:perf_hooks';
import {canonicalJson} from '../core/canonical-json.ts';
import {sha256Hex} from '../core/digest.ts';
import {createPrivateDirectory, createPrivateFile} from '../core/files.ts';
import {listRuns, validateRun} from '../evidence/index.ts';
import {loadNative} from '../native/index.ts';
import {example, exampleSource} from '../test/helpers/example-run.ts';
import {chunksOf, produceRun} from '../test/helpers/produced-run.ts';
import type {Figure} from './figure.ts';

const rounds = 5;
const commands = 256;
const outputBytes = 1_048_576;
const listedRuns = 5000;

/** The reader beside sha256sum over the same files, and a list over many runs (E-READ-6, E-VIEW-1). */
export async function measure(): Promise<readonly Figure[]> {
	const base = mkdtempSync(path.join(tmpdir(), 'bailiff-bench-validate-'));
	try {
		return [...(await validation(path.join(base, 'verification'))), ...listing(path.join(base, 'many'))];
	} finally {
		rmSync(base, {recursive: true, force: true});
	}
}

async function validation(verificationDir: string): Promise<Figure[]> {
	createPrivateDirectory(verificationDir);
	const line = Buffer.from('ok 12345 - a test that passed, in 0.123 s, with nothing to hide\n');
	const produced = {output: Buffer.alloc(outputBytes, line), trace: chunksOf(outputBytes, 128)};
	produceRun(verificationDir, {runId: 'bench', commands: Array.from({length: commands}, () => produced), primitives: loadNative()});
	const files = execFileSync('find', [verificationDir, '-type', 'f', '-print0'], {encoding: 'utf8'}).split('\0').slice(0, -1);
	const sumMs = smallest(() => spawnSync('sha256sum', files, {stdio: ['ignore', 'ignore', 'inherit']}));
	const validate = async (): Promise<number> => {
		const started = performance.now();
		const {verdict} = await validateRun({
			verificationDir,
			target: example.target,
			runId: 'bench',
			source: exampleSource,
		});
		if (verdict !== 'valid-v3') {
			throw new Error('the run that was just produced is not valid');
		}

		return performance.now() - started;
	};

	const samples: number[] = [];
	for (let round = 0; round < rounds; round++) {
		samples.push(await validate());
	}

	const plainMs = Math.min(...samples);
	const note = (ms: number): string => `${ms.toFixed(0)} ms to ${sumMs.toFixed(0)} ms, ${commands} outputs of 1 MiB with 128 chunks each`;
	const bound = {atMost: 1.5};
	return [{id: 'E-READ-6', name: 'validate, to sha256sum', measured: plainMs / sumMs, unit: 'x', wanted: bound, note: note(plainMs)}];
}

function listing(verificationDir: string): Figure[] {
	createPrivateDirectory(verificationDir);
	const lines: string[] = [];
	const append = (body: {readonly [key: string]: string}): void => {
		const previous = lines.at(-1);
		const link = {n: lines.length + 1, prev_sha256: previous === undefined ? null : sha256Hex(previous)};
		lines.push(canonicalJson({...body, ...link, at: '2026-08-01T12:00:00.000Z'}));
	};

	const digest = '0'.repeat(64);
	for (let run = 0; run < listedRuns; run++) {
		createPrivateDirectory(path.join(verificationDir, `run-${run}`));
		append({event: 'started', run_id: `run-${run}`, plan_sha256: digest, source_sha: example.sha});
		append({event: 'published', run_id: `run-${run}`, manifest_sha256: digest, result: 'passed'});
	}

	createPrivateFile(path.join(verificationDir, 'ledger.jsonl'), Buffer.from(`${lines.join('\n')}\n`));
	const ms = smallest(() => {
		const {runs, problems} = listRuns({verificationDir, target: example.target});
		if (runs.length !== listedRuns || problems.length > 0) {
			throw new Error('the list is not that of the runs');
		}
	});
	return [{id: 'E-VIEW-1', name: `list of ${listedRuns} runs`, measured: ms, unit: 'ms', wanted: {atMost: 1000}, note: `the smallest of ${rounds}`}];
}

function smallest(act: () => unknown): number {
	const samples = Array.from({length: rounds}, () => {
		const started = performance.now();
		act();
		return performance.now() - started;
	});
	return Math.min(...samples);
}
