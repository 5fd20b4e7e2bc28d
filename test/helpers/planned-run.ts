import {mkdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {contractPathOf, initRoot, openCheckout, openRunPlace} from '../../cache/index.ts';
import {KnownValues, type Manifest, parsePlan, type ValidateAnswer, validateRun} from '../../evidence/index.ts';
import {createRunControl, type RunControl} from '../../runner/run-control.ts';
import type {RunEvent} from '../../runner/run-events.ts';
import {runPlan} from '../../runner/run-plan.ts';
import {sharedGit} from './checkout.ts';
import {makeRepository, type TestRepository} from './repository.ts';

/** What a test runs with: its own root, its own repository. */
export type Ground = {readonly root: string; readonly repository: TestRepository};

/** One command of a test plan, with ordinary values for what is not said. */
export type TestCommand = {readonly id: string; readonly argv: readonly string[]} & Readonly<Record<string, unknown>>;

/** What a test says about its run beside the commands. */
export type RunChange = {
	readonly plan?: Readonly<Record<string, unknown>>;
	readonly runId?: string;
	readonly known?: readonly string[];
	readonly control?: RunControl;
	readonly onEvent?: (event: RunEvent) => void;
};

/** A published run, read back from disk and validated. */
export type RunFindings = {readonly manifest: Manifest; readonly answer: ValidateAnswer; readonly directory: string; readonly output: (name: string) => string};

/** Lays a root and a repository with these files below `directory`. */
export function layGround(directory: string, files: Readonly<Record<string, string>> = {'a.txt': 'a\n'}): Ground {
	const root = path.join(directory, 'root');
	mkdirSync(root);
	initRoot(root);
	return {root, repository: makeRepository(path.join(directory, 'checkout'), files)};
}

/** Runs the commands on the ground and validates what was published. */
export async function runCommands(ground: Ground, commands: readonly TestCommand[], change: RunChange = {}): Promise<RunFindings> {
	const planBytes = Buffer.from(
		JSON.stringify({
			schema: 'verification-plan/v3',
			owner: 'acme',
			repository: 'widget',
			issue: 7,
			source_sha: ground.repository.sha,
			sandbox: {mode: 'off'},
			commands: commands.map(command => ({timeout_seconds: 20, max_output_bytes: 65_536, ...command})),
			...change.plan,
		}),
	);
	const plan = parsePlan(planBytes);
	const target = {owner: 'acme', repository: 'widget', issue: 7};
	const place = await openRunPlace({contractPath: contractPathOf(ground.root), target});
	try {
		const check = openCheckout({git: await sharedGit(), path: ground.repository.path, isCanonical: false});
		const run = await runPlan({
			plan,
			planBytes,
			runId: change.runId ?? null,
			checkout: {path: ground.repository.path, check},
			verificationDirectory: place.paths.verification,
			surroundings: {root: ground.root, gitCommonDir: path.join(ground.repository.path, '.git'), secrets: []},
			role: null,
			known: new KnownValues(change.known ?? []),
			control: change.control ?? createRunControl(),
			onEvent: change.onEvent ?? (() => undefined),
		});
		return await readBack({ground, directory: run.runDirectory, manifest: run.manifest, verification: place.paths.verification});
	} finally {
		await place.lock.release();
	}
}

async function readBack(run: {
	readonly ground: Ground;
	readonly directory: string;
	readonly manifest: Manifest;
	readonly verification: string;
}): Promise<RunFindings> {
	const source = openCheckout({git: await sharedGit(), path: run.ground.repository.path, isCanonical: false});
	const answer = await validateRun({
		verificationDir: run.verification,
		root: run.ground.root,
		target: run.manifest.target,
		runId: run.manifest.run_id,
		source,
	});
	return {manifest: run.manifest, answer, directory: run.directory, output: name => readFileSync(path.join(run.directory, name), 'utf8')};
}
