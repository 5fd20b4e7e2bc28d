import {mkdirSync} from 'node:fs';
import path from 'node:path';
import {execa} from 'execa';
import {contractPathOf, initRoot, openCheckout, openGit, openRunPlace} from '../cache/index.ts';
import {noKnownValues, parsePlan} from '../evidence/index.ts';
import {runPlan} from '../runner/run-plan.ts';
import {makeRepository} from '../test/helpers/repository.ts';
import {type Figure, median} from './figure.ts';
import {withDirectory} from './fixture.ts';

const commands = 200;
const rounds = 7;
const files = 100;

/** R-PERF-1: 200 times /bin/true as one plan, durable at the end, against the same 200 through execa alone; and memory for 256 silent commands. */
export async function measure(): Promise<readonly Figure[]> {
	return withDirectory(async directory => {
		const checkout = path.join(directory, 'checkout');
		const content = Object.fromEntries(Array.from({length: files}, (_, index) => [`file-${index}.txt`, `${index}\n`.repeat(50)]));
		const {sha} = makeRepository(checkout, content);
		const root = path.join(directory, 'root');
		mkdirSync(root);
		initRoot(root);
		const ratios: number[] = [];
		const own: number[] = [];
		for (let round = 0; round <= rounds; round++) {
			const plain = await time(throughExeca);
			const asPlan = await time(async () => runOnce({root, checkout, sha, count: commands, mode: 'off'}));
			if (round > 0) {
				ratios.push(asPlan / plain);
				own.push(asPlan);
			}
		}

		return [
			{
				id: 'R-PERF-1',
				name: `${commands} x /bin/true as one durable plan over execa alone`,
				measured: median(ratios),
				unit: 'x',
				wanted: {atMost: 0.75},
				note: `${median(own).toFixed(0)} ms, ${rounds} pairs, ${files} tracked files`,
			},
		];
	});
}

async function throughExeca(): Promise<void> {
	for (let index = 0; index < commands; index++) {
		await execa('/bin/true', [], {stdin: 'ignore'});
	}
}

/** What one run of many trivial commands is made of. */
export type ManyCommands = {readonly root: string; readonly checkout: string; readonly sha: string; readonly count: number; readonly mode: 'off' | 'required'};

/** Runs `count` times /bin/true as one plan. */
export async function runOnce(run: ManyCommands): Promise<void> {
	const planBytes = Buffer.from(
		JSON.stringify({
			schema: 'verification-plan/v3',
			owner: 'acme',
			repository: 'widget',
			issue: 7,
			source_sha: run.sha,
			sandbox: {mode: run.mode},
			commands: Array.from({length: run.count}, (_, index) => ({id: `c${index}`, argv: ['/bin/true'], timeout_seconds: 10, max_output_bytes: 1000})),
		}),
	);
	const plan = parsePlan(planBytes);
	const place = await openRunPlace({contractPath: contractPathOf(run.root), target: {owner: 'acme', repository: 'widget', issue: 7}});
	try {
		const check = openCheckout({git: await openGit(), path: run.checkout, isCanonical: false});
		const {manifest} = await runPlan({
			plan,
			planBytes,
			runId: null,
			checkout: {path: run.checkout, check},
			verificationDirectory: place.paths.verification,
			surroundings: {root: run.root, gitCommonDir: path.join(run.checkout, '.git'), secrets: []},
			role: null,
			known: noKnownValues,
		});
		if (manifest.result !== 'passed') {
			throw new Error(`the plan did not pass: ${JSON.stringify(manifest.stop)}`);
		}
	} finally {
		await place.lock.release();
	}
}

async function time(action: () => Promise<void>): Promise<number> {
	const start = performance.now();
	await action();
	return performance.now() - start;
}
